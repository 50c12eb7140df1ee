"""What every project's agent uses of the server that it lives in."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.types import ASGIApp

from gns3server_copilot.consoles.service import Consoles
from gns3server_copilot.knowledge.base import KnowledgeBase
from gns3server_copilot.llm.audit import AuditLog
from gns3server_copilot.llm.usage import UsageStore
from gns3server_copilot.packets.worker import Analyses
from gns3server_copilot.settings import Settings


@dataclass(frozen=True)
class Server:
    """Set up once by the plugin and shared by all agents."""

    app: ASGIApp
    settings: Settings
    usage: UsageStore
    knowledge: KnowledgeBase
    audit: AuditLog
    consoles: Consoles | None = None
    #: worker processes that read packet captures
    analyses: Analyses = field(default_factory=Analyses)
