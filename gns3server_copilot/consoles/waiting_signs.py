"""Tells from the last lines of a console whether a device waits for somebody: at a prompt, a question, a boot loader.

For a device that is only listened to. Boot messages are full of `>` and `#`, so a prompt has to be the whole last line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Sign(StrEnum):
    """What a console shows."""

    PROMPT = "prompt"
    QUESTION = "question"
    BOOT_LOADER = "boot loader"


@dataclass(frozen=True)
class Recognised:
    """A sign, the line that shows it, and how long the console has to be quiet until it is believed, in seconds."""

    sign: Sign
    line: str
    quiet: float


#: Other boot messages may end like a prompt, but go on soon.
USUAL_QUIET = 1.0
#: Nothing else begins with the node's name and ends like a prompt.
NAMED_QUIET = 0.3
#: A boot loader may go on by itself after a countdown.
BOOT_LOADER_QUIET = 12.0
#: For what is less sure: a prompt or login with log lines after it, a prompt of one character.
CAREFUL_QUIET = 4.0
LINES_BEHIND_LOG = 12

BOOT_LOADERS = re.compile(
    r"rommon\s?\S*\s?>|loader>|grub(?:\s?rescue)?>|=>|(?:u-boot|uboot)>|switch:|[\w.-]*\((?:boot|loader)\)[#>]"
    r"|bios>|\(initramfs\)|Shell>",
    re.IGNORECASE,
)
QUESTIONS = re.compile(
    r".*(?:\[(?:yes|y)(?:/no|/n)?(?:/\w+)?\]|\((?:yes|y)/(?:no|n)(?:/\[?\w+\]?)?\)|\[confirm\]|\[no\])\s?[:?]?"
    r"|.*(?:login|username|user name|user|password|passphrase|enter your selection(?: \[\d\])?)\s?:"
    r"|(?:-+\s?)?\(?more(?:\s?\d+%)?\)?(?:\s?-+)?(?:\(.*\))?"
    r"|press any key to continue.*",
    re.IGNORECASE,
)
#: Said once on a line of its own, often with log lines after it. Not dynamips' `Press ENTER to get the prompt`, which
#: comes before the machine has even begun to boot.
RETURN_TO_START = re.compile(r"\s*press (?:return|enter) to get started[.!]*\s*", re.IGNORECASE)
PROMPTS = re.compile(
    r"(?=.*[A-Za-z])[A-Za-z0-9][\w.\-@:/~\[\]]*(?:\([\w.\-/ ]*\))?[>#$]"  # R1> R1(config-if)# root@r1:~#
    r"|[A-Za-z][\w.\-]*@[\w.\-:/~]*%"  # root@%
    r"|<[^<>\s]+>"  # <Huawei>
    r"|\[[^\[\]\s]+@[^\[\]]+\]\s?[>#$]"  # [admin@MikroTik] > [root@host ~]#
    r"|/\S*\s[#$]"  # busybox: / #
    r"|[#$]"
)
LOGIN_THEN_LOG = re.compile(r"\S* ?login: ", re.IGNORECASE)


def recognise(lines: Sequence[str], node_name: str) -> Recognised | None:
    """Give what the last of `lines` shows, or one above it after which only log lines came; None for neither."""
    last = lines[-1].strip() if lines else ""
    if found := _sign_of(last, node_name):
        return found
    recent = [line.strip() for line in lines[-LINES_BEHIND_LOG:]]
    if any(RETURN_TO_START.fullmatch(line) for line in recent):
        return Recognised(Sign.QUESTION, "Press RETURN to get started", USUAL_QUIET)
    if not last:
        for line in reversed(recent):
            if line.startswith(node_name) and PROMPTS.fullmatch(line):
                return Recognised(Sign.PROMPT, line, CAREFUL_QUIET)
            if LOGIN_THEN_LOG.match(line):
                return Recognised(Sign.QUESTION, line, CAREFUL_QUIET)
    return None


def _sign_of(line: str, node_name: str) -> Recognised | None:
    if not line:
        return None
    if BOOT_LOADERS.fullmatch(line):
        return Recognised(Sign.BOOT_LOADER, line, BOOT_LOADER_QUIET)
    if PROMPTS.fullmatch(line):
        quiet = NAMED_QUIET if line.startswith(node_name) else USUAL_QUIET if len(line) > 1 else CAREFUL_QUIET
        return Recognised(Sign.PROMPT, line, quiet)
    if QUESTIONS.fullmatch(line):
        return Recognised(Sign.QUESTION, line, USUAL_QUIET)
    return None
