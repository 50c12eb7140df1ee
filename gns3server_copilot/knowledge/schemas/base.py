"""What all kinds of knowledge files share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from gns3server_copilot.knowledge.problems import WrongFileError
from gns3server_copilot.knowledge.yaml_text import YamlText
from gns3server_copilot.settings import Settings

#: Of very many mistakes in one file the first ones are told.
MOST_MISTAKES = 5


class KnowledgeModel(BaseModel):
    """Base of everything inside a file: unknown keys are mistakes, and nothing changes once it is loaded."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class KnowledgeFile(KnowledgeModel):
    """Base of a whole file. A kind's schema is a subclass; what is below may be overridden by it."""

    @classmethod
    def read(cls, text: str) -> Self:
        """Give the file's contents, which are YAML unless a kind says otherwise. Raises WrongFileError."""
        parsed = YamlText(text)
        if not isinstance(parsed.data, dict):
            raise WrongFileError("the file has to be one mapping of keys to values", 1)
        try:
            return cls.model_validate(parsed.data)
        except ValidationError as error:
            mistakes = [(parsed.line_of(one["loc"]), _mistake(one["loc"], one["msg"])) for one in error.errors()]
        line, first = mistakes[0]
        others = [f"{said} (line {at})" for at, said in mistakes[1:MOST_MISTAKES]]
        more = [f"and {len(mistakes) - MOST_MISTAKES} more"] if len(mistakes) > MOST_MISTAKES else []
        raise WrongFileError("; ".join([first, *others, *more]), line)

    def names(self) -> Sequence[str]:
        """Give the names by which the file can be asked for besides the file's own, the best one first."""
        return ()

    def check_override(self, packaged: Self | None, settings: Settings) -> Sequence[str]:
        """Give the reasons why an admin's file may not take effect; `packaged` is the one it would replace, if any."""
        return ()

    def forbidden_commands(self) -> int:
        """Give how many commands the file forbids."""
        return 0


def _mistake(loc: tuple[int | str, ...], message: str) -> str:
    where = "".join(f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in loc).lstrip(".")
    return f"{where}: {message}" if where else message
