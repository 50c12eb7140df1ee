"""What gns3-server starts in place of VPCS: a scripted PC, from the command line of a VPCS node.

    -p PORT -m MACID -i 1 -F -R -s LOCAL_UDP -c REMOTE_UDP -t 127.0.0.1 [startup.vpc]

The launcher that `home` writes answers `-v` itself and starts this file with `python -IS`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

if __name__ == "__main__":  # started by its path, without site-packages
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from gns3server_copilot.demo.devices.console import Console
from gns3server_copilot.demo.devices.lifetime import live_with_parent
from gns3server_copilot.demo.devices.wires import UdpWire
from gns3server_copilot.demo.network.interfaces import Interface
from gns3server_copilot.demo.pc.host import Host
from gns3server_copilot.demo.pc.session import Session

_FIRST_MAC = 0x005079666800
_TICK_SECONDS = 0.1


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="vpcs", allow_abbrev=False)
    parser.add_argument("-p", dest="port", type=int, required=True, help="console port")
    parser.add_argument("-m", dest="mac_id", type=int, default=0, help="offset of the MAC address")
    parser.add_argument("-s", dest="local_port", type=int, help="local UDP port")
    parser.add_argument("-c", dest="remote_port", type=int, help="remote UDP port")
    parser.add_argument("-t", dest="remote_host", default="127.0.0.1", help="remote host")
    return parser.parse_known_args(arguments)[0]


async def play(arguments: list[str]) -> None:
    """Play the PC until the process ends. Its files are in the current directory."""
    options = parse(arguments)
    console = Console()
    wire = None
    if options.local_port and options.remote_port:
        wire = UdpWire(("127.0.0.1", options.local_port), (options.remote_host, options.remote_port))

    def transmit(_: Interface, frame: bytes) -> None:
        if wire:
            wire.send(frame)

    host = Host((_FIRST_MAC + options.mac_id).to_bytes(6, "big"), transmit, Path.cwd())
    await console.listen("127.0.0.1", options.port)
    if wire:
        wire.attach(lambda frame: host.stack.receive(host.interface, frame))
    session = asyncio.ensure_future(Session(host, console).run())
    while not session.done():
        await asyncio.sleep(_TICK_SECONDS)
        host.stack.tick()
    session.result()


if __name__ == "__main__":
    live_with_parent()
    asyncio.run(play(sys.argv[1:]))
