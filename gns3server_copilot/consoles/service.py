"""The consoles of a server: who may use them, whose turn it is, what was set for nodes, which family a device is of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gns3server_copilot.consoles.address import console_address
from gns3server_copilot.consoles.credentials import StoredCredentials
from gns3server_copilot.consoles.device_settings import DeviceSetting, DeviceSettings
from gns3server_copilot.consoles.families import Families
from gns3server_copilot.consoles.guard import FamilyGuard
from gns3server_copilot.consoles.locks import NodeLocks
from gns3server_copilot.consoles.session import Session
from gns3server_copilot.errors import ForbiddenError
from gns3server_copilot.gns3.templates import Template
from gns3server_copilot.gns3.topology import Node
from gns3server_copilot.knowledge.schemas.family import Family
from gns3server_copilot.knowledge.schemas.guard import GuardRules
from gns3server_copilot.knowledge.snapshot import Knowledge

CONSOLE_PRIVILEGE = "Node.Console"

#: Tells whether a user has a privilege on a resource now: user id, resource, privilege.
HasPrivilege = Callable[[str, str, str], Awaitable[bool]]
#: Gives where the controller reaches a compute, None for its own.
ComputeHost = Callable[[str], str | None]


@dataclass(frozen=True)
class FoundFamily:
    """The family of a device and how it was found; None when its console has to tell.

    `has_credentials` tells whether credentials are stored for the node.
    """

    family: Family | None
    how: str
    has_credentials: bool = False


class Consoles:
    """Set up once by the plugin and shared by all chats."""

    def __init__(self, settings: DeviceSettings, has_privilege: HasPrivilege, compute_host: ComputeHost) -> None:
        self.settings = settings
        self.locks = NodeLocks()
        self._has_privilege = has_privilege
        self._compute_host = compute_host
        self._families: tuple[Knowledge | None, Families | None] = (None, None)
        self._guards: dict[str, tuple[GuardRules, FamilyGuard]] = {}

    def families(self, knowledge: Knowledge) -> Families:
        """Give the families of a snapshot."""
        of, families = self._families
        if families is None or of is not knowledge:
            families = Families(knowledge.of(Family))
            self._families = (knowledge, families)
        return families

    def guard(self, family: Family) -> FamilyGuard:
        """Give the compiled rules of what may be typed on a family's devices."""
        if family.name not in self._guards or self._guards[family.name][0] is not family.guard:
            self._guards[family.name] = (family.guard, FamilyGuard(family.guard))
        return self._guards[family.name][1]

    async def require_permission(self, user_id: str, project_id: str, node: Node) -> None:
        """Raise ForbiddenError unless the user may use the node's console at this moment."""
        if not await self._has_privilege(user_id, f"/projects/{project_id}/nodes/{node.id}", CONSOLE_PRIVILEGE):
            raise ForbiddenError(
                f"Permission denied (privilege {CONSOLE_PRIVILEGE} on {node.name} is required). An admin can grant it."
            )

    def address(self, node: Node) -> tuple[str, int]:
        """Give host and port of a node's console. Raises ConsoleError that says why it has none."""
        return console_address(node, self._compute_host(node.compute_id))

    async def session(
        self, node: Node, project_id: str, found: FoundFamily, families: Families, user_id: str
    ) -> Session:
        """Give a session that is not yet attached. Raises what reading the credentials raises."""
        credentials = StoredCredentials()
        if found.has_credentials:
            credentials = await self.settings.credentials(project_id, node.id)

        async def permitted() -> None:
            await self.require_permission(user_id, project_id, node)

        return Session(
            found.family or families.generic,
            credentials,
            permitted,
            families.of_console if found.family is None else None,
        )


def find_family(
    node: Node, setting: DeviceSetting | None, template: Template | None, families: Families
) -> FoundFamily:
    """Find the family from all that is known before the console is looked at, the surest first."""
    family, how = _family(node, setting, template, families)
    return FoundFamily(family, how, setting is not None and setting.has_credentials)


def _family(
    node: Node, setting: DeviceSetting | None, template: Template | None, families: Families
) -> tuple[Family | None, str]:
    if setting is not None and setting.family and (family := families.get(setting.family)):
        return family, "set for this node"
    if node.device_type and (family := families.declared(node.device_type)):
        return family, "node type" if node.device_type == node.type else "declared by the node"
    if template is not None and template.device_type and (family := families.declared(template.device_type)):
        return family, "declared by the template"
    if family := families.of_node_type(node.type):
        return family, "node type"
    names = [template.name] if template is not None else []
    if family := families.of_names([*names, *node.images]):
        return family, "name of the template or image"
    return None, "to be found from the console"
