"""Why a turn is brought to its end: the model is asked once more, without tools, to say so.

When even then it calls one, the call is refused and we say it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_CLOSE = (
    " No tool can be called any more in this turn. Say what you have found and done, what is left to do, and that the "
    "person can ask you to go on."
)


@dataclass(frozen=True)
class Closing:
    """A reason to end: what the model is told with its prompt, what a further call is answered, and our own words."""

    instruction: str
    refusal: str
    last_words: str


BUDGET_USED_UP = Closing(
    "\n\nThe tool budget of this turn is used up." + _CLOSE,
    "The tool budget of this question is used up, so this call was not carried out.",
    "I have used up the number of tool calls that one question may take. Ask me to go on, and I will.",
)
#: The same call fails so often: then it is hinted at, then the turn is brought to its end.
HINT_AT = 2
REPEATED_AT = 3
REPEATED_HINT = (
    "This call has now failed twice in the same way. Change it, or go another way; a third time ends the turn."
)
REPEATED = Closing(
    "\n\nOne call has failed three times with the same arguments, so the tools of this turn are closed. Say which one, "
    "what its error means, and what the person can do about it." + _CLOSE,
    "The same call has failed three times, so no further call of this question is carried out.",
    "I stopped here: the same tool call has failed three times in the same way. The failed calls above say why; "
    "tell me how to go on, or ask in another way.",
)
#: So many answers in a row held nothing but calls that cannot be read.
UNREADABLE_AT = 3
UNREADABLE = Closing(
    "\n\nYour last answers held tool calls that could not be read, so the tools of this turn are closed." + _CLOSE,
    "Too many calls could not be read, so no further call of this question is carried out.",
    "I stopped here: the model keeps sending tool calls that cannot be read. Ask for less at once, raise max_tokens in "
    "the AI profile, or choose another model.",
)


class FailedCalls:
    """Counts the failures of each call, by name and arguments."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, name: str, arguments: Mapping[str, Any]) -> int:
        """Note a failure of this call and give how often it has failed."""
        key = _key(name, arguments)
        self._counts[key] += 1
        return self._counts[key]

    def of(self, name: str, arguments: Mapping[str, Any]) -> int:
        """Give how often this call has failed."""
        return self._counts[_key(name, arguments)]

    @property
    def most(self) -> int:
        """How often the call has failed that has failed most."""
        return max(self._counts.values(), default=0)


def _key(name: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
    return name, json.dumps(arguments, sort_keys=True, default=str)
