"""Parts of the ground that need no running server: ports, configuration, log reading, the lab's programs."""

from __future__ import annotations

import configparser
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ground import lab_tools
from tests.ground.ports import BLOCK_SIZE, reserve_ports
from tests.ground.server import GNS3Server, merge, write_config
from tests.ground.server_log import records, tail, tracebacks_of_ours

OURS = """2026-01-01 10:00:01 ERROR gns3server_copilot.agent:12 It failed
Traceback (most recent call last):
  File "/x/gns3server_copilot/agent/turn.py", line 3, in run
    raise ValueError("x")
ValueError: x
"""
THEIRS = OURS.replace("gns3server_copilot", "gns3server")
LINE = "2026-01-01 10:00:00 INFO gns3server.server:1 started\n"


def test_blocks_of_ports_do_not_overlap_in_this_or_another_process() -> None:
    blocks = [reserve_ports() for _ in range(5)]
    code = "from tests.ground.ports import reserve_ports; print(*[reserve_ports().start for _ in [1, 2, 3]][:1])"
    blocks_elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    starts = [block.start for block in blocks] + [int(blocks_elsewhere)]
    assert len(set(starts)) == len(starts)
    for block in blocks:
        inside = [block.http, *block.consoles, *block.udp]
        assert inside == sorted(inside) and inside[-1] < block.start + BLOCK_SIZE
        block.release()


def test_a_released_block_can_be_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    free = reserve_ports()  # others run beside this one, and have blocks of their own
    free.release()
    monkeypatch.setattr("tests.ground.ports.FIRST_PORT", free.start)
    monkeypatch.setattr("tests.ground.ports._ephemeral_start", lambda: free.start + BLOCK_SIZE + 1)
    block = reserve_ports()
    with pytest.raises(RuntimeError, match="every block"):
        reserve_ports()
    block.release()
    reserve_ports().release()


def test_a_configuration_is_private_and_may_be_changed_by_a_test(tmp_path: Path) -> None:
    sections: dict[str, dict[str, object]] = {"Server": {"host": "::", "port": 1}}
    merge(sections, {"Server": {"port": 2, "host": None}, "Copilot": {"max_turns": 3}})
    path = tmp_path / "a" / "gns3_server.conf"
    write_config(path, sections)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    parser = configparser.ConfigParser()
    parser.read(path)
    assert {name: dict(parser[name]) for name in parser.sections()} == {
        "Server": {"port": "2"},
        "Copilot": {"max_turns": "3"},
    }


def test_a_log_is_split_into_records_and_our_tracebacks_are_found() -> None:
    assert len(records(LINE + OURS + THEIRS + LINE)) == 4
    assert tracebacks_of_ours(LINE + THEIRS + LINE) == []
    assert tracebacks_of_ours(LINE + THEIRS + OURS + LINE) == [OURS.rstrip("\n")]


def test_a_tail_says_what_it_leaves_out() -> None:
    assert tail("a\nb\nc", 2) == "[1 earlier lines]\nb\nc"
    assert tail("a\nb", 2) == "a\nb"


def test_a_traceback_is_excused_only_while_it_is_expected(tmp_path: Path) -> None:
    server = GNS3Server(tmp_path, copilot=False)
    try:
        with server.log_path.open("a") as log:

            def write(text: str) -> None:
                log.write(text)
                log.flush()

            write(LINE)
            with server.expected_traceback("ValueError: x"):
                write(OURS)
            assert server.unexpected_tracebacks() == []
            with server.expected_traceback("KeyError"):
                write(OURS)
            assert len(server.unexpected_tracebacks()) == 1
            since = server.log_position()
            write(OURS)
            assert len(server.unexpected_tracebacks()) == 2
            assert len(server.unexpected_tracebacks(since)) == 1
            server.expect_traceback("ValueError")
            assert server.unexpected_tracebacks() == []
    finally:
        server.discard()
    assert OURS in server.log()


@pytest.mark.parametrize("part", ["vpcs", "frr", "dynamips"])
def test_what_a_lab_lacks_is_said(part: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lab_tools, "_program", lambda name: None)
    monkeypatch.setattr(lab_tools, "FRR_DAEMONS", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv(lab_tools.UBRIDGE_VARIABLE, "/usr/bin/ubridge")
    reasons = lab_tools.missing((part,))
    assert any("Debian package" in reason for reason in reasons)
    assert any("root" in reason for reason in reasons) == (part == "frr")
    assert lab_tools.missing(("cloud",)) == []


def test_launchers_survive_odd_paths(tmp_path: Path) -> None:
    path = lab_tools.launcher(tmp_path / "with space" / "tool", ["/bin/echo", "it's"], {"NAME": "a 'b'"})
    assert subprocess.run([path, "x y"], capture_output=True, text=True, check=True).stdout == "it's x y\n"
