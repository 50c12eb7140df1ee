"""What the plugin sets up once for an application and every route uses."""

from __future__ import annotations

from dataclasses import dataclass

from gns3server_copilot.agent.manager import AgentManager
from gns3server_copilot.consoles.service import Consoles
from gns3server_copilot.knowledge.base import KnowledgeBase
from gns3server_copilot.llm.audit import AuditLog
from gns3server_copilot.llm.policies import PolicyStore
from gns3server_copilot.llm.store import ConfigStore
from gns3server_copilot.llm.usage import UsageStore
from gns3server_copilot.settings import Settings


@dataclass(frozen=True)
class Runtime:
    """Kept in `app.state.copilot` from the server's start to its end."""

    settings: Settings
    configs: ConfigStore
    policies: PolicyStore
    usage: UsageStore
    knowledge: KnowledgeBase
    consoles: Consoles
    audit: AuditLog
    manager: AgentManager
