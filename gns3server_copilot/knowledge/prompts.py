"""The system prompts: one Markdown file for each mode, with `{{name}}` placeholders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from gns3server_copilot.schemas.modes import Mode

PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
PLACEHOLDERS = frozenset({"project", "tools", "topology_info"})


@cache
def title_prompt() -> str:
    """Give the prompt for titles. Reads the file the first time."""
    return files(__package__).joinpath("prompts", "title.md").read_text(encoding="utf-8")


@cache
def read_prompt(mode: Mode) -> str:
    """Give a mode's prompt with its placeholders still in it. Reads the file once."""
    text = files(__package__).joinpath("prompts", f"{mode}.md").read_text(encoding="utf-8")
    unknown = set(PLACEHOLDER.findall(text)) - PLACEHOLDERS
    if unknown:
        raise ValueError(f"prompts/{mode}.md has unknown placeholders: {', '.join(sorted(unknown))}")
    return text


def system_prompt(mode: Mode, values: Mapping[str, str]) -> str:
    """Give a mode's prompt with the placeholders filled in; a value may itself contain braces."""
    return PLACEHOLDER.sub(lambda found: values[found[1]], read_prompt(mode))
