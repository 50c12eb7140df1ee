"""The throw-away home of the demo's server: its configuration, and the launchers of what plays its devices."""

from __future__ import annotations

import configparser
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from gns3server_copilot.demo import qemu
from gns3server_copilot.demo.pc import commands as pc_commands
from gns3server_copilot.demo.ports import PortBlock

ADMIN = "admin"
PREFIX = "gns3-copilot-demo-"
LAUNCHERS = "scripted-devices"

_PROGRAMS = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Home:
    """The folder with its paths."""

    path: Path

    @property
    def config(self) -> Path:
        return self.path / ".config" / "GNS3" / "3.0" / "gns3_server.conf"

    @property
    def log(self) -> Path:
        return self.path / "gns3server.log"

    @property
    def qemu(self) -> Path:
        """Named as gns3-server wants it: the platform is read off the name."""
        return self.path / LAUNCHERS / "qemu-system-x86_64"

    @property
    def vpcs(self) -> Path:
        return self.path / LAUNCHERS / "vpcs"

    @property
    def ubridge(self) -> Path:
        return self.path / LAUNCHERS / "ubridge"

    def furnish(self, ports: PortBlock, password: str, *, copilot: bool = True) -> None:
        """Write the configuration, with the admin's password, and the launchers."""
        self.qemu.parent.mkdir(parents=True)
        qemu_version = f"QEMU emulator version {qemu.VERSION} (scripted router of the GNS3 Copilot demo)"
        _write_launcher(self.qemu, _PROGRAMS / "qemu.py", "-version", qemu_version)
        # gns3-server wants it beside QEMU; it is run for disk images only, of which there are none.
        _write_executable(self.qemu.with_name("qemu-img"), "exit 1\n")
        vpcs_version = f"Welcome to Virtual PC Simulator, version {pc_commands.VERSION} (scripted)"
        _write_launcher(self.vpcs, _PROGRAMS / "vpcs.py", "-v", vpcs_version)
        _write_launcher(self.ubridge, _PROGRAMS / "ubridge.py")
        _write_config(self.config, self._settings(ports, password, copilot))

    def _settings(self, ports: PortBlock, password: str, copilot: bool) -> dict[str, dict[str, object]]:
        folders = {
            f"{kind}_path": self.path / "GNS3" / kind for kind in ("images", "projects", "appliances", "symbols")
        }
        return {
            "Server": {
                "host": "127.0.0.1",
                "port": ports.http,
                **folders,
                "configs_path": self.path / "GNS3" / "configs",
                "ubridge_path": self.ubridge,
                "console_start_port_range": ports.consoles[0],
                "console_end_port_range": ports.consoles[-1],
                "udp_start_port_range": ports.udp[0],
                "udp_end_port_range": ports.udp[-1],
                "auto_discover_images": False,
                "install_builtin_appliances": False,
                "report_errors": False,
            },
            "Controller": {"default_admin_username": ADMIN, "default_admin_password": password},
            "VPCS": {"vpcs_path": self.vpcs},
            "Qemu": {"enable_hardware_acceleration": False},
            "Copilot": {"enabled": copilot, "topology_tool_everywhere": True},
        }

    def environment(self) -> dict[str, str]:
        """The server's environment: this process's own without what leads to the person's files, keys and settings."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("XDG_", "GNS3_")) and not name.endswith(("_API_KEY", "_proxy", "_PROXY"))
        }
        return kept | {"HOME": str(self.path), "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"}


def _write_config(path: Path, sections: dict[str, dict[str, object]]) -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_dict({section: {k: str(v) for k, v in values.items()} for section, values in sections.items()})
    path.parent.mkdir(parents=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        parser.write(file)


def _write_launcher(path: Path, program: Path, version_option: str = "", version: str = "") -> None:
    """A shell script, because a `#!` line with the interpreter's path fails when that is long or has spaces.

    `exec` keeps the process id, which gns3-server watches. Version questions come at each start of a node: the shell
    answers them faster than Python.
    """
    lines = []
    if version_option:
        lines.append(f'[ "$1" = {version_option} ] && echo {shlex.quote(version)} && exit 0')
    lines.append(f'exec {shlex.quote(sys.executable)} -IS {shlex.quote(str(program))} "$@"')
    _write_executable(path, "\n".join(lines) + "\n")


def _write_executable(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
    path.chmod(0o755)
