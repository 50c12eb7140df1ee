"""A column for what a provider needs besides a key, encrypted as the key is.

Revision ID: 0002
Revises: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column."""
    op.add_column("copilot_llm_configs", sa.Column("encrypted_secrets", sa.Text()))
