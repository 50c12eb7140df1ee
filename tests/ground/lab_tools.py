"""The programs that a lab needs: which are there, and how gns3-server is told of them.

Parts of a lab, as the `lab` marker names them:
    cloud       cloud nodes with a remote console: scripted devices in a project; no root needed
    vpcs        virtual PCs (Debian's vpcs) and packet filters of every kind (libpcap); no root needed
    frr         routers: FRR in network namespaces; root
    dynamips    Ethernet switches and hubs
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from gns3server_copilot.demo import qemu

LAB_FOLDER = Path(__file__).parent.parent / "lab"
VPCS_WRAPPER = LAB_FOLDER / "vpcs_wrapper.py"
FRR_DAEMONS = Path("/usr/lib/frr")
#: Another ubridge than the stand-in, the genuine one say.
UBRIDGE_VARIABLE = "COPILOT_UBRIDGE"
UBRIDGE_MODULE = "gns3server_copilot.demo.ubridge"
ALL_PARTS = ("cloud", "vpcs", "frr", "dynamips")


def missing(parts: tuple[str, ...] = ALL_PARTS) -> list[str]:
    """Say, one sentence each, what is absent for these parts of a lab; empty when all is there."""
    reasons = []
    if sys.platform != "linux":
        reasons.append("a lab needs Linux")
    if ubridge() is None:
        reasons.append(f"there is no ubridge: {UBRIDGE_MODULE} cannot be found and {UBRIDGE_VARIABLE} names none")
    for part in parts:
        reasons += CHECKS[part]()
    return reasons


def compute_settings(folder: Path) -> dict[str, dict[str, object]]:
    """Give the sections of gns3_server.conf that name the lab's programs; launchers for them are made in `folder`."""
    settings: dict[str, dict[str, object]] = {}
    ubridge_command = ubridge()
    if ubridge_command is not None:
        settings["Server"] = {"ubridge_path": launcher(folder / "ubridge", ubridge_command)}
    vpcs = _program("vpcs")
    if vpcs is not None:
        command = [sys.executable, "-IS", str(VPCS_WRAPPER)]
        settings["VPCS"] = {"vpcs_path": launcher(folder / "vpcs", command, {"VPCS_REAL": vpcs})}
    dynamips = _program("dynamips")
    if dynamips is not None:
        settings["Dynamips"] = {"dynamips_path": dynamips}
    return settings


def scripted_qemu(folder: Path) -> Path:
    """Make a program in `folder` that gns3-server takes for QEMU, and give it: every machine is the demo's router.

    A node of it needs its absolute path as `qemu_path` and no disk image; it shows a prompt as soon as it is started.
    """
    version = "QEMU emulator version 7.2.9 (scripted router)"
    program = launcher(folder / "qemu-system-x86_64", [sys.executable, "-IS", qemu.__file__])
    shell, command = program.read_text().split("\n", 1)
    program.write_text(f'{shell}\n[ "$1" = -version ] && echo "{version}" && exit 0\n{command}')
    # gns3-server wants it there; it is run for disk images only, of which there are none
    launcher(folder / "qemu-img", ["false"])
    return program


def ubridge() -> list[str] | None:
    """Give the command line of ubridge: the one that the environment names, else the stand-in of the demo."""
    named = os.environ.get(UBRIDGE_VARIABLE)
    if named:
        return [named]
    try:
        spec = importlib.util.find_spec(UBRIDGE_MODULE)
    except ModuleNotFoundError:
        return None
    if spec is None or spec.origin is None:
        return None
    return [sys.executable, "-IS", spec.origin]


def _check_cloud() -> list[str]:
    return []  # ubridge alone, which every lab needs


def _check_vpcs() -> list[str]:
    reasons = []
    if _program("vpcs") is None:
        reasons.append("vpcs is not installed (Debian package vpcs)")
    try:
        ctypes.CDLL("libpcap.so.0.8")
    except OSError:
        reasons.append("libpcap is not installed (Debian package libpcap0.8)")
    return reasons


def _check_frr() -> list[str]:
    reasons = []
    if os.geteuid() != 0:
        reasons.append("routers need network namespaces, and so root")
    if not (FRR_DAEMONS / "ospfd").exists():
        reasons.append(f"there is no FRR in {FRR_DAEMONS} (Debian package frr)")
    needed = {"vtysh": "frr", "ip": "iproute2", "ping": "iputils-ping"}
    needed |= dict.fromkeys(("nsenter", "setpriv", "unshare"), "util-linux")
    reasons += [
        f"{program} is not installed (Debian package {package})"
        for program, package in needed.items()
        if _program(program) is None
    ]
    return reasons


def _check_dynamips() -> list[str]:
    if _program("dynamips") is None:
        return ["dynamips is not installed (Debian package dynamips, component non-free)"]
    return []


CHECKS = {"cloud": _check_cloud, "vpcs": _check_vpcs, "frr": _check_frr, "dynamips": _check_dynamips}


def _program(name: str) -> str | None:
    # Debian keeps some of them out of a normal user's path.
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def launcher(path: Path, command: list[str], environment: Mapping[str, str] | None = None) -> Path:
    """Make a program at `path` that runs `command` with its own arguments behind, and give the path."""
    # A shell script, since a "#!" line takes neither long paths nor spaces.
    path.parent.mkdir(parents=True, exist_ok=True)
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in (environment or {}).items())
    path.write_text(f'#!/bin/sh\n{exports}exec {shlex.join(command)} "$@"\n')
    path.chmod(0o755)
    return path
