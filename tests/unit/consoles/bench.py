"""A scripted device of a family in any state, and a session with it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from gns3server_copilot.consoles.credentials import StoredCredentials
from gns3server_copilot.consoles.session import Output, Session
from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.schemas.family import Family
from tests.devices import Device, load_personality, play
from tests.ground.console import open_console
from tests.ground.waiting import until
from tests.unit.consoles.samples import Sample
from tests.unit.consoles.short_samples import ShortSample

SECONDS = 5.0


def family(name: str) -> Family:
    """Give a packaged family."""
    return packaged_knowledge().of(Family)[name]


async def always() -> None:
    """The permission of a superadmin."""


@dataclass
class Bench:
    """A device, and sessions with it."""

    sample: Sample | ShortSample
    device: Device

    def session(self, **credentials: str) -> Session:
        """Give a session that is not attached."""
        return Session(family(self.sample.family), StoredCredentials(**credentials), always)

    @asynccontextmanager
    async def attached(self, **credentials: str) -> AsyncIterator[Session]:
        """Give a session at a prompt; it is closed when the block ends."""
        session = self.session(**credentials)
        await session.attach("127.0.0.1", self.device.port)
        try:
            await session.ready()
            yield session
        finally:
            await session.close()

    async def run(self, command: str, **credentials: str) -> Output:
        """Run one command in a session of its own."""
        async with self.attached(**credentials) as session:
            return await session.run(command, SECONDS)

    async def device_has(self, line: str) -> None:
        """Wait until the device has got this line."""

        async def got() -> bool:
            return line in self.device.lines

        await until(got, SECONDS, every=0.001)

    async def show_to_somebody_else(self) -> None:
        """Let another client take what has been printed, so that the next one sees nothing."""
        async with open_console(self.device.port) as console:
            await console.read_until(r"\S\s*$")


@asynccontextmanager
async def bench(sample: Sample | ShortSample, state: str = "privileged", **changes: Any) -> AsyncIterator[Bench]:
    """Play the family's personality from this state on; upper fields of the personality and variables may differ."""
    personality = load_personality(sample.family)
    fields = {field.name for field in dataclasses.fields(personality)}
    upper = {name: value for name, value in changes.items() if name in fields}
    variables = {name: str(value) for name, value in changes.items() if name not in fields}
    if "states" in upper:
        upper["states"] = {**personality.states, **upper["states"]}
    personality = dataclasses.replace(personality, **{"initial": state, "greeting": "", **upper})
    async with play(personality, **{"hostname": sample.hostname, **variables}) as device:
        yield Bench(sample, device)
