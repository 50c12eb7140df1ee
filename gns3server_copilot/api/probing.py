"""Trying a stored configuration out, for the routes of both scopes."""

from __future__ import annotations

from gns3server_copilot.api.runtime import Runtime
from gns3server_copilot.errors import ForbiddenError, InvalidRequestError, UnavailableError
from gns3server_copilot.llm.admission import admit
from gns3server_copilot.llm.config import StoredConfig
from gns3server_copilot.llm.probe import probe
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.llm_configs import ProbeResult


async def try_out(copilot: Runtime, config: StoredConfig, actor: User) -> ProbeResult:
    """Ask the model of a configuration that `actor` may use for one word. What stands in the way is told, too."""
    error: str
    if not config.can_chat:
        error = "Only text and multimodal models can be tried out."
    else:
        try:
            ready = await admit(await copilot.configs.for_use(config), actor, copilot.settings)
            return await probe(ready)
        except (ForbiddenError, InvalidRequestError, UnavailableError) as refusal:
            error = refusal.message
    return ProbeResult(ok=False, latency_ms=0, model=str(config.config.get("model") or ""), error=error)
