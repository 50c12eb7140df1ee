"""All kinds of knowledge files. A new kind is one schema module and one line here."""

from __future__ import annotations

from dataclasses import dataclass

from gns3server_copilot.knowledge.schemas.base import KnowledgeFile
from gns3server_copilot.knowledge.schemas.family import Family
from gns3server_copilot.knowledge.schemas.prompt import PROMPT_NAMES, Prompt
from gns3server_copilot.knowledge.schemas.protocol import Protocol


@dataclass(frozen=True)
class Kind:
    """A kind of file: its folder, which is its name too, what such a file holds, and how its name ends."""

    name: str
    schema: type[KnowledgeFile]
    suffix: str = ".yaml"
    #: the only names that files of this kind can have, where not every name makes sense
    only: frozenset[str] | None = None


KINDS: tuple[Kind, ...] = (
    Kind("prompts", Prompt, ".md", only=PROMPT_NAMES),
    Kind("families", Family),
    Kind("protocols", Protocol),
)

KIND_NAMES = ("prompts", "families", "devices", "protocols", "faults")
