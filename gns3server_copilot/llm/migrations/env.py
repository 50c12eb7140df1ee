"""Alembic's entry into our history; gns3-server's database connection comes from `upgrade`."""

from __future__ import annotations

from alembic import context

from gns3server_copilot.llm.migrations import VERSION_TABLE
from gns3server_copilot.llm.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
    # Only tables of ours are ever compared or changed.
    include_name=lambda name, kind, parents: kind != "table" or name in metadata.tables,
)
with context.begin_transaction():
    context.run_migrations()
