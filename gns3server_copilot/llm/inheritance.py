"""All configurations that one user may use, own and inherited (docs/developer/llm-configs.md, "Inheritance")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection

from gns3server_copilot.llm.config import StoredConfig
from gns3server_copilot.llm.policies import Policy, read_memberships
from gns3server_copilot.llm.preferences import read_preferences
from gns3server_copilot.llm.rows import fetch_usable
from gns3server_copilot.schemas.modes import CONFIGURABLE_MODES, Mode


@dataclass(frozen=True)
class UserConfigs:
    """One user's configurations at one moment, in the order in which a default is looked for.

    `own` go from the oldest on, `inherited` by their groups' names and then from the oldest on. Their `copilot_mode` is
    the one that the user's turns get, and `is_default` of an own one is false while the user has chosen another.
    """

    own: tuple[StoredConfig, ...] = ()
    inherited: tuple[StoredConfig, ...] = ()
    chosen: str | None = None
    policy: Policy = field(default_factory=Policy)

    def __iter__(self) -> Iterator[StoredConfig]:
        """Yield all, own ones first."""
        yield from self.own
        yield from self.inherited

    def get(self, config_id: str) -> StoredConfig | None:
        """Give the one of this id, if the user may use it."""
        return _first(config for config in self if config.config_id == config_id)

    @property
    def default(self) -> StoredConfig | None:
        """The effective default."""
        usable = [config for config in self if config.can_chat]
        own = [config for config in usable if config.owner.kind == "user"]
        inherited = [config for config in usable if config.owner.kind == "group"]
        return (
            _first(config for config in usable if config.config_id == self.chosen)
            or default_of(own)
            or _first(config for config in inherited if config.is_default)
            or _first(inherited)
        )


def default_of(configs: Iterable[StoredConfig]) -> StoredConfig | None:
    """Give the default among one owner's configurations, oldest first: the marked one, else the oldest."""
    usable = [config for config in configs if config.can_chat]
    return _first(config for config in usable if config.is_default) or _first(usable)


def read_user_configs(connection: Connection, user_id: str) -> UserConfigs:
    """Read a user's configurations. Raises NotFoundError for an unknown user."""
    member = read_memberships(connection, user_id)
    names, policy = member.group_names, member.policy
    preferences = read_preferences(connection, user_id)
    configs = fetch_usable(connection, user_id)
    own = [config for config in configs if config.owner.kind == "user"]
    inherited = [
        # the policy was read with these groups: one that the user has joined since then counts next time
        replace(config, group_name=names[config.owner.id])
        for config in configs
        if config.owner.kind == "group" and config.owner.id in names
    ]
    inherited.sort(key=lambda config: config.group_name or "")
    chosen = preferences.default_config_id
    if not any(config.config_id == chosen and config.can_chat for config in configs):
        chosen = None
    return UserConfigs(
        own=tuple(_shown(config, policy, chosen) for config in own),
        inherited=tuple(_with_mode(config, policy, preferences.copilot_modes) for config in inherited),
        chosen=chosen,
        policy=policy,
    )


async def read_shown(connection: AsyncConnection, config: StoredConfig) -> StoredConfig:
    """Give a configuration as its owner sees it now."""
    if config.owner.kind == "group":
        return config
    found = (await connection.run_sync(read_user_configs, config.owner.id)).get(config.config_id)
    return found or config


def _shown(config: StoredConfig, policy: Policy, chosen: str | None) -> StoredConfig:
    is_default = config.is_default and chosen in (None, config.config_id)
    return replace(_with_mode(config, policy, {}), is_default=is_default)


def _with_mode(config: StoredConfig, policy: Policy, own_modes: Mapping[str, str]) -> StoredConfig:
    mode = own_modes.get(config.config_id, config.config.get("copilot_mode"))
    effective = policy.stored_mode(Mode(mode) if mode in CONFIGURABLE_MODES else Mode.TEACHING)
    return replace(config, config={**config.config, "copilot_mode": str(effective)})


def _first(configs: Iterable[StoredConfig]) -> StoredConfig | None:
    return next(iter(configs), None)
