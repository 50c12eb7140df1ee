"""The scripted telnet device, looked at through the client library that the copilot uses."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from tests.devices import Device, load_personality, play
from tests.devices.grammar import find_command
from tests.devices.personality import Command, Personality
from tests.devices.telnet import DO, DONT, IAC, SB, SE, WILL, WONT, TelnetDecoder
from tests.ground.console import Console, open_console
from tests.ground.waiting import until


async def wake(console: Console) -> None:
    """Go from the boot message to the prompt, paging off."""
    await console.wake()
    await console.run("terminal length 0")


async def test_a_prompt_comes_after_return_and_commands_may_be_shortened() -> None:
    async with play("cisco_ios", hostname="R1") as device, open_console(device.port) as console:
        assert "Press RETURN" in await console.read_until("started")
        await wake(console)
        assert "Cisco IOS Software" in await console.run("sh ver")
        assert "GigabitEthernet0/0" in await console.run("sh ip int br")
        assert device.lines == ["terminal length 0", "sh ver", "sh ip int br"]


async def test_wrong_lines_get_the_devices_own_complaints() -> None:
    async with play("cisco_ios") as device, open_console(device.port) as console:
        await wake(console)
        assert "% Invalid input" in await console.run("show nonsense")
        assert "% Incomplete command" in await console.run("show ip")
        assert await console.run("") == ""


def test_a_shortened_line_that_fits_two_commands_is_ambiguous_unless_one_fits_better() -> None:
    commands = [(words, Command(command=words)) for words in ("show run", "show running", "show route")]
    assert find_command("show r", commands, abbreviations=True).problem == "ambiguous"
    assert find_command("sh run", commands, abbreviations=True).command == commands[0][1]
    assert find_command("show runn", commands, abbreviations=True).command == commands[1][1]
    assert find_command("sh run", commands, abbreviations=False).problem == "unknown"


async def test_configuration_is_kept_and_shown() -> None:
    async with play("cisco_ios", hostname="R1") as device, open_console(device.port) as console:
        await wake(console)
        for line in ("enable", "conf t", "interface g0/1", "ip address 10.9.0.1 255.255.255.0", "no shutdown"):
            await console.run(line)
        assert device.state == "config_if"
        assert "Version 15.9" in await console.run("do show version")
        await console.run("hostname Core")
        console.type("\x1a")
        await console.read_until("Core#$")
        assert "interface g0/1\nip address 10.9.0.1" in await console.run("show running-config")
        assert device.config == ["interface g0/1", "ip address 10.9.0.1 255.255.255.0", "no shutdown"]


async def test_long_output_stops_at_the_pager_until_a_key_is_pressed() -> None:
    async with play("cisco_ios") as device, open_console(device.port) as console:
        await console.wake()
        await console.run("enable")
        console.type("show running-config\r")
        first = await console.read_until("--More-- $")
        assert first.count("\n") == 24
        console.type("\r")
        assert (await console.read_until("--More-- $")).count("\n") == 1
        console.type(" ")
        assert "end" in await console.read_until("Router#$")
        console.type("show running-config\r")
        await console.read_until("--More-- $")
        console.type("q")
        assert "end" not in await console.read_until("Router#$")


async def test_a_password_is_asked_without_echo_and_not_for_ever() -> None:
    secret = {"enable_state": "enable_password", "enable_password": "open sesame"}
    async with play("cisco_ios", **secret) as device, open_console(device.port) as console:
        await wake(console)
        console.type("enable\r")
        await console.read_until("Password: $")
        for _ in range(3):
            console.type("guess\r")
        assert "guess" not in await console.read_until("Bad secrets\r\n\r\nRouter>$")
        console.type("enable\r")
        await console.read_until("Password: $")
        console.type("open sesame\r")
        await console.read_until("Router#$")


async def test_a_question_takes_one_key_and_returns_to_where_it_was_asked() -> None:
    async with play("cisco_ios") as device, open_console(device.port) as console:
        await wake(console)
        await console.run("enable")
        console.type("reload\r")
        await console.read_until("confirm\\]$")
        console.type("n")
        await console.read_until("Router#$")
        console.type("copy run start\r")
        await console.read_until("\\? $")
        console.type("\r")
        assert "[OK]" in await console.read_until("Router#$")


async def test_an_endless_output_ends_with_a_break_key() -> None:
    async with play("cisco_ios") as device, open_console(device.port) as console:
        await wake(console)
        console.type("traceroute 10.0.0.9\r")
        await console.read_until(" 2 ")
        console.type("\x1e")
        assert " 30 " not in await console.read_until("Router>$")


async def test_all_clients_share_the_console_and_none_misses_what_was_printed_meanwhile() -> None:
    async with play("cisco_ios", hostname="R1") as device:
        async with open_console(device.port) as first, open_console(device.port) as second:
            await first.wake()
            await second.read_until("R1>$")
            first.type("show clock\r")
            await second.read_until("UTC")
        await until(lambda: _nobody_is_connected(device))
        device.emit("\n%LINK-3-UPDOWN: Interface GigabitEthernet0/1, changed state to up\n")
        async with open_console(device.port) as late:
            await late.read_until("LINK-3-UPDOWN")


async def _nobody_is_connected(device: Device) -> bool:
    return device.clients == 0


async def test_typing_is_edited_with_backspace_and_kept_while_the_device_is_busy() -> None:
    async with play("cisco_ios") as device, open_console(device.port) as console:
        await wake(console)
        console.type("ping 10.0.0.2\rshow clocj\x08k\r")
        await console.read_until("UTC[^>]*>$")
        assert device.lines[-2:] == ["ping 10.0.0.2", "show clock"]


@pytest.mark.parametrize(
    ("enter", "sent", "counts"),
    [
        ("CR", "\r", True),
        ("CR", "\n", False),
        ("LF", "\n", True),
        ("LF", "\r", False),
        ("CRLF", "\r\n", True),
        ("CRLF", "\r", False),
        ("CRNUL", "\r\0", True),
    ],
)
async def test_only_the_devices_own_enter_counts(enter: str, sent: str, counts: bool) -> None:
    personality = dataclasses.replace(load_personality("cisco_ios"), enter=(enter,))
    async with play(personality) as device:
        reader, writer = await asyncio.open_connection("127.0.0.1", device.port)
        writer.write(sent.encode() + b"\x05")
        await reader.readuntil(b"started.")
        if counts:
            await reader.readuntil(b"Router>")
        else:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.readuntil(b"Router>"), 0.1)
        writer.close()


async def test_a_node_that_ends_breaks_its_connections() -> None:
    async with play("cisco_ios") as device, open_console(device.port) as console:
        await console.wake()
        device.disconnect()
        with pytest.raises(ConnectionError):
            await console.read_until("never")


async def test_telnet_commands_inside_the_output_do_not_reach_a_client_as_text() -> None:
    async with play("cisco_ios") as device, open_console(device.port) as console:
        await wake(console)
        device.emit_raw(b"be\xff\xf1fore")
        assert "before" in await console.read_until("fore$")


def test_commands_are_taken_out_of_typing_however_they_are_cut() -> None:
    sent = bytes([97, IAC, WILL, 31, IAC, SB, 31, 0, 80, IAC, IAC, 24, IAC, SE, IAC, IAC, IAC, DO, 34, 98])
    for size in range(1, len(sent) + 1):
        decoder = TelnetDecoder()
        parts = [decoder.feed(sent[at : at + size]) for at in range(0, len(sent), size)]
        assert b"".join(typed for typed, _ in parts) == b"a\xffb"
        assert b"".join(answer for _, answer in parts) == bytes([IAC, DONT, 31, IAC, WONT, 34])


def test_a_personality_that_goes_nowhere_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tests.devices.personality.FOLDER", tmp_path)
    (tmp_path / "lost.yaml").write_text("initial: start\nstates: {start: {otherwise: {go: nowhere}}}\n")
    with pytest.raises(ValueError, match="nowhere"):
        load_personality("lost")
    (tmp_path / "typo.yaml").write_text("initial: start\nstates: {start: {promt: x}}\n")
    with pytest.raises(ValueError, match="promt"):
        load_personality("typo")


def test_every_personality_loads() -> None:
    assert isinstance(load_personality("cisco_ios"), Personality)
