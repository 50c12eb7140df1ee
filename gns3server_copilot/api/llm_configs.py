"""The routes of users' LLM configurations, own and inherited (docs/developer/llm-configs.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response, status

from gns3server_copilot.api.dependencies import current_user, has_privilege, require_privilege, runtime
from gns3server_copilot.api.probing import try_out
from gns3server_copilot.api.routing import CopilotRoute
from gns3server_copilot.api.runtime import Runtime
from gns3server_copilot.api.versions import DeletedVersion, IfMatch, expected_version, tagged
from gns3server_copilot.errors import ForbiddenError, NotFoundError
from gns3server_copilot.llm.admission import check_change, check_new
from gns3server_copilot.llm.config import Owner, StoredConfig
from gns3server_copilot.llm.inheritance import UserConfigs
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.llm_config_changes import UpdateLLMConfig
from gns3server_copilot.schemas.llm_configs import CreateLLMConfig, ProbeResult, UserConfigAnswer, UserConfigList

router = APIRouter(
    prefix="/v3/access/users/{user_id}/llm-model-configs", route_class=CopilotRoute, tags=["LLM model configs"]
)

#: What members may change even if their groups allow them no configurations of their own.
ALWAYS_ALLOWED = {"copilot_mode", "expected_version", "is_default"}


@dataclass(frozen=True)
class Target:
    """Whose configurations a request is about, and who makes it."""

    owner: Owner
    actor: User
    request: Request

    @property
    def user_id(self) -> str:
        """The user of the path."""
        return self.owner.id

    async def manages(self) -> bool:
        """Whether the actor may do this by a privilege, and not only because it is their own."""
        return await has_privilege(self.request, self.actor, f"/access/users/{self.user_id}", "User.Modify")


async def may_read(request: Request, user_id: UUID, user: Annotated[User, Depends(current_user)]) -> Target:
    """Give the user of the path, to that user and to holders of User.Audit."""
    return await _target(request, user_id, user, "User.Audit")


async def may_write(request: Request, user_id: UUID, user: Annotated[User, Depends(current_user)]) -> Target:
    """Give the user of the path, to that user and to holders of User.Modify."""
    return await _target(request, user_id, user, "User.Modify")


async def _target(request: Request, user_id: UUID, user: User, privilege: str) -> Target:
    if str(user_id) != user.user_id:
        await require_privilege(request, user, f"/access/users/{user_id}", privilege)
    return Target(Owner("user", str(user_id)), user, request)


Reader = Annotated[Target, Depends(may_read)]
Writer = Annotated[Target, Depends(may_write)]
Configured = Annotated[Runtime, Depends(runtime)]


@router.get("")
async def list_configs(target: Reader, copilot: Configured) -> UserConfigList:
    """List the configurations that a user may use, own and inherited, and the user's effective default."""
    found = await copilot.configs.user_configs(target.user_id)
    answers = [config.as_answer() for config in found]
    default = found.default
    return UserConfigList(configs=answers, default_config=default.as_answer() if default else None, total=len(answers))


@router.get("/own")
async def list_own_configs(target: Reader, copilot: Configured) -> list[UserConfigAnswer]:
    """List a user's own configurations."""
    return [config.as_answer() for config in (await copilot.configs.user_configs(target.user_id)).own]


@router.get("/default")
async def get_default_config(target: Reader, copilot: Configured, response: Response) -> UserConfigAnswer:
    """Get a user's effective default."""
    default = (await copilot.configs.user_configs(target.user_id)).default
    if default is None:
        raise NotFoundError("This user has no configuration that could be the default. Add one first.")
    return _answer(default, response)


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_config(
    target: Writer, new: CreateLLMConfig, copilot: Configured, response: Response
) -> UserConfigAnswer:
    """Create a configuration. The API key is stored encrypted and never shown again."""
    found = await copilot.configs.user_configs(target.user_id)
    if not found.policy.own_configs and not await target.manages():
        found.policy.require_own_configs()
    if "copilot_mode" in new.model_fields_set and not target.actor.is_superadmin:
        found.policy.require_mode(new.copilot_mode)
    await check_new(new, target.actor, copilot.settings)
    made = await copilot.configs.create_config(target.owner, new)
    return await _as_shown(copilot, target, made.config_id, response)


@router.put("/default/{config_id}")
async def set_default_config(
    target: Writer, config_id: UUID, copilot: Configured, response: Response
) -> UserConfigAnswer:
    """Make a configuration, own or inherited, the user's default instead of the earlier one."""
    config = await copilot.configs.user_config(target.user_id, str(config_id))
    if config.owner == target.owner:
        await copilot.configs.set_default(target.owner, config.config_id)
    else:
        await copilot.configs.choose_inherited_default(target.user_id, config.config_id)
    return await _as_shown(copilot, target, config.config_id, response)


@router.delete("/default", status_code=status.HTTP_204_NO_CONTENT)
async def forget_default_config(
    user_id: UUID, user: Annotated[User, Depends(current_user)], copilot: Configured
) -> None:
    """Forget which configuration the user has chosen as the default. Only users themselves can."""
    if str(user_id) != user.user_id:
        raise ForbiddenError("Only users themselves can forget their choice of a default.")
    await copilot.configs.forget_default(user.user_id)


@router.get("/{config_id}")
async def get_config(target: Reader, config_id: UUID, copilot: Configured, response: Response) -> UserConfigAnswer:
    """Get one configuration, own or inherited."""
    return _answer(await copilot.configs.user_config(target.user_id, str(config_id)), response)


@router.put("/{config_id}")
async def update_config(
    target: Writer, config_id: UUID, change: UpdateLLMConfig, version: IfMatch, copilot: Configured, response: Response
) -> UserConfigAnswer:
    """Change what the request carries. Of an inherited configuration, only the user's own `copilot_mode` can be."""
    expected = expected_version(version, change.expected_version)
    config = await copilot.configs.user_config(target.user_id, str(config_id))
    found = await copilot.configs.user_configs(target.user_id)
    if config.owner != target.owner:
        _refuse_all_but_mode(config, change)
    elif not change.model_fields_set <= ALWAYS_ALLOWED and not found.policy.own_configs and not await target.manages():
        found.policy.require_own_configs()
    _check_mode(target, found, config, change)
    if config.owner == target.owner:
        await check_change(config, change, target.actor, copilot.settings)
        await copilot.configs.update_config(target.owner, config.config_id, change, expected)
    elif "copilot_mode" in change.model_fields_set:
        await copilot.configs.choose_mode(target.user_id, config.config_id, change.copilot_mode, expected)
    return await _as_shown(copilot, target, config.config_id, response)


@router.delete("/{config_id}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_config(target: Writer, config_id: UUID, expected: DeletedVersion, copilot: Configured) -> None:
    """Delete a configuration of the user's own."""
    found = await copilot.configs.user_configs(target.user_id)
    if not found.policy.own_configs and not await target.manages():
        found.policy.require_own_configs()
    await copilot.configs.delete_config(target.owner, str(config_id), expected)


@router.post("/{config_id}/test")
async def test_config(target: Writer, config_id: UUID, copilot: Configured) -> ProbeResult:
    """Send one tiny request to the configuration's model, own or inherited, and say what came of it."""
    return await try_out(copilot, await copilot.configs.user_config(target.user_id, str(config_id)), target.actor)


def _refuse_all_but_mode(config: StoredConfig, change: UpdateLLMConfig) -> None:
    if not change.model_fields_set <= {"copilot_mode", "expected_version"}:
        raise ForbiddenError(
            f"This configuration belongs to the group {config.group_name}: only your own copilot_mode can be chosen "
            "here. Its managers change the rest in the group's AI profile."
        )


def _check_mode(target: Target, found: UserConfigs, config: StoredConfig, change: UpdateLLMConfig) -> None:
    changed = "copilot_mode" in change.model_fields_set and change.copilot_mode != config.config["copilot_mode"]
    if changed and not target.actor.is_superadmin:
        found.policy.require_mode(change.copilot_mode)


async def _as_shown(copilot: Runtime, target: Target, config_id: str, response: Response) -> UserConfigAnswer:
    """Answer with a configuration as its user sees it after a change."""
    return _answer(await copilot.configs.user_config(target.user_id, config_id), response)


def _answer(config: StoredConfig, response: Response) -> UserConfigAnswer:
    answer = config.as_answer()
    tagged(response, answer)
    return answer
