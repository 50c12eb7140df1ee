"""The console of the router, typed at through a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gns3server_copilot.demo.devices.console import Console
from gns3server_copilot.demo.ios.session import Session
from tests.unit.demo.bench import Bench, router_config
from tests.unit.demo.typist import Typist, typing_on

INVALID = "% Invalid input detected at '^' marker."


@asynccontextmanager
async def typist(bench: Bench, *, enabled: bool = True) -> AsyncIterator[Typist]:
    router = bench.routers.get("R1") or bench.add_router("R1", router_config(1))
    console = Console()
    async with typing_on(console, Session(router, console).run()) as person:
        await person.see("Press RETURN to get started.\r\n\r\n")
        person.press("\r")
        await person.see("R1>")
        if enabled:
            await person.run("enable", "R1#")
        yield person


async def test_newcomer_reads_that_the_router_is_scripted(bench: Bench):
    console = Console()
    async with typing_on(console, Session(bench.add_router("R1"), console).run()) as person:
        assert "Scripted router of the GNS3 Copilot demo" in await person.see("Press RETURN to get started.")


async def test_modes_and_their_prompts(bench: Bench):
    async with typist(bench, enabled=False) as person:
        await person.run("en", "R1#")
        assert "End with CNTL/Z." in await person.run("conf t", "R1(config)#")
        await person.run("int gi0/0", "R1(config-if)#")
        await person.run("router ospf 1", "R1(config-router)#")
        await person.run("exit", "R1(config)#")
        await person.run("hostname Core", "Core(config)#")
        await person.run("end", "Core#")
        await person.run("disable", "Core>")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("show ip", "% Incomplete command.\n\n"),
        ("sh i", '% Ambiguous command:  "sh i"\n\n'),
        ("ping 10.0.12.1 repeat 0", " " * len("R1#ping 10.0.12.1 repeat ") + f"^\n{INVALID}\n\n"),
        ("", ""),
        ("! a remark", ""),
    ],
)
async def test_errors_are_those_of_ios(bench: Bench, line: str, answer: str):
    async with typist(bench) as person:
        assert await person.run(line, "R1#") == answer


async def test_mark_stands_below_the_wrong_word(bench: Bench):
    async with typist(bench) as person:
        assert await person.run("show versoin", "R1#") == " " * len("R1#show ") + f"^\n{INVALID}\n\n"
        await person.run("configure terminal", "R1(config)#")
        printed = await person.run("do show versoin", "R1(config)#")
        assert printed == " " * len("R1(config)#do show ") + f"^\n{INVALID}\n\n"


async def test_user_mode_has_no_privileged_commands(bench: Bench):
    async with typist(bench, enabled=False) as person:
        assert INVALID in await person.run("show running-config", "R1>")
        assert INVALID in await person.run("configure terminal", "R1>")
        assert "uptime" in await person.run("show version", "R1>")


async def test_do_shows_inside_configuration(bench: Bench):
    async with typist(bench) as person:
        await person.run("conf t", "R1(config)#")
        await person.run("int gi0/1", "R1(config-if)#")
        assert "10.0.12.1" in await person.run("do show ip interface brief", "R1(config-if)#")
        assert INVALID in await person.run("show ip interface brief", "R1(config-if)#")


@pytest.mark.parametrize("key", ["\x1a", "\x03"], ids=["Ctrl-Z", "Ctrl-C"])
async def test_keys_that_leave_configuration(bench: Bench, key: str):
    async with typist(bench) as person:
        await person.run("conf t", "R1(config)#")
        await person.run("int gi0/1", "R1(config-if)#")
        person.press(key)
        assert "%SYS-5-CONFIG_I: Configured from console by console" in await person.see("R1#")


async def test_log_line_leaves_what_is_typed_when_logging_is_synchronous(bench: Bench):
    async with typist(bench) as person:
        bench.routers["R1"].logging_synchronous = True
        person.press("show cl")
        await person.see("show cl")
        bench.routers["R1"].log("%TEST-5-LINE: something happened")
        assert "%TEST-5-LINE" in await person.see("R1#show cl")
        person.press("ock\r")
        assert "UTC" in await person.see("R1#")


async def test_long_output_is_paged(bench: Bench):
    async with typist(bench) as person:
        person.press("show running-config\r")
        first = await person.see(" --More-- ")
        assert first.count("\r\n") == 1 + 23
        person.press("\r")
        assert (await person.see(" --More-- ")).count("\r\n") == 1
        person.press(" ")
        page = await person.see(" --More-- ")
        assert page.startswith("\b" * 9 + " " * 8 + "\b" * 9) and page.count("\r\n") == 23
        person.press("q")
        await person.see("R1#")
        await person.run("terminal length 0", "R1#")
        assert (await person.run("show running-config", "R1#")).rstrip().endswith("end")


async def test_pipes(bench: Bench):
    async with typist(bench) as person:
        await person.run("terminal length 0", "R1#")
        assert await person.run("show run | include hostname", "R1#") == "hostname R1\n"
        assert (await person.run("sh run | s router ospf", "R1#")).startswith("router ospf 1\n passive-interface")
        assert (await person.run("show run | begin line con", "R1#")).startswith("line con 0")
        assert "hostname" not in await person.run("show run | exclude hostname", "R1#")
        assert INVALID in await person.run("show run | frobnicate x", "R1#")
        assert "Incomplete" in await person.run("show run | include", "R1#")


async def test_written_configuration_is_kept(bench: Bench):
    async with typist(bench) as person:
        await person.run("conf t", "R1(config)#")
        await person.run("hostname Core", "Core(config)#")
        await person.run("end", "Core#")
        assert "[OK]" in await person.run("write memory", "Core#")
        assert "hostname Core" in bench.routers["R1"].startup_file.read_text()
        person.press("copy run start\r")
        await person.see("Destination filename [startup-config]? ")
        person.press("\r")
        assert "[OK]" in await person.see("Core#")


async def test_ping_and_trace_of_the_own_address(bench: Bench):
    async with typist(bench) as person:
        answer = await person.run("ping 10.0.12.1", "R1#")
        assert "!!!!!" in answer and "Success rate is 100 percent (5/5), round-trip min/avg/max = 1/1/1 ms" in answer
        answer = await person.run("ping 10.0.12.1 size 200 repeat 2 source lo0 timeout 1", "R1#")
        assert "Sending 2, 200-byte" in answer and "Packet sent with a source address of 1.1.1.1" in answer
        assert "Success rate is 0 percent (0/5)" in await person.run("ping 9.9.9.9", "R1#")


@pytest.mark.parametrize("key", ["\x1e", "\x03"], ids=["Ctrl-Shift-6", "Ctrl-C"])
async def test_ping_is_interrupted(bench: Bench, key: str):
    async with typist(bench) as person:
        person.press("ping 10.0.12.77 repeat 1000\r")
        await person.see("2 seconds:\r\n")
        person.press(key)
        await person.see("R1#")


async def test_exit_of_the_top_level_logs_out(bench: Bench):
    async with typist(bench) as person:
        person.press("exit\r")
        await person.see("R1 con0 is now available\r\n")
        await person.see("Press RETURN to get started.\r\n\r\n")
        person.press("\r")
        await person.see("R1>")


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\r\0"])
async def test_every_line_end_is_one_return(bench: Bench, end: str):
    async with typist(bench) as person:
        person.press(f"show clock{end}show clock{end}")
        seen = await person.see("R1#")
        seen += await person.see("R1#")
        assert seen.count("UTC") == 2
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(person.see("R1#"), 0.1)


async def test_line_is_edited(bench: Bench):
    async with typist(bench) as person:
        person.press("shoq\x7fw clocks\b\x1b[D\r")
        assert "UTC" in await person.see("R1#")
        person.press("rubbish\x15show clock\r")
        assert "UTC" in await person.see("R1#")
