"""The hypervisor protocol: one command a line, answered by `100-text` or `2xx-text`.

ubridge -v                       prints the version (gns3-server wants >= 0.9.14)
ubridge -H HOST:PORT [-d LEVEL]  listens
"""

from __future__ import annotations

import inspect
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable

from gns3server_copilot.demo.hypervisor.bridge import Bridge, Capture
from gns3server_copilot.demo.hypervisor.filters import FILTERS
from gns3server_copilot.demo.hypervisor.nio import Nio, RawNio, TapNio, UdpNio

VERSION = "0.9.19"

PARSE_ERROR, UNKNOWN_MODULE, UNKNOWN_COMMAND, BAD_PARAMETERS = 200, 201, 202, 203
CREATE_ERROR, START_ERROR, STOP_ERROR, NOT_FOUND = 206, 209, 210, 214

_MODULES = ("hypervisor", "bridge", "brctl")


class CommandFailed(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Hypervisor:
    """One method for each command, named MODULE_COMMAND; it returns the text of the answer or raises CommandFailed."""

    def __init__(self) -> None:
        self.connected = True
        self.stopping = False
        self._bridges: dict[str, Bridge] = {}
        self._lock = threading.Lock()

    def execute(self, line: str) -> str:
        """The answer to one line, without its end."""
        try:
            words = shlex.split(line)
        except ValueError:
            return f"{PARSE_ERROR}-parse error"
        if len(words) < 2:
            return f"{PARSE_ERROR}-At least a module and a command must be specified"
        module, command, *arguments = words
        if module not in _MODULES:
            return f"{UNKNOWN_MODULE}-Unknown module '{module}'"
        method = getattr(self, f"{module}_{command}", None)
        if method is None:
            return f"{UNKNOWN_COMMAND}-Unknown command '{command}'"
        try:
            inspect.signature(method).bind(*arguments)
        except TypeError:
            return f"{BAD_PARAMETERS}-Bad number of parameters ({len(arguments)})"
        try:
            with self._lock:
                return f"100-{method(*arguments)}"
        except CommandFailed as error:
            return f"{error.code}-{error}"

    # --- hypervisor -------------------------------------------------------------------------------------------------

    def hypervisor_version(self) -> str:
        return VERSION

    def hypervisor_close(self) -> str:
        self.connected = False
        return "OK"

    def hypervisor_stop(self) -> str:
        self.connected = False
        self.stopping = True
        return "OK"

    def hypervisor_reset(self) -> str:
        for bridge in self._bridges.values():
            bridge.close()
        self._bridges.clear()
        return "OK"

    # --- bridges ----------------------------------------------------------------------------------------------------

    def _bridge(self, name: str) -> Bridge:
        if name not in self._bridges:
            raise CommandFailed(NOT_FOUND, f"bridge '{name}' doesn't exist")
        return self._bridges[name]

    def bridge_create(self, name: str) -> str:
        if name in self._bridges:
            raise CommandFailed(CREATE_ERROR, f"bridge '{name}' already exist")
        self._bridges[name] = Bridge()
        return f"bridge '{name}' created"

    def bridge_delete(self, name: str) -> str:
        self._bridge(name).close()
        del self._bridges[name]
        return f"bridge '{name}' deleted"

    def bridge_start(self, name: str) -> str:
        bridge = self._bridge(name)
        if bridge.running:
            raise CommandFailed(START_ERROR, f"bridge '{name}' is already running")
        if len(bridge.nios) != 2:
            raise CommandFailed(START_ERROR, f"bridge '{name}' must have 2 NIOs to be started")
        bridge.start()
        return f"bridge '{name}' started"

    def bridge_stop(self, name: str) -> str:
        bridge = self._bridge(name)
        if not bridge.running:
            raise CommandFailed(STOP_ERROR, f"bridge '{name}' is not running")
        bridge.stop()
        return f"bridge '{name}' stopped"

    # --- NIOs -------------------------------------------------------------------------------------------------------

    def bridge_add_nio_udp(self, name: str, local_port: str, remote_host: str, remote_port: str) -> str:
        return self._add_nio(name, "UDP", lambda: UdpNio(int(local_port), remote_host, int(remote_port)))

    def bridge_add_nio_tap(self, name: str, interface: str) -> str:
        return self._add_nio(name, "TAP", lambda: TapNio(interface))

    def bridge_add_nio_linux_raw(self, name: str, interface: str) -> str:
        return self._add_nio(name, "Linux raw", lambda: RawNio(interface))

    def bridge_remove_nio_udp(self, name: str, local_port: str, remote_host: str, remote_port: str) -> str:
        bridge = self._bridge(name)
        for nio in bridge.nios:
            if isinstance(nio, UdpNio) and (str(nio.key[0]), str(nio.key[2])) == (local_port, remote_port):
                nio.close()
                bridge.nios.remove(nio)
                return f"NIO UDP removed from bridge '{name}'"
        raise CommandFailed(NOT_FOUND, f"UDP nio missing in '{name}'")

    def _add_nio(self, name: str, kind: str, make: Callable[[], Nio]) -> str:
        bridge = self._bridge(name)
        if len(bridge.nios) == 2:
            raise CommandFailed(CREATE_ERROR, f"bridge '{name}' has already 2 allocated NIOs")
        try:
            bridge.nios.append(make())
        except (OSError, ValueError) as error:
            print(f"{kind}: {error}", file=sys.stderr, flush=True)
            raise CommandFailed(CREATE_ERROR, f"unable to create NIO {kind} for bridge '{name}'") from error
        return f"NIO {kind} added to bridge '{name}'"

    def brctl_addif(self, bridge: str, interface: str) -> str:
        done = subprocess.run(["ip", "link", "set", interface, "master", bridge], capture_output=True, text=True)
        if done.returncode:
            raise CommandFailed(CREATE_ERROR, done.stderr.strip() or "ip failed")
        return f"{interface} added to {bridge}"

    # --- captures and filters ---------------------------------------------------------------------------------------

    def bridge_start_capture(self, name: str, path: str, link_type: str = "EN10MB") -> str:
        bridge = self._bridge(name)
        if bridge.capture:
            raise CommandFailed(START_ERROR, f"packet capture is already active on bridge '{name}'")
        try:
            bridge.capture = Capture(path)
        except OSError as error:
            raise CommandFailed(START_ERROR, f"packet capture could not be started on bridge '{name}'") from error
        return f"packet capture started on bridge '{name}'"

    def bridge_stop_capture(self, name: str) -> str:
        bridge = self._bridge(name)
        if bridge.capture is None:
            raise CommandFailed(START_ERROR, f"no packet capture active on bridge '{name}'")
        capture, bridge.capture = bridge.capture, None
        capture.close()
        return f"packet capture stopped on bridge '{name}'"

    def bridge_add_packet_filter(self, name: str, filter_name: str, kind: str = "", *arguments: str) -> str:
        bridge = self._bridge(name)
        if filter_name in bridge.filters or kind not in FILTERS:
            raise CommandFailed(CREATE_ERROR, f"Failed to add filter '{filter_name}'")
        packet_filter = FILTERS[kind]()
        # As in ubridge, a filter that cannot be set up is answered with an error and stays in place.
        ready = packet_filter.set_up(list(arguments))
        bridge.filters = {**bridge.filters, filter_name: packet_filter}
        if not ready:
            raise CommandFailed(CREATE_ERROR, f"Failed to add filter '{filter_name}'")
        return f"Filter '{filter_name}' type '{kind}' added to bridge '{name}'"

    def bridge_reset_packet_filters(self, name: str) -> str:
        self._bridge(name).filters = {}
        return "OK"
