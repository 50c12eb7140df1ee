"""What groups allow their members: modes, configurations of their own, fault injection.

A user is bound by all their groups at once, so a mode is allowed only if each group allows it. Superadmins are not
bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Connection, RowMapping, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from gns3server_copilot.errors import ForbiddenError
from gns3server_copilot.llm.config import Owner
from gns3server_copilot.llm.rows import insert_if_absent, no_such, require_owner
from gns3server_copilot.llm.tables import group_policies, groups, memberships, users
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.utils.uncancelled import uncancelled


@dataclass(frozen=True)
class GroupPolicy:
    """What one group allows."""

    allowed_modes: frozenset[Mode] = frozenset(Mode)
    own_configs: bool = True
    may_inject: bool = True
    group_name: str = ""

    def allows(self, mode: Mode) -> bool:
        """Whether members may use this mode."""
        return mode in self.allowed_modes and (self.may_inject or mode is not Mode.INJECTION)


@dataclass(frozen=True)
class Policy:
    """What binds one user: every one of these."""

    of_groups: Sequence[GroupPolicy] = ()

    def allows(self, mode: Mode) -> bool:
        """Whether the user may use this mode."""
        return all(one.allows(mode) for one in self.of_groups)

    @property
    def own_configs(self) -> bool:
        """Whether the user may have configurations of their own."""
        return all(one.own_configs for one in self.of_groups)

    def require_mode(self, mode: Mode) -> None:
        """Raise ForbiddenError, with the group that forbids it, when the user may not use this mode."""
        for one in self.of_groups:
            if not one.allows(mode):
                raise ForbiddenError(
                    f"The mode {mode} is not allowed to members of the group {one.group_name}. "
                    "Choose another mode, or ask an administrator."
                )

    def require_own_configs(self) -> None:
        """Raise ForbiddenError, with the group that forbids it, when the user may have no configurations."""
        for one in self.of_groups:
            if not one.own_configs:
                raise ForbiddenError(
                    f"Members of the group {one.group_name} cannot have configurations of their own. "
                    "Use one of the group's, or ask an administrator."
                )

    def stored_mode(self, mode: Mode) -> Mode:
        """Give what a stored mode comes to: one that has been forbidden since falls back to teaching."""
        return mode if self.allows(mode) or not self.allows(Mode.TEACHING) else Mode.TEACHING

    def turn_mode(self, asked: Mode | None, stored: Mode) -> Mode:
        """Give the mode of a turn: the one asked for, else the stored one. Raises ForbiddenError."""
        mode = asked or self.stored_mode(stored)
        self.require_mode(mode)
        return mode


@dataclass(frozen=True)
class Memberships:
    """A user's groups, their names by id, and what they allow together."""

    group_names: Mapping[str, str]
    policy: Policy


# built once: building it takes as long as running it
_MEMBERSHIPS = (
    select(users.c.is_superadmin, groups.c.user_group_id, groups.c.name, group_policies)
    .select_from(users)
    .outerjoin(memberships, memberships.c.user_id == users.c.user_id)
    .outerjoin(groups, groups.c.user_group_id == memberships.c.user_group_id)
    .outerjoin(group_policies, group_policies.c.group_id == groups.c.user_group_id)
    .where(users.c.user_id == bindparam("user"))
)


def read_memberships(connection: Connection, user_id: str) -> Memberships:
    """Give a user's groups and what binds the user now, in one query. Raises NotFoundError for an unknown user."""
    rows = connection.execute(_MEMBERSHIPS, {"user": user_id}).mappings().all()
    if not rows:
        raise no_such(Owner("user", user_id))
    in_groups = sorted((row for row in rows if row["user_group_id"]), key=lambda row: str(row["name"]))
    binding = [row for row in in_groups if row["group_id"] and not row["is_superadmin"]]
    return Memberships(
        # gns3-server's own type gives UUID objects
        group_names={str(row["user_group_id"]): str(row["name"]) for row in in_groups},
        policy=Policy(tuple(replace(_from_row(row), group_name=row["name"]) for row in binding)),
    )


class PolicyStore:
    """Reads and writes the policies of groups."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @uncancelled
    async def of_group(self, group_id: str) -> GroupPolicy:
        """Give a group's policy; one that was never set allows everything. Raises NotFoundError."""
        query = select(group_policies).where(group_policies.c.group_id == group_id)
        async with self._engine.connect() as connection:
            row = (await connection.execute(query)).mappings().first()
            if row is None:
                await require_owner(connection, Owner("group", group_id))
        return _from_row(row) if row else GroupPolicy()

    @uncancelled
    async def is_member(self, user_id: str, group_id: str) -> bool:
        """Tell whether a user is a member of a group."""
        query = select(memberships.c.user_id).where(
            memberships.c.user_id == user_id, memberships.c.user_group_id == group_id
        )
        async with self._engine.connect() as connection:
            return (await connection.execute(query)).first() is not None

    @uncancelled
    async def set_for_group(self, group_id: str, policy: GroupPolicy) -> None:
        """Set a group's policy. Raises NotFoundError for an unknown group."""
        everything = policy.allowed_modes == frozenset(Mode)
        values = {
            "allowed_modes": None if everything else [mode for mode in Mode if mode in policy.allowed_modes],
            "own_configs": policy.own_configs,
            "may_inject": policy.may_inject,
            "updated_at": datetime.now(UTC),
        }
        async with self._engine.begin() as connection:
            await require_owner(connection, Owner("group", group_id))
            await insert_if_absent(connection, group_policies, {"group_id": group_id, **values})
            await connection.execute(
                update(group_policies).where(group_policies.c.group_id == group_id).values(**values)
            )


def _from_row(row: RowMapping) -> GroupPolicy:
    stored = row["allowed_modes"]
    # a mode that this version does not know, from a newer one, allows nothing
    modes = frozenset(Mode) if stored is None else frozenset(mode for mode in Mode if mode in stored)
    return GroupPolicy(modes, bool(row["own_configs"]), bool(row["may_inject"]))
