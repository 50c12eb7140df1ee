"""Scripted devices: one telnet server in asyncio; what it plays is a personality, a YAML file.

    async with play("cisco_ios", hostname="R1") as device:
        ...connect to device.port...
        device.emit("\\r\\n%LINK-3-UPDOWN: Interface Gi0/0, changed state to up\\r\\n")
        assert device.lines == ["show version"]

In a GNS3 project: `await lab.cloud("R1", device.port)`.
"""

from tests.devices.device import Device, play
from tests.devices.personality import Personality, load_personality

__all__ = ["Device", "Personality", "load_personality", "play"]
