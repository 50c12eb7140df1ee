"""The routes of groups' LLM configurations and policies (docs/developer/llm-configs.md)."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response, status

from gns3server_copilot.api.dependencies import current_user, require_privilege, runtime
from gns3server_copilot.api.probing import try_out
from gns3server_copilot.api.routing import CopilotRoute
from gns3server_copilot.api.runtime import Runtime
from gns3server_copilot.api.versions import DeletedVersion, IfMatch, expected_version, tagged
from gns3server_copilot.errors import NotFoundError
from gns3server_copilot.llm.admission import check_change, check_new
from gns3server_copilot.llm.config import Owner, StoredConfig
from gns3server_copilot.llm.inheritance import default_of
from gns3server_copilot.llm.policies import GroupPolicy
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.llm_config_changes import LLMPolicy, UpdateLLMConfig
from gns3server_copilot.schemas.llm_configs import ConfigAnswer, ConfigList, CreateLLMConfig, ProbeResult
from gns3server_copilot.schemas.modes import Mode

router = APIRouter(prefix="/v3/access/groups/{group_id}", route_class=CopilotRoute, tags=["LLM model configs"])

CONFIGS = "/llm-model-configs"


async def may_read(request: Request, group_id: UUID, user: Annotated[User, Depends(current_user)]) -> Owner:
    """Give the group of the path, to its members and to holders of Group.Audit."""
    if not await runtime(request).policies.is_member(user.user_id, str(group_id)):
        await require_privilege(request, user, f"/access/groups/{group_id}", "Group.Audit")
    return Owner("group", str(group_id))


async def may_audit(request: Request, group_id: UUID, user: Annotated[User, Depends(current_user)]) -> Owner:
    """Give the group of the path, to holders of Group.Audit."""
    await require_privilege(request, user, f"/access/groups/{group_id}", "Group.Audit")
    return Owner("group", str(group_id))


async def may_write(request: Request, group_id: UUID, user: Annotated[User, Depends(current_user)]) -> Owner:
    """Give the group of the path, to holders of Group.Modify."""
    await require_privilege(request, user, f"/access/groups/{group_id}", "Group.Modify")
    return Owner("group", str(group_id))


async def may_use(request: Request, group_id: UUID, user: Annotated[User, Depends(current_user)]) -> Owner:
    """Give the group of the path, to its members and to holders of Group.Modify."""
    if not await runtime(request).policies.is_member(user.user_id, str(group_id)):
        await require_privilege(request, user, f"/access/groups/{group_id}", "Group.Modify")
    return Owner("group", str(group_id))


Reader = Annotated[Owner, Depends(may_read)]
Auditor = Annotated[Owner, Depends(may_audit)]
Writer = Annotated[Owner, Depends(may_write)]
Spender = Annotated[Owner, Depends(may_use)]
Actor = Annotated[User, Depends(current_user)]
Configured = Annotated[Runtime, Depends(runtime)]


@router.get(CONFIGS)
async def list_configs(group: Reader, copilot: Configured) -> ConfigList:
    """List a group's configurations and its default."""
    configs = await copilot.configs.list_configs(group)
    default = default_of(configs)
    return ConfigList(
        configs=[_plain(config) for config in configs],
        default_config=_plain(default) if default else None,
        total=len(configs),
    )


@router.get(f"{CONFIGS}/default")
async def get_default_config(group: Reader, copilot: Configured, response: Response) -> ConfigAnswer:
    """Get a group's default."""
    default = default_of(await copilot.configs.list_configs(group))
    if default is None:
        raise NotFoundError("This group has no configuration that could be the default. Add one first.")
    return _answer(default, response)


@router.post(CONFIGS, status_code=status.HTTP_201_CREATED)
async def create_config(
    group: Writer, actor: Actor, new: CreateLLMConfig, copilot: Configured, response: Response
) -> ConfigAnswer:
    """Create a configuration that all members may use. None of them ever sees its API key."""
    await check_new(new, actor, copilot.settings)
    return _answer(await copilot.configs.create_config(group, new), response)


@router.put(f"{CONFIGS}/default/{{config_id}}")
async def set_default_config(group: Writer, config_id: UUID, copilot: Configured, response: Response) -> ConfigAnswer:
    """Make a configuration the group's default, instead of the earlier one."""
    return _answer(await copilot.configs.set_default(group, str(config_id)), response)


@router.get(f"{CONFIGS}/{{config_id}}")
async def get_config(group: Reader, config_id: UUID, copilot: Configured, response: Response) -> ConfigAnswer:
    """Get one configuration."""
    return _answer(await copilot.configs.get_config(group, str(config_id)), response)


@router.put(f"{CONFIGS}/{{config_id}}")
async def update_config(
    group: Writer,
    actor: Actor,
    config_id: UUID,
    change: UpdateLLMConfig,
    version: IfMatch,
    copilot: Configured,
    response: Response,
) -> ConfigAnswer:
    """Change what the request carries, and leave the rest."""
    expected = expected_version(version, change.expected_version)
    await check_change(await copilot.configs.get_config(group, str(config_id)), change, actor, copilot.settings)
    return _answer(await copilot.configs.update_config(group, str(config_id), change, expected), response)


@router.delete(f"{CONFIGS}/{{config_id}}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_config(group: Writer, config_id: UUID, expected: DeletedVersion, copilot: Configured) -> None:
    """Delete a configuration; its members' choices of it go with it."""
    await copilot.configs.delete_config(group, str(config_id), expected)


@router.post(f"{CONFIGS}/{{config_id}}/test")
async def test_config(group: Spender, actor: Actor, config_id: UUID, copilot: Configured) -> ProbeResult:
    """Send one tiny request to the configuration's model and say what came of it."""
    return await try_out(copilot, await copilot.configs.get_config(group, str(config_id)), actor)


@router.get("/llm-policy")
async def get_policy(group: Auditor, copilot: Configured) -> LLMPolicy:
    """Get what the group allows its members."""
    return _policy_answer(await copilot.policies.of_group(group.id))


@router.put("/llm-policy")
async def set_policy(group: Writer, policy: LLMPolicy, copilot: Configured) -> LLMPolicy:
    """Set what the group allows its members. It holds from their next request on."""
    allowed = frozenset(Mode if policy.allowed_modes is None else policy.allowed_modes)
    await copilot.policies.set_for_group(group.id, GroupPolicy(allowed, policy.own_configs, policy.may_inject))
    return _policy_answer(await copilot.policies.of_group(group.id))


def _policy_answer(policy: GroupPolicy) -> LLMPolicy:
    return LLMPolicy(
        allowed_modes=[mode for mode in Mode if mode in policy.allowed_modes],
        own_configs=policy.own_configs,
        may_inject=policy.may_inject,
    )


def _plain(config: StoredConfig) -> ConfigAnswer:
    return ConfigAnswer.model_validate(config.as_answer().model_dump(exclude={"source", "group_name"}))


def _answer(config: StoredConfig, response: Response) -> ConfigAnswer:
    answer = _plain(config)
    tagged(response, answer)
    return answer
