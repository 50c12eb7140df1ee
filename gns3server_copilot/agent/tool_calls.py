"""Puts the tool calls of a streamed answer together, whatever pieces the provider sends their arguments in.

Providers differ: arguments in fragments or whole; several calls interleaved by index, or without any index; the id in
the first fragment only, never, or the same for two calls. (Only a name always comes whole.) The rules here decide
once, so that the calls shown to the reader are the calls that run.
"""

from __future__ import annotations

import json
import re
import secrets
import string
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

#: Cumulative arguments are sent to readers at most this often, in seconds, and when they have grown by this factor:
#: each event repeats all that came before.
PROGRESS_SECONDS = 0.1
PROGRESS_GROWTH = 1.2

#: Calls of one answer that are carried out, and characters of one call's arguments.
MOST_CALLS = 100
LONGEST_ARGUMENTS = 200_000

#: Characters that are kept of arguments that did not run.
LONGEST_KEPT = 10_000

NAME_LENGTH = 64
ID_LENGTH = 9
ID_CHARACTERS = string.ascii_letters + string.digits
ILLEGAL_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]")
UNNAMED = "unnamed_tool"


@dataclass
class AssembledCall:
    """One tool call as it has arrived so far. `place` is its rank among those that readers have learned of, `refusal`
    says why it must not run."""

    id: str
    raw_id: str | None
    index: int | str | None
    name: str = ""
    arguments: str = ""
    refusal: str | None = None
    place: int | None = None
    announced_at: float | None = None
    announced_length: int = 0

    def as_tool_call(self) -> dict[str, Any]:
        """Give LangChain's form. A refused call carries its text unparsed, so that nothing can run it."""
        parsed = _parse(self.arguments)
        args = {"unparsed_arguments": self.arguments[:LONGEST_KEPT]} if self.refusal or parsed is None else parsed
        return {"type": "tool_call", "id": self.id, "name": self.name, "args": args}


class ToolCallAssembler:
    """Collects fragments and tells `announce(call, complete)` when a reader should see more of a call."""

    def __init__(self, announce: Callable[[AssembledCall, bool], None], used_ids: Collection[str]) -> None:
        self._announce = announce
        self._used_ids = set(used_ids)
        self._announced = 0
        self.calls: list[AssembledCall] = []

    def add_fragment(self, fragment: Mapping[str, Any]) -> None:
        """Add a fragment: `name`, `args` (text), `id` and `index`, each of which may be missing."""
        call = self._call_of(fragment)
        call.name = call.name or _legal_name(fragment.get("name") or "")
        call.arguments += fragment.get("args") or ""
        if call.name and _is_progress(call):
            if call.place is None:
                call.place = self._announced
                self._announced += 1
            call.announced_at = time.monotonic()
            call.announced_length = len(call.arguments)
            self._announce(call, False)

    def add_whole(self, tool_call: Mapping[str, Any]) -> None:
        """Add a call that came in one piece, with `args` already parsed."""
        call = self._new_call(tool_call.get("id"), None)
        call.name = _legal_name(tool_call.get("name") or "")
        call.arguments = json.dumps(tool_call.get("args") or {})

    def finish(self, cut_off: bool) -> list[AssembledCall]:
        """Close all calls. Those that were cut off or are not a JSON object are refused, never repaired.

        A repaired fragment can be a different, valid command (`no router ospf 10` cut to `no router ospf 1`).
        """
        # the order in which readers have learned of them; one whose name never came is told of at the end only
        self.calls.sort(key=lambda call: self._announced if call.place is None else call.place)
        for number, call in enumerate(self.calls):
            call.name = call.name or UNNAMED
            call.arguments = call.arguments or "{}"
            if number >= MOST_CALLS or len(call.arguments) > LONGEST_ARGUMENTS:
                call.refusal = (
                    f"One answer may hold {MOST_CALLS} calls of {LONGEST_ARGUMENTS} characters each, so this call was "
                    "not carried out. Send smaller batches."
                )
            elif cut_off:
                call.refusal = (
                    "The answer was cut off at its length limit, so this call was not carried out. "
                    "Send it again in smaller batches."
                )
            elif _parse(call.arguments) is None:
                call.refusal = (
                    "The arguments are not a JSON object, so this call was not carried out. "
                    "Send it again with valid JSON."
                )
            self._announce(call, True)
        return self.calls

    def _call_of(self, fragment: Mapping[str, Any]) -> AssembledCall:
        raw_id, index = fragment.get("id") or None, fragment.get("index")
        candidates = [call for call in self.calls if call.index == index]
        last = candidates[-1] if candidates else None
        if last is None:
            return self._new_call(raw_id, index)
        if raw_id is None:
            # without id and index, a name begins the next call
            if index is None and fragment.get("name") and last.name:
                return self._new_call(None, None)
            return last
        if last.raw_id is None and not (index is None and last.name):
            last.raw_id = raw_id
            return last
        if last.raw_id != raw_id:
            return self._new_call(raw_id, index)
        # the same id again: a further fragment, unless what is there is already whole and a name comes again
        if index is None and fragment.get("name") and _parse(last.arguments) is not None:
            return self._new_call(raw_id, index)
        return last

    def _new_call(self, raw_id: str | None, index: int | str | None) -> AssembledCall:
        unique = raw_id if raw_id and raw_id not in self._used_ids else _new_id()
        self._used_ids.add(unique)
        call = AssembledCall(unique, raw_id, index)
        self.calls.append(call)
        return call


def _new_id() -> str:
    # Mistral's servers take nine letters and digits and nothing else; the others take anything
    return "".join(secrets.choice(ID_CHARACTERS) for _ in range(ID_LENGTH))


def _legal_name(name: str) -> str:
    return ILLEGAL_IN_NAME.sub("_", name)[:NAME_LENGTH]


def _is_progress(call: AssembledCall) -> bool:
    if call.announced_at is None:
        return True
    waited = time.monotonic() - call.announced_at >= PROGRESS_SECONDS
    return waited and len(call.arguments) >= call.announced_length * PROGRESS_GROWTH


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _parse(arguments: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(arguments, parse_constant=_refuse)
        json.dumps(parsed, ensure_ascii=False).encode()  # a lone surrogate could never be sent again
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
