"""A second opinion on what is dangerous, written apart from the guard and as simply as can be.

It knows nothing of families' rules: it looks for words and characters anywhere in a line that would be sent.
"""

from __future__ import annotations

import re

#: What no line that reads may begin with, in any spelling that a device of that kind would take.
VERBS = {
    "words": """reload reboot restart halt poweroff shutdown reset write wr erase delete del format copy rename move
        configure conf system-view clear debug debugging deb test telnet ssh stelnet ftp tftp scp bash shell start
        request tclsh python python3 guestshell run event monitor more exit quit end logout disable enable enter commit
        save load rollback username user set delete no undo install upgrade boot execute super tools source""",
    "shell": """reboot poweroff halt shutdown init rm mv cp dd mkfs sh bash ash busybox env sudo su exec eval source
        vi find xargs awk sed tee kill passwd wget curl nc telnet ssh tcpdump echo printf""",
    "menus": """reboot shutdown reset-configuration import fetch run execute add set remove enable disable edit move
        upgrade install backup password""",
    "vpcs": "load write rlogin relay quit disconnect sleep set zzz echo",
}
#: Beginnings with such a verb that are harmless.
HARMLESS = re.compile(
    r"(?:no|undo) (?:debug|debugging) all|undebug all|set cli screen-(?:length|width) \d+|set terminal length \d+"
)
#: Characters that chain, redirect, substitute or control something on some device.
CHARACTERS = re.compile(r"[;`<>{}\\?\x00-\x1f\x7f-\U0010ffff]|\$\(|&&?(?! )|(?<!&)&(?!&)")
#: What must not follow a pipe anywhere.
PIPES = re.compile(
    r"\|\s*(?:re[dirct]*|app[end]*|tee?|sav?e?|file?|util[ity]*|vsh|bash|sh|sudo|sed|awk|xargs|python\d?|source|email|request|refresh)\b",
    re.IGNORECASE,
)
COUNTS = {
    "words": re.compile(r"\b(?:repeat|count|ntimes|-c) (\d+)"),
    "shell": re.compile(r"-c (\d+)"),
    "menus": re.compile(r"count=(\d+)"),
    "vpcs": re.compile(r"-c (\d+)"),
}


def danger(language: str, line: str) -> str:
    """Give what is dangerous in a line that the read tool would send, or "" ."""
    unescaped = line if language != "words" else re.sub(r"\\[.*+^$()\[\]/-]", "", line)
    if language == "menus":
        unescaped = (
            re.sub(r"[<>!]=?|&&|\|\|", "", unescaped.partition(" where ")[2]) + unescaped.partition(" where ")[0]
        )
    if found := CHARACTERS.search(unescaped):
        return f"the character {found[0]!r}"
    if found := PIPES.search(line):
        return f"the pipe {found[0]!r}"
    words = re.split(r"[ /]+", line.strip("/ ").lower())
    verbs = set(VERBS[language].split())
    if not HARMLESS.fullmatch(line.lower()):
        if language == "menus" and (found_verbs := verbs.intersection(line.partition(" where ")[0].lower().split())):
            return f"the command {found_verbs}"
        if words[0] in verbs or (language == "shell" and line.rpartition("/")[2].split(" ")[0] in verbs):
            return f"the command {words[0]}"
    if words[0] in ("ping", "ping6") and any(int(count) > 20 for count in COUNTS[language].findall(line)):
        return "an unbounded ping"
    return ""


#: What no configuration line may begin with after words such as no and set, whatever the family.
CONFIG_VERBS = {
    *("reload", "reboot", "halt", "poweroff", "erase", "format", "write", "system-view", "username", "aaa", "alias"),
    *("bash", "python", "tclsh", "guestshell", "sudo", "su", "request", "telnet", "ssh"),
}
BEFORE = {"do", "run", "no", "undo", "default"}


def config_danger(language: str, line: str) -> str:
    """Give what is dangerous in a line that the configuration tool would send, or "" ."""
    if found := re.search(r"[`\x00-\x1f\x7f-\U0010ffff]|\$\(", line):
        return f"the character {found[0]!r}"
    words = line.lower().split()
    if language == "menus":
        flat = {part for word in words for part in word.split("/")}
        return "".join(sorted(flat & {"reboot", "shutdown", "reset-configuration", "fetch", "import", "execute"}))
    if language == "shell":
        return words[0].rpartition("/")[2] if words[0].rpartition("/")[2] in set(VERBS["shell"].split()) else ""
    while len(words) > 1 and words[0] in BEFORE:
        words = words[1:]
    return words[0] if words and words[0] in CONFIG_VERBS else ""
