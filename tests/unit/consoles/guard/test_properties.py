"""No refused line becomes allowed by how it is written, and nothing that is allowed is dangerous."""

from __future__ import annotations

import random
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gns3server_copilot.consoles.guard import judge_config, judge_read, judge_vpcs
from gns3server_copilot.consoles.guard.reasons import UNKNOWN_CONFIG
from tests.unit.consoles.guard.danger import config_danger, danger
from tests.unit.consoles.guard.tables import FAMILIES, LINES, family_guard, family_rules, rows

PREFIXES = ("do", "run", "no", "undo", "default", "DO", "do do", "no no", "do no", "undo run")
WORD = re.compile(r"(?<![^ ])[A-Za-z][A-Za-z-]*(?![^ ])")


def allowed(family: str, section: str, line: str) -> bool:
    guard = family_guard(family)
    if section == "config":
        verdicts = judge_config(guard, line)
        return all(verdict.allowed for verdict in verdicts)
    return {"read": judge_read, "vpcs": judge_vpcs}[section](guard, line).allowed


def fullwidth(text: str) -> str:
    """Give the text in other letters, which fold into the same ones."""
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


def shortened(family: str, line: str, randomness: random.Random) -> str:
    """Give the line with words cut short, where that cannot name another known word."""
    rules = family_rules(family)
    others = {"sh", "dis", "s", *rules.config.keywords}

    def cut(word: re.Match[str]) -> str:
        short = word[0][: randomness.randint(1, len(word[0]))].lower()
        # a filter may be cut short to another one
        other = short in others or any(one.startswith(short) for one in rules.read.filters)
        return word[0] if other else short

    return WORD.sub(cut, line)


def refused_as_a_program(family: str, section: str, line: str) -> bool:
    """Tell whether the line is refused only for its first word, in a mode in which that could be a program."""
    if section != "config" or not family_rules(family).config.tree:
        return False
    return any(verdict.reason == UNKNOWN_CONFIG for verdict in judge_config(family_guard(family), line))


def other_spellings(family: str, section: str, line: str, randomness: random.Random):
    yield f"  {line}  "
    yield line.replace(" ", "   ")
    yield line.upper() if family != "linux" else line
    yield line.title() if family != "linux" else line
    yield fullwidth(line)
    yield line.replace(" ", "\u00a0")
    yield line.replace(" ", "\u3000")
    yield line.replace(" ", "\t")
    yield line[:1] + "\u200b" + line[1:]
    yield f"\ufeff{line}"
    yield f"show version\n{line}"
    yield f"{line}\n"
    yield f"\r{line}"
    yield f"show version\x0b{line}"
    yield f"show version\x85{line}"
    yield f"show version\u2028{line}"
    yield f"show version\x1b{line}"
    if family_rules(family).language == "words":
        negations = family_rules(family).config.negations
        for prefix in (*PREFIXES, *(() if refused_as_a_program(family, section, line) else negations)):
            yield f"{prefix} {line}"
        if family_rules(family).abbreviations:
            yield shortened(family, line, randomness)


#: Refused for what is missing in them, or harmless after another word: nothing that another spelling must not allow.
INCOMPLETE = re.compile(
    r"(?:show|ping|traceroute|display|exit|quit|end|return|deb(?:ug|ugging)? all|sh processing full|.{200,})?", re.S
)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_refused_line_is_allowed_in_another_spelling(family):
    randomness = random.Random(family)
    found = []
    for row in (*rows(family), *rows("everywhere")):
        if row.allowed or INCOMPLETE.fullmatch(row.line) or row.line.startswith("#"):
            continue
        for line in other_spellings(family, row.section, row.line, randomness):
            if allowed(family, row.section, line):
                found.append((row.section, row.line, line))
    assert not found, found


@pytest.mark.parametrize("family", FAMILIES)
def test_a_refused_line_does_not_pass_among_allowed_ones(family):
    """One verdict for each line, whatever stands around it."""
    for row in rows(family):
        if row.section == "config" and not row.allowed and "\n" not in row.line:
            for text in (f"\n\n{row.line}\n", f"    {row.line}", f"{row.line}\r\n", f"# x\n{row.line}"):
                assert not allowed(family, "config", text) or row.line in ("exit", "quit"), (family, text)


def everything_allowed(family: str) -> list[str]:
    table = [row.line for row in rows(family) if row.section == "read"]
    everyday = (LINES.parent / "everyday" / f"{family}.txt").read_text().splitlines()
    return [*table, *everyday]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_second_opinion_finds_nothing_dangerous_in_what_is_sent(family):
    language = family_rules(family).language
    for line in (*everything_allowed(family), *(row.line for row in rows("everywhere"))):
        verdict = judge_read(family_guard(family), line)
        if verdict.allowed:
            assert danger(language, verdict.line) == "", verdict


PIECES = r"""
    show display ping 10.0.0.1 ip route interface reload reboot | include redirect tee ; && > ` $( ) do run no undo -c
    1000 repeat count=5 /ip address print where file=x [ ] { } : ? ! # configure terminal bash start shell system cat sh
    save /etc/shadow vtysh ' " \\ ~ * load set x a|b save= grep -f exit /system .. once export = & < $x
"""
UNUSUAL = ["\n", "\r", "\t", "\x00", "\u200b", "\u010d", "\uff1b"]


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    family=st.sampled_from(FAMILIES),
    pieces=st.lists(st.sampled_from([*re.findall(r"\S+", PIECES), *UNUSUAL]), min_size=1, max_size=8),
    joiner=st.sampled_from([" ", "", "  ", "\u00a0"]),
)
def test_whatever_is_allowed_is_harmless(family, pieces, joiner):
    line = joiner.join(pieces)
    verdict = judge_read(family_guard(family), line)
    assert verdict.line.isprintable() and verdict.reason.isprintable()
    if verdict.allowed:
        assert danger(family_rules(family).language, verdict.line) == ""
        again = judge_read(family_guard(family), verdict.line)
        assert again.allowed and again.line == verdict.line


@pytest.mark.parametrize("family", FAMILIES)
def test_whatever_is_allowed_to_configure_is_harmless(family):
    """Lines of the tables with some of their words exchanged, most of which no device knows."""
    randomness = random.Random(family)
    lines = [row.line for row in rows(family) if row.section == "config" and "\n" not in row.line]
    words = [*PREFIXES, *UNUSUAL, *re.findall(r"\S+", PIECES), *(word for line in lines for word in line.split())]
    for line in lines * 6:
        mixed = line.split()
        for _ in range(randomness.randint(1, 3)):
            place = randomness.randrange(len(mixed) + 1)
            mixed[place : place + randomness.randint(0, 1)] = [randomness.choice(words)]
        for verdict in judge_config(family_guard(family), " ".join(mixed)):
            assert not verdict.allowed or config_danger(family_rules(family).language, verdict.line) == "", verdict


@settings(max_examples=150, deadline=None, derandomize=True)
@given(family=st.sampled_from(FAMILIES), text=st.text(max_size=300))
def test_any_text_gets_verdicts_of_printable_ascii(family, text):
    guard = family_guard(family)
    for verdict in (judge_read(guard, text), judge_vpcs(guard, text), *judge_config(guard, text)):
        assert not verdict.allowed or (
            verdict.line.isascii() and verdict.line.isprintable() and len(verdict.line) < 400
        )
        assert verdict.allowed or verdict.reason


def test_nothing_beyond_ascii_folds_into_a_control_character():
    controls = [one for one in range(0x110000) if unicodedata.category(chr(one)) == "Cc"]
    folded = [one for one in map(chr, range(0x80, 0x110000)) if ord(one) not in controls]
    assert not re.search(r"[\x00-\x1f\x7f]", unicodedata.normalize("NFKC", "".join(folded)))
