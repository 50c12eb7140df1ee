"""The console of the PC, typed at through a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import IPv4Address as address
from pathlib import Path

import pytest

from gns3server_copilot.demo.devices.console import Console
from gns3server_copilot.demo.network.frames import ARP_REPLY, Arp
from gns3server_copilot.demo.pc.host import Host
from gns3server_copilot.demo.pc.session import Session
from tests.unit.demo.typist import Typist, typing_on

PROMPT = "\r\n\rPC1> "


@asynccontextmanager
async def typist(folder: Path, startup: str = "set pcname PC1\n") -> AsyncIterator[tuple[Typist, Host]]:
    (folder / "startup.vpc").write_text(startup)
    host = Host(bytes.fromhex("005079666800"), lambda interface, frame: None, folder)
    console = Console()
    async with typing_on(console, Session(host, console).run()) as person:
        await person.see("PC1> ")
        yield person, host


async def test_address_is_set_after_the_check_for_duplicates(tmp_path: Path):
    async with typist(tmp_path) as (person, host):
        printed = await person.run("ip 10.0.0.1/24 10.0.0.254", PROMPT)
        assert printed == ("Checking for duplicate address...\nPC1 : 10.0.0.1 255.255.255.0 gateway 10.0.0.254\n")
        assert str(host.interface.address) == "10.0.0.1/24"


@pytest.mark.parametrize(
    ("line", "address"),
    [
        ("ip 10.0.0.1", "10.0.0.1/24"),
        ("ip 10.0.0.1 16", "10.0.0.1/16"),
        ("ip 10.0.0.1 255.255.0.0", "10.0.0.1/16"),
        ("ip 10.0.0.1 10.0.0.254 25", "10.0.0.1/25"),
        ("ip 10.0.0.1/30 10.0.0.2", "10.0.0.1/30"),
    ],
)
async def test_forms_of_ip(tmp_path: Path, line: str, address: str):
    async with typist(tmp_path) as (person, host):
        await person.run(line, PROMPT)
        assert str(host.interface.address) == address


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("frobnicate", 'Bad command: "frobnicate". Use ? for help.'),
        ("ip 10.0.0.999", "Cannot resolve 10.0.0.999"),
        ("ip 10.0.0.1/99", "Invalid address"),
        ("ping", "Incomplete command."),
        ("ping 10.0.0.1 -z", "Invalid option -z"),
        ("ping 10.0.0.1", "host (10.0.0.1) not reachable"),
        ("set pcname", "Invalid arguments"),
    ],
)
async def test_wrong_commands(tmp_path: Path, line: str, answer: str):
    async with typist(tmp_path) as (person, _):
        assert (await person.run(line, PROMPT)).strip() == answer


async def test_used_address_is_refused(tmp_path: Path):
    async with typist(tmp_path) as (person, host):
        other = bytes.fromhex("020000000009")
        person.press("ip 10.0.0.1/24\r")
        await person.see("Checking for duplicate address...\r\n")
        reply = Arp(ARP_REPLY, other, address("10.0.0.1"), host.interface.mac, address("0.0.0.0"))
        for listener in host.stack.arp_listeners:
            listener(host.interface, reply)
        assert "10.0.0.1 is being used by MAC 02:00:00:00:00:09" in await person.see(PROMPT)
        assert host.interface.address is None


async def test_ping_of_the_own_address(tmp_path: Path):
    async with typist(tmp_path) as (person, _):
        await person.run("ip 10.0.0.1/24", PROMPT)
        printed = await person.run("ping 10.0.0.1 -c 2 -i 10", PROMPT)
        assert printed.count("84 bytes from 10.0.0.1 icmp_seq=") == 2


async def test_ping_without_end_is_interrupted(tmp_path: Path):
    async with typist(tmp_path) as (person, _):
        await person.run("ip 10.0.0.1/24", PROMPT)
        person.press("ping 10.0.0.1 -t -i 10\r")
        await person.see("icmp_seq=3")
        person.press("\x03")
        await person.see(PROMPT)


async def test_of_pasted_lines_only_the_first_is_executed(tmp_path: Path):
    async with typist(tmp_path) as (person, host):
        person.press("ip 10.0.0.1/24\rip 10.0.0.2/24\rip 10.0.0.3/24\r")
        await person.see(PROMPT)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(person.see(PROMPT), 0.5)
        assert str(host.interface.ip) == "10.0.0.1"


async def test_saved_state_comes_back(tmp_path: Path):
    async with typist(tmp_path) as (person, _):
        await person.run("ip 10.0.0.1/24 10.0.0.254", PROMPT)
        assert "done" in await person.run("save", PROMPT)
    saved = (tmp_path / "startup.vpc").read_text()
    async with typist(tmp_path, saved) as (_, host):
        assert (str(host.interface.address), str(host.gateway)) == ("10.0.0.1/24", "10.0.0.254")


async def test_show_ip(tmp_path: Path):
    async with typist(tmp_path) as (person, _):
        printed = await person.run("show ip", PROMPT)
        assert "NAME        : PC1[1]\n" in printed and "MAC         : 00:50:79:66:68:00\n" in printed
