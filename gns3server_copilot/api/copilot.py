"""The routes that belong to no project: what the copilot is and can do here."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from gns3server_copilot import __version__
from gns3server_copilot.api.dependencies import current_user, runtime
from gns3server_copilot.api.routing import CopilotRoute
from gns3server_copilot.knowledge.prompts import read_prompt
from gns3server_copilot.llm.config import Owner
from gns3server_copilot.llm.providers import installed_providers
from gns3server_copilot.llm.resolve import effective_default
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.schemas.status import StatusAnswer

router = APIRouter(route_class=CopilotRoute, tags=["Copilot"])


@router.get("/status")
async def status(request: Request, user: Annotated[User, Depends(current_user)]) -> StatusAnswer:
    """What is installed and loaded, and whether the caller has a language model."""
    prompts = await asyncio.to_thread(lambda: [read_prompt(mode) for mode in Mode])
    configs = await runtime(request).configs.list_configs(Owner("user", user.user_id))
    return StatusAnswer(
        version=__version__,
        knowledge={"prompts": len(prompts)},
        providers=installed_providers(),
        llm_configured=effective_default(configs) is not None,
    )
