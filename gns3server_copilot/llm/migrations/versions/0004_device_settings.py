"""The table of what was set for nodes: their family and credentials.

Revision ID: 0004
Revises: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "copilot_device_settings",
        sa.Column("project_id", sa.Uuid(), primary_key=True),
        sa.Column("node_id", sa.Uuid(), primary_key=True),
        sa.Column("family", sa.String(100)),
        sa.Column("encrypted_secrets", sa.Text()),
        sa.Column("key_id", sa.String(16)),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
    )
