"""What people do every day passes: show commands and whole configurations."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

import pytest

from gns3server_copilot.consoles.guard import judge_config, judge_read, judge_vpcs
from tests.unit.consoles.guard.tables import family_guard

HERE = Path(__file__).parent
EVERYDAY = sorted((HERE / "everyday").glob("*.txt"))
CONFIGS = sorted((HERE / "configs").glob("*.txt"))
IN_DEPTH = {
    "cisco_ios",
    "arista_eos",
    "juniper_junos",
    "huawei_vrp",
    "mikrotik_routeros",
    "frr",
    "linux",
    "vpcs",
    "generic",
}
REAL_TEXTS = Path(os.environ.get("COPILOT_TEST_DATA", "../shared/data")) / "consoles"
#: The index's names of systems that are ours under another name.
FAMILIES = {
    "cisco_iosxe": "cisco_xe",
    "hp_comware": "h3c_comware",
    "vyatta_vyos": "vyos",
    "cisco_ios+vpcs": "cisco_ios",
}
#: Commands of a whole session's kind, or what stands in the index for one.
NO_COMMAND = re.compile(r"login|session|session log|multiple|reload|reload/boot|console .*|show \.\.\. .*")


@pytest.mark.parametrize("path", EVERYDAY, ids=lambda path: path.stem)
def test_everyday_commands_are_read(path):
    guard = family_guard(path.stem)
    verdicts = [judge_read(guard, line) for line in path.read_text().splitlines()]
    assert [verdict for verdict in verdicts if not verdict.allowed] == []


def test_there_are_many_everyday_commands():
    assert {path.stem for path in EVERYDAY} >= IN_DEPTH
    assert sum(len(path.read_text().splitlines()) for path in EVERYDAY) > 600


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_whole_configuration_passes(path):
    guard = family_guard(path.stem.split("-")[0])
    text = path.read_text()
    if path.stem.startswith("vpcs"):
        verdicts = [judge_vpcs(guard, line) for line in text.splitlines()]
    else:
        verdicts = judge_config(guard, text)
    assert [verdict for verdict in verdicts if not verdict.allowed] == []
    assert len(verdicts) == len(text.split("\n")) - text.split("\n").count("")


def test_each_family_proved_in_depth_has_a_configuration():
    assert {path.stem.split("-")[0] for path in CONFIGS} >= IN_DEPTH


@pytest.mark.skipif(not REAL_TEXTS.is_dir(), reason=f"no real device texts in {REAL_TEXTS}; set COPILOT_TEST_DATA")
def test_commands_of_real_sessions_are_read():
    with (REAL_TEXTS / "INDEX.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    families = {path.stem for path in EVERYDAY}
    commands = {(FAMILIES.get(row["os"], row["os"]), row["command"].strip()) for row in rows}
    # a ping of the index has lost its address
    judged = {
        (family, command): judge_read(family_guard(family), command)
        for family, command in sorted(commands)
        if family in families and not NO_COMMAND.fullmatch(command) and command != "ping"
    }
    assert len(judged) > 50
    assert {key: verdict for key, verdict in judged.items() if not verdict.allowed} == {}
