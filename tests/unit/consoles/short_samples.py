"""What the short suite types on the devices of the families that are not proved in depth."""

from __future__ import annotations

from dataclasses import dataclass

IOS_CONFIG = ("interface GigabitEthernet1", "description to R2")
IOS_LOG = "*Mar  1 00:12:30.123: %LINK-3-UPDOWN: Interface GigabitEthernet1, changed state to up"


@dataclass(frozen=True)
class ShortSample:
    """One family: a command and a part of its output, one that is long and its last line, one that does not end."""

    family: str
    short: tuple[str, str]
    long: tuple[str, str]
    complaint: str
    config: tuple[str, ...]
    initial: str
    endless: str = "ping 10.0.0.9"
    log: str = IOS_LOG
    hostname: str = "R1"
    candidate: bool = False
    wrong: str = "show nonsense"


SHORT = (
    ShortSample(
        "cisco_xe",
        ("show version", "Cisco IOS XE Software, Version 16.12.05"),
        ("show interfaces", "GigabitEthernet30 is up, line protocol is up"),
        "% Invalid input detected",
        IOS_CONFIG,
        "press_return",
    ),
    ShortSample(
        "cisco_xr",
        ("show version", "Cisco IOS XR Software, Version 6.1.3[Default]"),
        ("show interfaces", "GigabitEthernet0/0/0/30 is up, line protocol is up"),
        "% Invalid input detected",
        ("interface GigabitEthernet0/0/0/0", "description to R2"),
        "press_return",
        candidate=True,
    ),
    ShortSample(
        "cisco_nxos",
        ("show version", "  NXOS: version 9.3(9)"),
        ("show interface", "Ethernet1/30 is up"),
        "% Invalid command",
        IOS_CONFIG,
        "poap",
    ),
    ShortSample(
        "cisco_asa",
        ("show version", "Cisco Adaptive Security Appliance Software Version 9.8(2)"),
        ("show interface", 'Interface GigabitEthernet0/30 "", is down, line protocol is down'),
        "ERROR: % Invalid input",
        ("interface GigabitEthernet0/0", "nameif inside"),
        "user",
        log="%ASA-6-302013: Built outbound TCP connection 1",
    ),
    ShortSample(
        "huawei_vrpv8",
        ("display version", "VRP (R) software, Version 8.180 (CE12800 V200R005C10SPC607B607)"),
        ("display interface", "GE1/0/30 current state : UP (ifindex: 30)"),
        "Error: Unrecognized command",
        ("interface GE1/0/0", "description to R2"),
        "privileged",
        log="Mar  1 2021 00:12:30 R1 %%01IFNET/4/IF_ENABLE(l):Interface GE1/0/0 has been available.",
        candidate=True,
        wrong="display nonsense",
    ),
    ShortSample(
        "h3c_comware",
        ("display version", "H3C Comware Software, Version 7.1.064, Release 0427P22"),
        ("display interface", "Current state: UP"),
        "% Unrecognized command",
        ("interface GigabitEthernet1/0", "description to R2"),
        "press_return",
        log="%Mar  1 00:12:30:123 2021 R1 IFNET/3/PHY_UPDOWN: Physical state changed to up.",
        wrong="display nonsense",
    ),
    ShortSample(
        "ruijie_os",
        ("show version", "System software version : RGOS 11.4(1)B12P1"),
        ("show interfaces", "GigabitEthernet 0/30 is UP  , line protocol is UP"),
        "% Unknown command.",
        IOS_CONFIG,
        "press_return",
        log="*Mar  1 00:12:30: %LINEPROTO-5-UPDOWN: Line protocol on Interface Gi0/1, changed state to up.",
    ),
    ShortSample(
        "vyos",
        ("show version", "Release train:    equuleus"),
        ("show interfaces", "eth30             10.0.30.1/24                       u/u"),
        "Invalid command: [show nonsense]",
        ("set interfaces ethernet eth0 description to-R2",),
        "login",
        log="[   30.123456] e1000 0000:00:03.0 eth0: link up",
        candidate=True,
    ),
    ShortSample(
        "nokia_srl",
        ("show version", "Software Version  : v21.6.4"),
        ("show interface", "ethernet-1/30 is up, speed 25G, type None"),
        "Parsing error: Unknown token",
        ("set / interface ethernet-1/1 description to-R2",),
        "login",
        log="[   30.123456] link up",
        candidate=True,
    ),
    ShortSample(
        "extreme_exos",
        ("show version", "Image   : ExtremeXOS version 30.2.1.8"),
        ("show ports", "30  VM  E  A  OFF  FULL  NONE"),
        "%% Invalid input",
        ("create vlan blue", "configure vlan blue tag 10"),
        "privileged",
        log="03/01/2021 00:12:30.12 <Info:vlan.msgs.portLinkStateUp> Port 1 link UP",
    ),
)
