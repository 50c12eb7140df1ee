"""Why a line is refused, in plain words that say what to do by hand instead."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gns3server_copilot.knowledge.schemas.guard import Category

BY_HAND = "If that is wanted, a person types it on the console."
BY_CATEGORY: dict[Category, str] = {
    "restarts": "restarts, halts or switches off the device. Stop and start the node in GNS3 instead.",
    "erases": f"erases a configuration, a disk or data. {BY_HAND}",
    "files": f"writes, moves, deletes or executes files. {BY_HAND}",
    "boots": f"changes what the device boots or which software it runs. {BY_HAND}",
    "users": "changes users, passwords or how they are checked. A person sets those on the console.",
    "access": "changes who reaches the device's console or terminal lines. A person sets that on the console.",
    "shells": "opens a shell or another program. If that is wanted, a person opens it on the console.",
    "sessions": "opens or ends a session. Each device is reached by its own console only; leave the line out.",
    "modes": "changes the mode. Modes are entered and left by themselves; leave the line out.",
    "multiline": "asks for more lines after it and would swallow the next ones. A person types it on the console.",
    "later": f"makes the device run commands later or under another name. {BY_HAND}",
    "floods": "can print without an end or slow the device down. Ask for less, or a person runs it on the console.",
    "resets": f"resets counters, sessions or tables. {BY_HAND}",
    "saves": "saves or loads a configuration. The option `save` of the configuration tool saves it; a person loads it.",
    "asks": "asks questions or waits for keys. A person types it on the console.",
}

#: A rule of such words is named as it is.
PLAIN = re.compile(r"[a-z0-9 -]+")
MAX_NAMED = 60

TOO_LONG = "The line has more than 250 characters. Split it."
CONTROL = "The line holds a control character or a line break. Send each command as a line of its own."
TAB = "The line holds a tab, which a console takes as a wish to complete a word. Use spaces."
QUESTION_MARK = "The line holds `?`, which a console takes as a call for help at once. Leave it out."
NOT_ASCII = "The line holds a character beyond ASCII, which a console may garble into others. Use ASCII letters."
OPEN_QUOTE = "The line has a quote without its second one. Close it."
UNKNOWN_CONFIG = f"The line does not begin like configuration that is known on this kind of device. {BY_HAND}"
OUTSIDE = "The line is allowed only after one that enters a mode, such as interface: elsewhere it can mean the device."
EMPTY = "The line is empty."
TOO_DEEP = "The line has too many words such as do, run or no before the command."
NO_RULES = "There are no rules for this kind of device, so nothing is sent. A person types it on the console."
CONFIG_ONLY = "Use the configuration tool for changes."


def because(rule: str, line: str, category: Category) -> str:
    """Give the reason for a line that falls under `rule`, a pattern, which is named where it is plain words."""
    return f"`{rule if PLAIN.fullmatch(rule) else clipped(line)}` {BY_CATEGORY[category]}"


def leads_into(rule: str, line: str) -> str:
    """Give the reason for a line about a branch below which something is refused by `rule`, a pattern."""
    below = rule.removeprefix("... ")
    named = f"`{below}`" if PLAIN.fullmatch(below) else "something that is refused"
    return f"`{clipped(line)}` reaches all below it, {named} too. Name what is meant by its whole path."


def clipped(line: str) -> str:
    """Give a line as it is named in a reason."""
    return line if len(line) <= MAX_NAMED else f"{line[:MAX_NAMED]}…"


def character(found: str) -> str:
    """Give the reason for a character that may not stand in a line."""
    return f"The line holds `{found}`, which could start something else on this device. Leave it out."


def ambiguous(word: str, candidates: Sequence[str]) -> str:
    """Give the reason for an abbreviation of several commands."""
    return f"`{word}` can mean {', '.join(candidates)}. Write the word in full."


def not_read(word: str, examples: Sequence[str]) -> str:
    """Give the reason for a command that the read tool does not know."""
    return (
        f"`{word}` is not among the commands that only read ({', '.join(examples)}). "
        "Use the configuration tool for changes; a person types everything else on the console."
    )
