"""A stand-in for ubridge that really moves frames, good enough for gns3-server 3.0.x on Linux.

    python -IS ubridge.py -v                       prints the version (gns3-server wants >= 0.9.14)
    python -IS ubridge.py -H HOST:PORT [-d LEVEL]  takes commands, one a line

The data path is real: frames between UDP tunnels, TAP devices and raw interfaces, pcap files, and the five packet
filters with the semantics of ubridge 0.9.19. Docker's and IOU's commands are not there.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

if __name__ == "__main__":  # started by its path, without site-packages
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from gns3server_copilot.demo.devices.lifetime import live_with_parent
from gns3server_copilot.demo.hypervisor.commands import VERSION, Hypervisor


def main(arguments: list[str]) -> int:
    """Run until `hypervisor stop`, SIGTERM or the end of the parent."""
    if "-v" in arguments:
        print(f"ubridge version {VERSION}")
        return 0
    if "-H" not in arguments:
        print(__doc__)
        return 1
    host, _, port = arguments[arguments.index("-H") + 1].rpartition(":")
    live_with_parent()
    listener = socket.create_server((host, int(port)), backlog=5)
    print(f"uBridge stand-in {VERSION} listening on {host}:{port}", flush=True)
    hypervisor = Hypervisor()
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_serve, args=(hypervisor, connection), daemon=True).start()


def _serve(hypervisor: Hypervisor, connection: socket.socket) -> None:
    hypervisor.connected = True
    with connection, connection.makefile("rwb", buffering=0) as stream:
        for raw in stream:
            line = raw.decode("utf-8", "replace").strip()
            if not line:
                continue
            try:
                stream.write(f"{hypervisor.execute(line)}\r\n".encode())
            except OSError:
                return
            if hypervisor.stopping:
                hypervisor.hypervisor_reset()
                os._exit(0)
            if not hypervisor.connected:
                return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
