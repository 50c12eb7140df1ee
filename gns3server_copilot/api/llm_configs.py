"""The routes of users' LLM configurations."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, status

from gns3server_copilot.api.dependencies import current_user, require_privilege, runtime
from gns3server_copilot.api.routing import CopilotRoute
from gns3server_copilot.api.runtime import Runtime
from gns3server_copilot.errors import NotFoundError
from gns3server_copilot.llm.config import Owner
from gns3server_copilot.llm.resolve import effective_default
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.llm_configs import CreateLLMConfig, UserConfigAnswer, UserConfigList

router = APIRouter(
    prefix="/v3/access/users/{user_id}/llm-model-configs", route_class=CopilotRoute, tags=["LLM model configs"]
)


async def may_read(request: Request, user_id: UUID, user: Annotated[User, Depends(current_user)]) -> Owner:
    """Give the user of the path, to that user and to holders of User.Audit."""
    return await _owner(request, user_id, user, "User.Audit")


async def may_write(request: Request, user_id: UUID, user: Annotated[User, Depends(current_user)]) -> Owner:
    """Give the user of the path, to that user and to holders of User.Modify."""
    return await _owner(request, user_id, user, "User.Modify")


async def _owner(request: Request, user_id: UUID, user: User, privilege: str) -> Owner:
    if str(user_id) != user.user_id:
        await require_privilege(request, user, f"/access/users/{user_id}", privilege)
    return Owner("user", str(user_id))


Reader = Annotated[Owner, Depends(may_read)]
Writer = Annotated[Owner, Depends(may_write)]
Configured = Annotated[Runtime, Depends(runtime)]


@router.get("")
async def list_configs(owner: Reader, copilot: Configured) -> UserConfigList:
    """List the configurations that a user may use, and the user's effective default."""
    configs = await copilot.configs.list_configs(owner)
    default = effective_default(configs)
    return UserConfigList(
        configs=[config.as_answer() for config in configs],
        default_config=default.as_answer() if default else None,
        total=len(configs),
    )


@router.get("/own")
async def list_own_configs(owner: Reader, copilot: Configured) -> list[UserConfigAnswer]:
    """List a user's own configurations."""
    return [config.as_answer() for config in await copilot.configs.list_configs(owner)]


@router.get("/default")
async def get_default_config(owner: Reader, copilot: Configured) -> UserConfigAnswer:
    """Get a user's effective default."""
    default = effective_default(await copilot.configs.list_configs(owner))
    if default is None:
        raise NotFoundError("This user has no configuration that could be the default. Add one first.")
    return default.as_answer()


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_config(owner: Writer, new: CreateLLMConfig, copilot: Configured) -> UserConfigAnswer:
    """Create a configuration. The API key is stored encrypted and never shown again."""
    return (await copilot.configs.create_config(owner, new)).as_answer()


@router.put("/default/{config_id}")
async def set_default_config(owner: Writer, config_id: UUID, copilot: Configured) -> UserConfigAnswer:
    """Make a configuration the user's default, instead of the earlier one."""
    return (await copilot.configs.set_default(owner, str(config_id))).as_answer()


@router.get("/{config_id}")
async def get_config(owner: Reader, config_id: UUID, copilot: Configured) -> UserConfigAnswer:
    """Get one configuration."""
    return (await copilot.configs.get_config(owner, str(config_id))).as_answer()
