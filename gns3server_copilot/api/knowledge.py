"""The routes of what the copilot knows: what is loaded, and loading it anew."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from gns3server_copilot.api.dependencies import current_user, runtime, superadmin
from gns3server_copilot.api.routing import CopilotRoute
from gns3server_copilot.knowledge.kinds import KIND_NAMES
from gns3server_copilot.knowledge.problems import Problem
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.knowledge import FileProblem, KnowledgeAnswer, KnowledgeEntry, ReloadAnswer

router = APIRouter(prefix="/v3/copilot", route_class=CopilotRoute, tags=["Copilot"])


@router.post("/reload/skills", dependencies=[Depends(superadmin)])
async def reload_skills(request: Request) -> ReloadAnswer:
    """Read all knowledge files again. Running turns go on with what they started with."""
    reload = await runtime(request).knowledge.reload()
    counts = {kind: len(reload.knowledge.keys(kind)) for kind in KIND_NAMES}
    skills = counts["devices"] + counts["faults"]
    return ReloadAnswer(
        success=reload.replaced,
        skills=skills > 0,
        skill_count=skills,
        prompts=counts["prompts"] > 0,
        prompt_count=counts["prompts"],
        protocols=counts["protocols"] > 0,
        protocol_count=counts["protocols"],
        families=counts["families"],
        faults=counts["faults"],
        forbidden_commands=sum(entry.value.forbidden_commands() for entry in reload.knowledge.entries),
        version=reload.knowledge.version,
        errors=_told(reload.problems),
    )


@router.get("/knowledge")
async def knowledge(request: Request, user: Annotated[User, Depends(current_user)]) -> KnowledgeAnswer:
    """What is loaded, and whether it came with the package or is the admin's own."""
    base = runtime(request).knowledge
    loaded = await base.current()
    kinds: dict[str, list[KnowledgeEntry]] = {kind: [] for kind in KIND_NAMES}
    for entry in sorted(loaded.entries, key=lambda one: one.key):
        told = KnowledgeEntry(key=entry.key, names=list(entry.value.names()), source=entry.source)
        kinds[entry.kind].append(told)
    return KnowledgeAnswer(
        version=loaded.version,
        kinds=kinds,
        directory=str(base.directory) if user.is_superadmin else None,
        errors=_told(loaded.problems) if user.is_superadmin else None,
    )


def _told(problems: Iterable[Problem]) -> list[FileProblem]:
    return [FileProblem(file=one.file, line=one.line, message=one.message) for one in problems]
