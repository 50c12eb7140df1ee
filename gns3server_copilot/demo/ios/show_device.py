"""Texts of the show commands about the router itself and its interfaces."""

from __future__ import annotations

from datetime import UTC, datetime

from gns3server_copilot.demo.ios.router import LOG_LINES, Router, cisco_mac, timestamp
from gns3server_copilot.demo.ios.running_config import interface_config, running_config
from gns3server_copilot.demo.network.interfaces import Interface


def version(router: Router) -> str:
    """States first that the device is scripted; what follows has the lines that tools look for."""
    ports = sum(1 for interface in router.interfaces.values() if not interface.loopback)
    return f"""\
Cisco IOS-like Software, scripted device of the GNS3 Copilot demo, Version 15.9(0)DEMO, no Cisco software
No emulator runs: a small Python program plays this router.

ROM: none

{router.hostname} uptime is {_uptime(router)}
System returned to ROM by power-on
System image file is "flash0:/scripted-router"
Last reload reason: Unknown reason

Scripted (demo) processor with 16384K/0K bytes of memory.
Processor board ID SCRIPTED
{ports} Gigabit Ethernet interfaces

Configuration register is 0x0"""


def _uptime(router: Router) -> str:
    minutes = int(router.stack.clock() - router.booted) // 60
    parts = {"day": minutes // 1440, "hour": minutes // 60 % 24, "minute": minutes % 60}
    named = [f"{count} {unit}{'' if count == 1 else 's'}" for unit, count in parts.items() if count]
    return ", ".join(named) or "0 minutes"


def clock(router: Router) -> str:
    now = datetime.now(UTC)
    return f"*{now:%H:%M:%S}.{now.microsecond // 1000:03} UTC {now:%a %b} {now.day} {now:%Y}"


def logging(router: Router) -> str:
    console = "level debugging" if router.logging_console else "disabled"
    heading = (
        f"Syslog logging: enabled\n    Console logging: {console}\n    Buffer logging: level debugging\n\n"
        f"Log Buffer ({LOG_LINES} lines):\n"
    )
    return "\n".join([heading, *router.log_lines])


def running_configuration(router: Router) -> str:
    text = running_config(router)
    heading = f"Building configuration...\n\nCurrent configuration : {len(text)} bytes\n!\n"
    return f"{heading}! Last shown at {timestamp()} UTC\n{text}\n"


def running_interface(router: Router, name: str) -> str:
    text = "\n".join(interface_config(router.interfaces[name]))
    return f"Building configuration...\n\nCurrent configuration : {len(text)} bytes\n!\n{text}\nend\n"


def startup_configuration(router: Router) -> str:
    try:
        text = router.startup_file.read_text(encoding="utf-8")
    except OSError:
        return "startup-config is not present"
    return f"Using {len(text)} out of 262144 bytes\n{text}"


def interfaces(router: Router, name: str | None = None) -> str:
    chosen = [router.interfaces[name]] if name else list(router.interfaces.values())
    return "\n".join(_interface(interface) for interface in chosen)


def _interface(interface: Interface) -> str:
    status, protocol = status_words(interface)
    lines = [f"{interface.name} is {status}, line protocol is {protocol}"]
    if interface.loopback:
        lines.append("  Hardware is Loopback")
    else:
        mac = cisco_mac(interface.mac)
        lines.append(f"  Hardware is iGbE, address is {mac} (bia {mac})")
    if interface.description:
        lines.append(f"  Description: {interface.description}")
    if interface.address:
        lines.append(f"  Internet address is {interface.address}")
    if interface.loopback:
        lines.append("  MTU 1514 bytes, BW 8000000 Kbit/sec, DLY 5000 usec,")
        lines.append("     reliability 255/255, txload 1/255, rxload 1/255")
        lines.append("  Encapsulation LOOPBACK, loopback not set")
        return "\n".join(lines)
    counters = interface.counters
    lines += [
        "  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,",
        "     reliability 255/255, txload 1/255, rxload 1/255",
        "  Encapsulation ARPA, loopback not set",
        "  Keepalive set (10 sec)",
        "  Auto Duplex, Auto Speed, link type is auto, media type is RJ45",
        "  ARP type: ARPA, ARP Timeout 04:00:00",
        "  Input queue: 0/75/0/0 (size/max/drops/flushes); Total output drops: 0",
        f"     {counters.packets_in} packets input, {counters.bytes_in} bytes, 0 no buffer",
        "     0 runts, 0 giants, 0 throttles",
        "     0 input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored",
        f"     {counters.packets_out} packets output, {counters.bytes_out} bytes, 0 underruns",
        "     0 output errors, 0 collisions, 0 interface resets",
    ]
    return "\n".join(lines)


def interfaces_description(router: Router) -> str:
    lines = ["Interface                      Status         Protocol Description"]
    for interface in router.interfaces.values():
        status, protocol = status_words(interface)
        status = "admin down" if status.startswith("admin") else status
        lines.append(f"{short_name(interface.name):<31}{status:<15}{protocol:<9}{interface.description}".rstrip())
    return "\n".join(lines)


def ip_interface_brief(router: Router) -> str:
    lines = ["Interface                  IP-Address      OK? Method Status                Protocol"]
    for interface in router.interfaces.values():
        status, protocol = status_words(interface)
        address = str(interface.ip) if interface.ip else "unassigned"
        method = "manual" if interface.ip else "unset"
        lines.append(f"{interface.name:<26} {address:<15} YES {method:<6} {status:<21} {protocol}")
    return "\n".join(lines)


def status_words(interface: Interface) -> tuple[str, str]:
    """The status and the line protocol."""
    if not interface.enabled:
        return "administratively down", "down"
    return ("up", "up") if interface.connected else ("down", "down")


def short_name(name: str) -> str:
    return name.replace("GigabitEthernet", "Gi").replace("Loopback", "Lo")
