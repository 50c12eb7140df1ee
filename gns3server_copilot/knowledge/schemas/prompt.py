"""Prompts: Markdown files with `{{name}}` placeholders, one for each mode and one for titles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Self

from gns3server_copilot.knowledge.problems import WrongFileError
from gns3server_copilot.knowledge.schemas.base import KnowledgeFile
from gns3server_copilot.schemas.modes import Mode

PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
PLACEHOLDERS = frozenset({"project", "tools", "topology_info"})
TITLE = "title"
PROMPT_NAMES = frozenset({*map(str, Mode), TITLE})


class Prompt(KnowledgeFile):
    """A prompt with its placeholders still in it."""

    text: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Give the prompt. Raises WrongFileError for an empty one and for placeholders that nothing fills."""
        if not text.strip():
            raise WrongFileError("the prompt is empty", 1)
        for number, line in enumerate(text.splitlines(), start=1):
            for name in PLACEHOLDER.findall(line):
                if name not in PLACEHOLDERS:
                    known = ", ".join(sorted(PLACEHOLDERS))
                    raise WrongFileError(f"there is no placeholder {name}; there are {known}", number)
        return cls(text=text)

    def filled(self, values: Mapping[str, str]) -> str:
        """Give the text with the placeholders filled in; a value may itself contain braces."""
        return PLACEHOLDER.sub(lambda found: values[found[1]], self.text)
