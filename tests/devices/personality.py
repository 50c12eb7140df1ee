"""What a scripted device is like: prompts, states and commands, read from a YAML file.

The file (personalities/cisco_ios.yaml is the example):

    variables:       values for ${name} in every text; `play` may override them
    negotiate:       telnet options announced to a client
    enter:           what counts as Enter: CR, LF, CRLF, CRNUL
    abbreviations:   whether words of commands may be shortened as far as they stay unique
    unknown, ambiguous, incomplete:   texts for lines that fit no command; ${line} is what was typed
    pager:           text, erase, and the keys page, line, quit; paging is on while the variable page_lines is not 0
    break:           keys that end an output that repeats, and give a new prompt at a prompt
    columns:         where the echo of a long line is wrapped; 0 for never
    wrap:            how: CRLF for a new line, SCROLL for a line that moves left behind a $
    repaint:         whether the whole line is painted again with every key
    repaint_key:     a key that paints the line again and does nothing else
    candidate:       whether configuration takes effect with a commit only
    initial:         the state at power-on; greeting is printed before it
    sets:            named lists of commands that states share
    states:          by name; see State
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

FOLDER = Path(__file__).parent / "personalities"

T = TypeVar("T")


@dataclass(frozen=True)
class Repeat:
    """An output that goes on: a text, time and again, until the count or a break key."""

    text: str
    every: float = 0.1
    count: int = 1_000_000


@dataclass(frozen=True)
class Reaction:
    """What a line or a key does: wait, print, remember, change state. `go: back` is the state that asked;
    `go: ${name}` is the one that the variable names.

    `run_as` names a state whose commands the rest of the line is looked up in (`do show version`): what follows the
    placeholder `<command...>`. `commit` and `discard` end a candidate configuration; with one, `go_pending` is where to
    go instead of `go`. The output comes `times` over, with ${number}.
    """

    output: str = ""
    times: int = 1
    go: str | None = None
    set: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    line_delay: float = 0.0
    repeat: Repeat | None = None
    page: bool = True
    record: bool = False
    run_as: str | None = None
    commit: bool = False
    discard: bool = False
    go_pending: str | None = None


@dataclass(frozen=True)
class Command(Reaction):
    """A reaction to a line of these words; `<name>` stands for any word, `<name...>` for the rest of the line, and
    `${name}` for a variable's present value."""

    command: str = ""


@dataclass(frozen=True)
class State:
    """A prompt and what may be typed at it.

    `uses` names command sets. `accept` lists first words of lines that are taken silently and recorded, as a
    configuration mode does. `otherwise` is the reaction to any other line, instead of the texts for unknown ones; after
    `tries` of them comes `exhausted`. `keys` react without Enter; with `immediate` every key does (`otherwise` for
    those not listed).
    """

    prompt: str = ""
    echo: bool = True
    immediate: bool = False
    commands: tuple[Command, ...] = ()
    accept: tuple[str, ...] = ()
    keys: dict[str, Reaction] = field(default_factory=dict)
    otherwise: Reaction | None = None
    tries: int = 0
    exhausted: Reaction | None = None


@dataclass(frozen=True)
class Pager:
    """How long output is shown page by page."""

    text: str
    erase: str
    page: str = " "
    line: str = "\r"
    quit: str = "q\x03"


@dataclass(frozen=True)
class Personality:
    """Everything that makes a scripted device what it plays."""

    initial: str
    states: dict[str, State]
    greeting: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    negotiate: tuple[str, ...] = ("WILL ECHO", "WILL SGA")
    enter: tuple[str, ...] = ("CR", "CRLF", "CRNUL")
    abbreviations: bool = False
    unknown: str = ""
    ambiguous: str = ""
    incomplete: str = ""
    pager: Pager | None = None
    break_keys: str = "\x03"
    columns: int = 0
    wrap: str = "CRLF"
    repaint: bool = False
    repaint_key: str = ""
    candidate: bool = False


def load_personality(name: str) -> Personality:
    """Give the personality of that name. Raises ValueError that names what the file has wrong."""
    data = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    sets = data.pop("sets", {})
    states = {key: _state(state or {}, sets) for key, state in data.pop("states").items()}
    pager = data.pop("pager", None)
    data["variables"] = {key: str(value) for key, value in data.get("variables", {}).items()}
    data["break_keys"] = data.pop("break", "\x03")
    personality = _make(Personality, {**data, "states": states, "pager": _make(Pager, pager) if pager else None})
    _check_targets(name, personality)
    return personality


def _state(data: dict[str, Any], sets: dict[str, list[dict[str, Any]]]) -> State:
    data = dict(data)
    commands = list(data.pop("commands", []))
    for used in data.pop("uses", []):
        commands += sets[used]
    data["commands"] = tuple(_make(Command, _with_repeat(command)) for command in commands)
    data["keys"] = {key: _make(Reaction, _with_repeat(reaction)) for key, reaction in data.get("keys", {}).items()}
    for name in ("otherwise", "exhausted"):
        if name in data:
            data[name] = _make(Reaction, _with_repeat(data[name] or {}))
    return _make(State, data)


def _with_repeat(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "repeat": _make(Repeat, data["repeat"])} if "repeat" in data else data


def _make(kind: type[T], data: dict[str, Any]) -> T:
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    unknown = data.keys() - known
    if unknown:
        raise ValueError(f"a {kind.__name__} has no {', '.join(sorted(unknown))}: {data}")
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in data.items()})


def _check_targets(name: str, personality: Personality) -> None:
    targets = {personality.initial}
    for state in personality.states.values():
        reactions = [*state.commands, *state.keys.values(), state.otherwise, state.exhausted]
        named = {target for r in reactions if r is not None for target in (r.go, r.run_as, r.go_pending) if target}
        targets |= {personality.variables.get(target[2:-1], target) if "${" in target else target for target in named}
    missing = targets - personality.states.keys() - {"back"}
    if missing:
        raise ValueError(f"{name} goes to states that it does not have: {', '.join(sorted(missing))}")
