"""The router as a machine: its adapters, its console and its power, as the QEMU monitor sees them."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path

from gns3server_copilot.demo.devices.console import Console
from gns3server_copilot.demo.devices.wires import UdpWire
from gns3server_copilot.demo.ios.configuration import load
from gns3server_copilot.demo.ios.router import Router
from gns3server_copilot.demo.ios.session import Session
from gns3server_copilot.demo.network.interfaces import Interface

STARTUP_FILE = "startup-config.cfg"

_TICK_SECONDS = 0.1


class RouterMachine:
    """`adapters` are the MAC address and the wire (None: there is none) of each; the Machine of the monitor."""

    def __init__(
        self, name: str, adapters: list[tuple[bytes, UdpWire | None]], console: Console, directory: Path
    ) -> None:
        self.paused = False
        self._name = name
        self._adapters = adapters
        self._console = console
        self._directory = directory
        self._connected = [wire is not None for _, wire in adapters]
        self._router = self._new_router()

    async def run(self) -> None:
        """Play the router until the process ends."""
        for number, (_, wire) in enumerate(self._adapters):
            if wire:
                wire.attach(partial(self._receive, number))
        self._boot()
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            if self._session.done():
                self._session.result()
            if not self.paused:
                self._router.tick()

    def _boot(self) -> None:
        self._session = asyncio.ensure_future(Session(self._router, self._console).run())
        for interface, connected in zip(self._router.interfaces.values(), self._connected, strict=False):
            interface.connected = connected
        try:
            text = self._router.startup_file.read_text(encoding="utf-8")
        except OSError:
            return
        load(self._router, text)

    def _new_router(self) -> Router:
        macs = [mac for mac, _ in self._adapters]
        return Router(self._name, macs, self._transmit, self._directory / STARTUP_FILE)

    def _receive(self, adapter: int, frame: bytes) -> None:
        if not self.paused and self._connected[adapter]:
            self._router.stack.receive(self._port(adapter), frame)

    def _transmit(self, interface: Interface, frame: bytes) -> None:
        wire = self._adapters[int(interface.name.rpartition("/")[2])][1]
        if wire and not self.paused:
            wire.send(frame)

    def _port(self, adapter: int) -> Interface:
        return self._router.interfaces[f"GigabitEthernet0/{adapter}"]

    # --- the monitor's side -----------------------------------------------------------------------------------------

    def set_link(self, adapter: int, connected: bool) -> None:
        if adapter < len(self._adapters):
            self._connected[adapter] = connected
            self._router.set_connected(self._port(adapter), connected)

    def reset(self) -> None:
        """Begin anew from the startup configuration."""
        self._session.cancel()
        self.paused = False
        self._router = self._new_router()
        self._boot()

    def power_off(self) -> None:
        os._exit(0)
