"""Sessions with real programs behind the consoles of GNS3 nodes: FRR, a Linux shell, busybox, VPCS."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from gns3server_copilot.consoles.configuring import configure
from gns3server_copilot.consoles.credentials import StoredCredentials
from gns3server_copilot.consoles.locks import NodeLocks
from gns3server_copilot.consoles.session import Session
from gns3server_copilot.errors import ConsoleError
from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.schemas.family import Family
from tests.ground.console import open_console
from tests.ground.lab import Lab
from tests.ground.shells import served
from tests.ground.waiting import until

SECONDS = 20.0


@dataclass(frozen=True)
class Real:
    """A program, the family it belongs to, and what is typed at it."""

    family: str
    #: a command and a part of its output
    short: tuple[str, str]
    #: a command whose output is long
    long: str
    endless: tuple[str, str]
    wrong: tuple[str, str]
    #: a command, or a line of its configuration, after which the prompt shows another name
    rename: str
    config: tuple[str, ...] = ()
    wrong_config: str = ""
    configure_command: str = ""
    program: tuple[str, ...] = ()


FRR = Real(
    "frr",
    ("show version", "FRRouting"),
    "show running-config",
    ("ping 127.0.0.1", "64 bytes from"),
    ("show nonsense", "% Unknown command"),
    "hostname Core",
    ("interface eth0", "description to R2"),
    "descripton wrong",
    "configure terminal",
)
BASH = Real(
    "linux",
    ("uname", "Linux"),
    "ls -l /usr/bin",
    ("ping -i 0.2 127.0.0.1", "64 bytes from"),
    ("nonsense now", "command not found"),
    "PS1='root@core:~# '",
    program=("bash", "--norc"),
)
BUSYBOX = Real(
    "linux",
    ("uname", "Linux"),
    "ls -l /usr/bin",
    ("ping 127.0.0.1", "bytes from"),
    ("nonsense now", "not found"),
    "PS1='root@core:~# '",
    program=("busybox", "sh"),
)
VPCS = Real(
    "vpcs",
    ("show ip", "10.0.0.1/24"),
    "?",
    ("ping 10.0.0.2 -c 1000", "10.0.0.2 icmp_seq"),
    ("nonsense now", "Bad command"),
    "set pcname Core",
    ("ip 10.0.0.1/24 10.0.0.254",),
    "nonsense",
)

REAL = [
    pytest.param(FRR, marks=pytest.mark.lab("frr"), id="frr"),
    pytest.param(BASH, marks=pytest.mark.lab("cloud"), id="bash"),
    pytest.param(BUSYBOX, marks=pytest.mark.lab("cloud"), id="busybox"),
    pytest.param(VPCS, marks=pytest.mark.lab("vpcs"), id="vpcs"),
]


async def always() -> None:
    """The permission of a superadmin."""


@asynccontextmanager
async def console(real: Real, lab: Lab) -> AsyncIterator[int]:
    """Give the port of the console of a node that runs this program."""
    if real.family == "frr":
        node = await lab.router("R1")
    elif real.family == "vpcs":
        node, other = await lab.vpcs("PC1", "10.0.0.1/24"), await lab.vpcs("PC2", "10.0.0.2/24")
        await lab.link(node, other)
        await lab.start()
        await lab.ping(node, "10.0.0.2")
    else:
        async with served(*real.program) as port:
            node = await lab.cloud("L1", port)
            assert node.console is not None
            yield node.console
            return
    assert node.console is not None
    yield node.console


@asynccontextmanager
async def attached(real: Real, port: int) -> AsyncIterator[Session]:
    """Give a session at a prompt, closed when the block ends."""
    session = Session(packaged_knowledge().of(Family)[real.family], StoredCredentials(), always)
    await session.attach("127.0.0.1", port)
    try:
        await session.ready()
        yield session
    finally:
        await session.close()


@pytest.mark.parametrize("real", REAL)
async def test_a_real_console_passes_what_scripted_ones_do(real: Real, lab: Lab) -> None:
    async with console(real, lab) as port:
        await _commands(real, port)
        await _somebody_types(real, port)
        await _a_stopped_turn(real, port)
        await _many_sessions(real, port)
        await _a_long_command(real, port)
        if real.config:
            await _configuration(real, port)
        if real.configure_command:
            await _somebody_configures(real, port)
            await _a_turn_stopped_while_it_configures(real, port)
        await _a_new_name(real, port)


async def _commands(real: Real, port: int) -> None:
    command, part = real.short
    async with attached(real, port) as session:
        output = await session.run(command, SECONDS)
        assert output.error is None and part in output.text, output
        assert command not in output.text
        first = await session.run(real.long, SECONDS)
        assert "\x1b" not in first.text and "--More--" not in first.text
        again = await session.run(real.long, SECONDS)
        assert first.text.splitlines()[-1] == again.text.splitlines()[-1]
        wrong = await session.run(real.wrong[0], SECONDS)
        assert wrong.error is not None and real.wrong[1] in wrong.text
        stopped = await session.run(real.endless[0], 1.5)
        assert stopped.timed_out and real.endless[1] in stopped.text
        assert part in (await session.run(command, SECONDS)).text


async def _somebody_types(real: Real, port: int) -> None:
    async with attached(real, port) as session, open_console(port) as person:
        person.type("half")
        await person.read_until("half")
        with pytest.raises(ConsoleError, match="busy"):
            await session.run(real.short[0], SECONDS)
        person.type("\b" * 4)
        await asyncio.sleep(0.3)
        assert real.short[1] in (await session.run(real.short[0], SECONDS)).text


async def _a_stopped_turn(real: Real, port: int) -> None:
    session = Session(packaged_knowledge().of(Family)[real.family], StoredCredentials(), always)
    await session.attach("127.0.0.1", port)
    await session.ready()
    running = asyncio.create_task(session.run(real.endless[0], SECONDS))

    async def shown() -> bool:
        return real.endless[1] in "\n".join(session.terminal.screen.last(20))

    await until(shown, SECONDS)
    began = time.monotonic()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await session.close()
    assert time.monotonic() - began < 2.0
    async with attached(real, port) as again:
        assert real.short[1] in (await again.run(real.short[0], SECONDS)).text


async def _a_long_command(real: Real, port: int) -> None:
    word = "long-" * 20  # wider than a terminal; VPCS ends itself after twenty words
    async with attached(real, port) as session:
        output = await session.run(f"echo {word}", SECONDS)
        assert "".join(output.text.split()).count(word) == 1, output  # FRR repeats it in its complaint
        assert real.short[1] in (await session.run(real.short[0], SECONDS)).text


async def _somebody_configures(real: Real, port: int) -> None:
    async with open_console(port) as person:
        person.type(f"{real.configure_command}\r")
        await person.read_until(r"\(config\)#")
        async with attached(real, port) as session:
            assert real.short[1] in (await session.run(real.short[0], SECONDS)).text
            with pytest.raises(ConsoleError, match="Somebody is configuring"):
                await configure(session, real.config, stop_at_error=True, save=False, seconds=SECONDS)
        person.type("exit\r")
        await person.read_until("exit")


async def _a_turn_stopped_while_it_configures(real: Real, port: int) -> None:
    session = Session(packaged_knowledge().of(Family)[real.family], StoredCredentials(), always)
    await session.attach("127.0.0.1", port)
    await session.ready()
    enter = session.rules.configuration.enter
    assert enter is not None
    await session.step(enter)
    await session.type(real.config[0], SECONDS)
    began = time.monotonic()
    await session.close()
    assert time.monotonic() - began < 2.0
    async with attached(real, port) as again:
        assert not again.found_in_config
        assert real.short[1] in (await again.run(real.short[0], SECONDS)).text


async def _a_new_name(real: Real, port: int) -> None:
    async with attached(real, port) as session:
        if real.config:
            await configure(session, [real.rename], stop_at_error=True, save=False, seconds=SECONDS)
        else:
            await session.run(real.rename, SECONDS)
        assert real.short[1] in (await session.run(real.short[0], SECONDS)).text
    async with attached(real, port) as again:
        assert real.short[1] in (await again.run(real.short[0], SECONDS)).text


async def _many_sessions(real: Real, port: int) -> None:
    locks = NodeLocks()

    async def one(number: int) -> str:
        lease = await locks.acquire("node", f"session {number}", SECONDS)
        try:
            async with attached(real, port) as session:
                return (await session.run(real.short[0], SECONDS)).text
        finally:
            lease.release()

    outputs = await asyncio.gather(*(one(number) for number in range(5)))
    assert all(real.short[1] in output for output in outputs)
    assert len(locks) == 0


async def _configuration(real: Real, port: int) -> None:
    async with attached(real, port) as session:
        done = await configure(session, real.config, stop_at_error=True, save=True, seconds=SECONDS)
        assert (done.error, done.saved) == (None, True), done
        if session.rules.running_config is not None:
            assert done.diff is not None and real.config[-1] in done.diff
        lines = [real.config[0], real.wrong_config]
        done = await configure(session, lines, stop_at_error=True, save=False, seconds=SECONDS)
        assert done.error is not None and "Line 2 of 2" in done.error
        assert real.short[1] in (await session.run(real.short[0], SECONDS)).text
