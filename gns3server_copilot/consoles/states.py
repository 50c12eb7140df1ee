"""What a console shows: which state a device is in, told from the last lines alone. Pure functions."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gns3server_copilot.knowledge.schemas.family import Answer, ConsoleRules


class State(enum.Enum):
    """What a device waits for, or that it does not wait."""

    USER = "user prompt"
    PRIVILEGED = "prompt"
    CONFIG = "configuration mode"
    SHELL = "shell"
    PAGER = "pager"
    DIALOG = "dialog"
    LOGIN = "login"
    PASSWORD = "password"
    PRESS_RETURN = "press return"
    QUESTION = "question"
    BOOT_LOADER = "boot loader"
    BOOTING = "booting"
    BLANK = "blank line"
    TEXT = "text"


PROMPTS = (State.USER, State.PRIVILEGED, State.CONFIG, State.SHELL)

#: A message of a device that was not asked for: time stamps, then a facility, a severity and a mnemonic; or a kernel's.
LOG_LINE = re.compile(
    r"^(?:[\w*.,:+/ \[\]$%\-]{0,80}[:,\s])?%{1,2}[A-Z][A-Z0-9_]*(?:-[A-Z0-9_]+)*-\d-[A-Z0-9_]+"  # IOS, NX-OS, EOS, ASA
    r"|^(?:#|%)?\w{3} {1,2}\d{1,2} (?:\d{4} )?\d{2}:\d{2}:\d{2}\S*.{0,60}%{2}\d{2}[A-Z]"  # VRP, Comware
    r"|^\[ *\d+\.\d{4,}\] "  # Linux
    r"|^\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}:\d{2}\S* \S+:"  # FRR
    r"|^\d{2}:\d{2}:\d{2} echo: "  # RouterOS
)
#: Such a message after a prompt, on the same line.
LOG_BEGIN = re.compile(
    r"^\*?(?:\w{3} {1,2}\d{1,2} (?:\d{4} )?[\d:.]{5,}|\d{2}:\d{2}:\d{2}|\d{4}[-/]\d{2}[-/]\d{2})"
    r"|^%{1,2}[A-Z0-9_]+-|^\[ *\d+\.\d{4,}\] "
)

CONFIRM = re.compile(
    r"(?i)\[confirm\]\s*$"
    r"|[\[(<]\s*y(?:es)?\s*(?:/|\||or|,)\s*n(?:o)?\b[^\])>]{0,30}[\])>]\s*(?:\([^)]{0,20}\)|\[[^\]]{0,20}\])?\s*[:?]?\s*$"
    r"|\[[^\]\n]{0,60}\]\s*[:?]\s*$|[A-Za-z]{2,}[)'\"\]]?\s?\?\s*$|(?:enter|choice|selection|continue)\b[^:]{0,60}:\s*$"
)
#: What is printed while a machine starts; a key could stop it there.
BOOTING = re.compile(
    r"(?i)^(?:booting|loading|launching|decompressing|self decompressing|uncompressing|starting kernel|reading )\b"
    r"|\bGRUB\b|SeaBIOS|iPXE|\bMachine UUID\b|press (?:any key|esc|f\d+) .{0,40}(?:menu|stop|interrupt|boot)"
    r"|^#{8,}|^Smart Init is|System Bootstrap, Version"
)
#: How far back a device's last words are looked at.
TAIL_LINES = 40
BOOT_TAIL = 3


@dataclass(frozen=True)
class Seen:
    """The state; of a prompt, the text that is it, and what stands behind it on the line; of a dialog, the answer."""

    state: State
    prompt: str = ""
    typed: str = ""
    answer: Answer | None = None

    @property
    def is_prompt(self) -> bool:
        """Whether it is a prompt with nothing behind it."""
        return self.state in PROMPTS and not self.typed


def look(lines: Sequence[str], line: str, rules: ConsoleRules, known_prompt: str = "") -> Seen:
    """Tell what the last complete lines and the line with the cursor mean.

    `known_prompt` is the prompt that was there last: with text behind it, somebody has typed or a message came.
    """
    shown = line.rstrip()
    if not shown:
        return _blank(lines, rules, known_prompt)
    for pager in rules.pagers:
        if pager.prompt.search(shown):
            return Seen(State.PAGER)
    for dialog in rules.dialogs:
        if dialog.question.search(shown):
            return Seen(State.DIALOG, answer=dialog)
    if rules.login.password.search(shown):
        return Seen(State.PASSWORD)
    if rules.login.username.search(shown):
        return Seen(State.LOGIN)
    if any(pattern.search(shown) for pattern in rules.boot_loader):
        return Seen(State.BOOT_LOADER)
    if (state := prompt_state(shown, rules)) is not None:
        banner = rules.prompts.config_banner
        if banner is not None and (above := [text for text in lines[-3:] if text.strip()]) and banner.search(above[-1]):
            state = State.CONFIG
        return Seen(state, shown)
    if known_prompt and shown.startswith(known_prompt):
        state = prompt_state(known_prompt, rules) or State.PRIVILEGED
        return Seen(state, known_prompt, shown.removeprefix(known_prompt).strip())
    if any(pattern.search(shown) for pattern in rules.press_return):
        return Seen(State.PRESS_RETURN)
    if CONFIRM.search(shown) and not is_log(shown):
        return Seen(State.QUESTION)
    return Seen(State.TEXT)


def prompt_state(line: str, rules: ConsoleRules) -> State | None:
    """Give the state that a line is the prompt of, None when it is no prompt."""
    prompts = rules.prompts
    candidates = (
        (State.CONFIG, prompts.config),
        (State.PRIVILEGED, prompts.privileged),
        (State.USER, prompts.user),
        (State.SHELL, prompts.shell),
    )
    for state, pattern in candidates:
        if pattern is not None and pattern.fullmatch(line):
            return state
    return None


def is_log(line: str) -> bool:
    """Tell whether a line is a device's message that nobody asked for."""
    return LOG_LINE.search(line) is not None


def begins_as_log(text: str) -> bool:
    """Tell whether what stands behind a prompt is the beginning of such a message and not something typed."""
    return LOG_BEGIN.search(text) is not None


def _blank(lines: Sequence[str], rules: ConsoleRules, known_prompt: str) -> Seen:
    """An empty line says something only by what stands above it, down to the last prompt."""
    told = [text for text in lines[-TAIL_LINES:] if text.strip()]
    for text in reversed(told):
        if (known_prompt and text.startswith(known_prompt)) or prompt_state(text.rstrip(), rules) is not None:
            break
        if any(pattern.search(text) for pattern in rules.press_return):
            return Seen(State.PRESS_RETURN)
    if any(BOOTING.search(text) for text in told[-BOOT_TAIL:]):
        return Seen(State.BOOTING)
    return Seen(State.BLANK)
