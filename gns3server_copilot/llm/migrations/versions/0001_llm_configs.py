"""The tables of LLM configurations, user preferences, group policies and usage.

Revision ID: 0001
Revises:
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "copilot_llm_configs",
        sa.Column("config_id", sa.Uuid(), primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("model_type", sa.String(20), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("encrypted_api_key", sa.Text()),
        sa.Column("key_id", sa.String(16)),
        sa.Column("user_id", sa.Uuid(), sa.ForeignKey("users.user_id", ondelete="CASCADE")),
        sa.Column("group_id", sa.Uuid(), sa.ForeignKey("user_groups.user_group_id", ondelete="CASCADE")),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.CheckConstraint("(user_id IS NULL) <> (group_id IS NULL)", name="ck_copilot_llm_configs_one_owner"),
        sa.UniqueConstraint("user_id", "name", name="uq_copilot_llm_configs_user_id_name"),
        sa.UniqueConstraint("group_id", "name", name="uq_copilot_llm_configs_group_id_name"),
    )
    for owner in ("user_id", "group_id"):
        op.create_index(
            f"uq_copilot_llm_configs_{owner}_default",
            "copilot_llm_configs",
            [owner],
            unique=True,
            sqlite_where=sa.text("is_default"),
            postgresql_where=sa.text("is_default"),
        )
    op.create_table(
        "copilot_user_preferences",
        sa.Column("user_id", sa.Uuid(), sa.ForeignKey("users.user_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("default_config_id", sa.Uuid(), sa.ForeignKey("copilot_llm_configs.config_id", ondelete="SET NULL")),
        sa.Column("copilot_modes", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
    )
    op.create_table(
        "copilot_group_policies",
        sa.Column(
            "group_id", sa.Uuid(), sa.ForeignKey("user_groups.user_group_id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("allowed_modes", sa.JSON()),
        sa.Column("own_configs", sa.Boolean(), nullable=False),
        sa.Column("may_inject", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
    )
    op.create_table(
        "copilot_usage",
        sa.Column("user_id", sa.Uuid(), sa.ForeignKey("users.user_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("config_id", sa.Uuid(), primary_key=True),
        sa.Column("day", sa.Date(), primary_key=True),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("model_calls", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
    )
