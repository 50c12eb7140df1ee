"""Our tables in gns3-server's database, beside its users and groups.

The MetaData is our own: on gns3-server's Base a fresh server would create our tables before our migrations do. Foreign
keys therefore name gns3-server's Column objects. `copilot_` keeps clear of tables that later servers have themselves.
"""

from __future__ import annotations

from datetime import UTC, datetime

from gns3server.db.models import User, UserGroup
from gns3server.db.models.users import user_group_map
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.types import TypeDecorator


class UTCDateTime(TypeDecorator[datetime]):
    """An aware UTC time, kept with its microseconds: gns3-server's own server defaults are whole seconds on SQLite."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store UTC without a zone, as gns3-server's tables do."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back."""
        return None if value is None else value.replace(tzinfo=UTC)


#: The same storage as gns3-server's GUID (CHAR(32) on SQLite, UUID on PostgreSQL), but UUID text with dashes in Python.
GUID = Uuid(as_uuid=False)

metadata = MetaData()
users: Table = User.__table__
groups: Table = UserGroup.__table__
memberships: Table = user_group_map

llm_configs = Table(
    "copilot_llm_configs",
    metadata,
    Column("config_id", GUID, primary_key=True),
    Column("name", String(100), nullable=False),
    Column("model_type", String(20), nullable=False),
    Column("config", JSON, nullable=False, doc="Provider, model and options. Never holds a secret."),
    Column("encrypted_api_key", Text),
    Column("key_id", String(16), doc="Which key of the key ring encrypted what is encrypted here."),
    Column("user_id", GUID, ForeignKey(users.c.user_id, ondelete="CASCADE")),
    Column("group_id", GUID, ForeignKey(groups.c.user_group_id, ondelete="CASCADE")),
    Column("is_default", Boolean, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    Column("updated_at", UTCDateTime, nullable=False),
    Column("encrypted_secrets", Text, doc="What a provider needs besides a key, a JSON object, encrypted as the key."),
    CheckConstraint("(user_id IS NULL) <> (group_id IS NULL)", name="ck_copilot_llm_configs_one_owner"),
    UniqueConstraint("user_id", "name", name="uq_copilot_llm_configs_user_id_name"),
    UniqueConstraint("group_id", "name", name="uq_copilot_llm_configs_group_id_name"),
)

for _owner in ("user_id", "group_id"):
    Index(
        f"uq_copilot_llm_configs_{_owner}_default",
        llm_configs.c[_owner],
        unique=True,
        sqlite_where=text("is_default"),
        postgresql_where=text("is_default"),
    )

user_preferences = Table(
    "copilot_user_preferences",
    metadata,
    Column("user_id", GUID, ForeignKey(users.c.user_id, ondelete="CASCADE"), primary_key=True),
    Column("default_config_id", GUID, ForeignKey(llm_configs.c.config_id, ondelete="SET NULL")),
    Column("copilot_modes", JSON, nullable=False, doc="The user's own mode of inherited configurations, by config_id."),
    Column("updated_at", UTCDateTime, nullable=False),
)

group_policies = Table(
    "copilot_group_policies",
    metadata,
    Column("group_id", GUID, ForeignKey(groups.c.user_group_id, ondelete="CASCADE"), primary_key=True),
    Column("allowed_modes", JSON(none_as_null=True), doc="A list of modes; NULL means all."),
    Column("own_configs", Boolean, nullable=False),
    Column("may_inject", Boolean, nullable=False),
    Column("updated_at", UTCDateTime, nullable=False),
)

usage = Table(
    "copilot_usage",
    metadata,
    Column("user_id", GUID, ForeignKey(users.c.user_id, ondelete="CASCADE"), primary_key=True),
    Column("config_id", GUID, primary_key=True, doc="No foreign key: what was used stays known when it is deleted."),
    Column("day", Date, primary_key=True, doc="The day in UTC."),
    Column("turns", Integer, nullable=False),
    Column("model_calls", Integer, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
)

device_settings = Table(
    "copilot_device_settings",
    metadata,
    Column("project_id", GUID, primary_key=True, doc="No foreign key: projects are not in the database."),
    Column("node_id", GUID, primary_key=True),
    Column("family", String(100), doc="The family that somebody has chosen; NULL when it is to be found out."),
    Column("encrypted_secrets", Text, doc="Username and passwords, a JSON object, encrypted as API keys are."),
    Column("key_id", String(16)),
    Column("updated_at", UTCDateTime, nullable=False),
)

audit = Table(
    "copilot_audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("time", UTCDateTime, nullable=False, index=True),
    Column("user_id", GUID, nullable=False, index=True, doc="No foreign key: who did what stays known."),
    Column("username", String(255), nullable=False),
    Column("project_id", String(36), nullable=False, index=True),
    Column("project_name", String(255), nullable=False),
    Column("mode", String(40), nullable=False),
    Column("tool", String(64), nullable=False),
    Column("targets", Text, nullable=False, doc="A JSON list of names."),
    Column("verdict", String(20), nullable=False),
    Column("seconds", Float, nullable=False),
)
