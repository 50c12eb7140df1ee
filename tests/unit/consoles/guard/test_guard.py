"""The guard as its callers see it: verdicts in order, bounds, and how fast it is."""

from __future__ import annotations

import time

import pytest

from gns3server_copilot.consoles.guard import FamilyGuard, judge_config, judge_read
from gns3server_copilot.knowledge.schemas.guard import GuardRules
from tests.unit.consoles.guard.tables import FAMILIES, LINES, family_guard, rows


def test_every_line_of_a_configuration_gets_a_verdict_in_order():
    verdicts = judge_config(family_guard("cisco_ios"), "hostname R1\n\n  reload\r\ninterface Gi0/0\r no shutdown\n!\n")
    assert [(verdict.line, verdict.allowed) for verdict in verdicts] == [
        ("hostname R1", True),
        ("reload", False),
        ("interface Gi0/0", True),
        ("no shutdown", True),
        ("!", True),
    ]


def test_lines_of_a_list_are_split_too():
    verdicts = judge_config(family_guard("cisco_ios"), ["hostname R1\nreload", "interface Gi0/0"])
    assert [verdict.allowed for verdict in verdicts] == [True, False, True]


def test_exit_is_allowed_as_often_as_modes_were_entered():
    text = "router bgp 1\naddress-family ipv4\nexit\nexit\nexit"
    assert [verdict.allowed for verdict in judge_config(family_guard("cisco_ios"), text)] == [True] * 4 + [False]


def test_the_end_is_allowed_at_the_end_only():
    text = "hostname R1\nend\n!\n"
    assert all(verdict.allowed for verdict in judge_config(family_guard("cisco_ios"), text))
    assert not judge_config(family_guard("cisco_ios"), "end\nhostname R1")[0].allowed


def test_a_judged_configuration_leaves_nothing_behind():
    guard = family_guard("cisco_ios")
    judge_config(guard, "interface Gi0/0")
    assert not judge_config(guard, "exit")[0].allowed


def test_a_family_without_rules_allows_nothing():
    guard = FamilyGuard(GuardRules())
    assert not judge_read(guard, "show version").allowed
    assert not judge_config(guard, "hostname R1")[0].allowed


@pytest.mark.parametrize(
    ("family", "line", "seconds"),
    [("frr", "ping 10.0.0.1", 10), ("generic", "ping 10.0.0.1", 15), ("cisco_ios", "ping 10.0.0.1", None)],
    ids=lambda value: str(value),
)
def test_a_command_without_a_bound_of_its_own_has_to_be_broken_off(family, line, seconds):
    verdict = judge_read(family_guard(family), line)
    assert verdict.allowed and verdict.stop_after == seconds


def test_a_reason_names_the_rule_and_what_to_do():
    reason = judge_read(family_guard("cisco_ios"), "rel in 5").reason
    assert reason == "`reload` restarts, halts or switches off the device. Stop and start the node in GNS3 instead."


def test_a_second_meaning_is_asked_about():
    assert "telnet, terminal, test" in judge_read(family_guard("cisco_ios"), "te len 0").reason


@pytest.mark.parametrize("family", FAMILIES)
def test_a_thousand_lines_are_judged_at_once(family):
    guard = family_guard(family)
    lines = ([row.line for row in rows(family) if "\n" not in row.line] * 60)[:1000]
    config = next((LINES.parent / "configs").glob(f"{family}-*.txt"), None)
    text = ((config.read_text().splitlines() if config else lines) * 60)[:1000]
    best = limit = 1.0
    for _ in range(5):
        begun = time.process_time()
        for _ in range(1_000_000):
            pass
        # counting so far takes about 25 ms: what else runs on the machine is not the guard's time
        limit = 2 * (time.process_time() - begun)
        begun = time.process_time()
        for line in lines:
            judge_read(guard, line)
        read = time.process_time() - begun
        judge_config(guard, text)
        best = max(read, time.process_time() - begun - read)
        if best < limit:
            break
    assert best < limit
