"""The table of tool calls.

Revision ID: 0003
Revises: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "copilot_audit",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("time", sa.DateTime(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("username", sa.String(255), nullable=False),
        sa.Column("project_id", sa.String(36), nullable=False),
        sa.Column("project_name", sa.String(255), nullable=False),
        sa.Column("mode", sa.String(40), nullable=False),
        sa.Column("tool", sa.String(64), nullable=False),
        sa.Column("targets", sa.Text(), nullable=False),
        sa.Column("verdict", sa.String(20), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
    )
    for column in ("time", "user_id", "project_id"):
        op.create_index(f"ix_copilot_audit_{column}", "copilot_audit", [column])
