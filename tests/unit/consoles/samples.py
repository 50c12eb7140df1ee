"""What the conformance suite types on each family's scripted device, and what has to come of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One family. Fields that are empty name what its devices do not have."""

    family: str
    #: a command and a line of its output
    short: tuple[str, str]
    #: a command with more than a page of output, its first and its last line
    long: tuple[str, str, str]
    #: a command that takes 0.2 s
    slow: str
    #: a command that goes on for ever, and a part of each of its lines
    endless: tuple[str, str]
    #: a command that asks something, and a part of the question
    asks: tuple[str, str]
    #: what the device says of a wrong command
    complaint: str
    hostname: str
    #: a log message as its devices print it
    log: str
    config: tuple[str, ...] = ()
    #: a line that changes the prompt, and the prompt then
    rename: tuple[str, str] = ("", "")
    wrong_config: str = ""
    #: the state of the personality in which somebody is configuring
    somebody_configures: str = ""
    #: whether show commands can be typed there
    shows_in_config: bool = True
    user_state: str = ""
    shell_state: str = ""
    loader_state: str = "loader"
    login_state: str = "login"
    first_boot: str = ""
    question_state: str = "confirm"
    candidate: bool = False


IN_DEPTH = (
    Sample(
        "cisco_ios",
        short=("show clock", "*12:34:56.789 UTC Mon Mar 1 2021"),
        long=(
            "show interfaces",
            "GigabitEthernet0/1 is up, line protocol is up",
            "     reliability 255/255, txload 1/255, rxload 1/255",
        ),
        slow="ping 10.0.0.2",
        endless=("traceroute 10.0.0.9", "*  *  *"),
        asks=("ping", "Protocol [ip]:"),
        complaint="% Invalid input detected at '^' marker.",
        hostname="R1",
        log="*Mar  1 00:12:30.123: %LINK-3-UPDOWN: Interface GigabitEthernet0/1, changed state to up",
        config=("interface GigabitEthernet0/1", "description to R2", "no shutdown"),
        rename=("hostname Core", "Core#"),
        wrong_config="descripton wrong",
        somebody_configures="config_if",
        user_state="user",
        loader_state="rommon",
        question_state="confirm_reload",
        first_boot="setup_dialog",
    ),
    Sample(
        "arista_eos",
        short=("show version", "Software image version: 4.27.0F"),
        long=(
            "show interfaces",
            "Ethernet1 is up, line protocol is up (connected)",
            "  Ethernet MTU 9214 bytes , BW 1000000 kbit",
        ),
        slow="show ip interface brief",
        endless=("ping 10.0.0.9", "80 bytes from"),
        asks=("clear counters", "Are you sure? [confirm]"),
        complaint="% Invalid input (at token 0: 'show nonsense')",
        hostname="sw1",
        log="Mar  1 00:12:30 sw1 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface Ethernet1, changed state to up",
        config=("interface Ethernet1", "description to R2", "no shutdown"),
        rename=("hostname Core", "Core#"),
        wrong_config="descripton wrong",
        somebody_configures="config_sub",
        user_state="user",
        first_boot="login",
    ),
    Sample(
        "juniper_junos",
        short=("show version", "Junos: 18.2R1.9"),
        long=(
            "show interfaces",
            "Physical interface: ge-0/0/1, Enabled, Physical link is Up",
            "  Link-level type: Ethernet, MTU: 1514, Speed: 1000mbps",
        ),
        slow="show route summary",
        endless=("ping 10.0.0.9", "64 bytes from"),
        asks=("request system halt", "Halt the system ? [yes,no]"),
        complaint="unknown command.",
        hostname="vmx1",
        log="Mar  1 00:12:30  vmx1 mib2d[1234]: %DAEMON-4-SNMP_TRAP_LINK_UP: ifIndex 520, ifAdminStatus up(1)",
        config=("set interfaces ge-0/0/1 description to-R2", "delete interfaces ge-0/0/1 disable"),
        rename=("set system host-name core", "root@core>"),
        wrong_config="sett wrong",
        somebody_configures="config_sub",
        shell_state="shell",
        first_boot="login",
        candidate=True,
    ),
    Sample(
        "huawei_vrp",
        short=("display version", "Huawei Versatile Routing Platform Software"),
        long=(
            "display interface",
            "GigabitEthernet0/0/1 current state : UP",
            "Description:HUAWEI, AR Series, GigabitEthernet0/0/12 Interface",
        ),
        slow="display ip interface brief",
        endless=("ping 10.0.0.9", "Reply from"),
        asks=("reset arp all", "Continue? [Y/N]:"),
        complaint="Error: Unrecognized command found at '^' position.",
        hostname="R1",
        log="Mar  1 2021 00:12:30-08:00 R1 %%01IFPDT/4/IF_STATE(l)[0]:Interface GigabitEthernet0/0/1 has turned UP.",
        config=("interface GigabitEthernet0/0/1", "description to R2", "undo shutdown"),
        rename=("sysname Core", "<Core>"),
        wrong_config="descripton wrong",
        somebody_configures="config_sub",
        first_boot="change_password",
    ),
    Sample(
        "mikrotik_routeros",
        short=("/system resource print", "version: 7.11 (stable)"),
        long=(
            "/interface print",
            "1  R  ether1  ether  1500  0C:12:34:56:78:01",
            " 30  R  ether30  ether  1500  0C:12:34:56:78:030",
        ),
        slow="/ip address print",
        endless=("/ping 10.0.0.9", "310us"),
        asks=("/system reset-configuration", "Dangerous! Reset anyway? [y/N]:"),
        complaint="bad command name show nonsense (line 1 column 1)",
        hostname="MikroTik",
        log="00:12:30 echo: system,info,account user admin logged in via local",
        config=("/ip address add address=10.0.0.1/24 interface=ether1", "/interface set ether1 comment=to-R2"),
        rename=("/system identity set name=Core", "[admin@Core] >"),
        wrong_config="/ipp address",
        first_boot="license",
    ),
    Sample(
        "frr",
        short=("show version", "FRRouting 8.4.4 (frr) on Linux(6.1.0)."),
        long=("show interface", "Interface eth1 is up, line protocol is up", "  vrf: default"),
        slow="show ip route",
        endless=("ping 10.0.0.9", "64 bytes from"),
        asks=("clear ip ospf process", "Clear all OSPF processes? [y/n]:"),
        complaint="% Unknown command: show nonsense",
        hostname="frr",
        log="2021/03/01 00:12:30 ZEBRA: [EC 4043309122] interface eth1 is up",
        config=("interface eth1", "description to R2", "no shutdown"),
        rename=("hostname core", "core#"),
        wrong_config="descripton wrong",
        somebody_configures="config_sub",
        user_state="user",
        shell_state="shell",
    ),
    Sample(
        "linux",
        short=("uname -a", "Linux debian 6.1.0-13-cloud-amd64 #1 SMP Debian 6.1.55-1 x86_64 GNU/Linux"),
        long=(
            "ip address show",
            "1: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc pfifo_fast state UP",
            "    inet 10.0.12.1/24 scope global eth12",
        ),
        slow="ip route show",
        endless=("ping 10.0.0.9", "64 bytes from"),
        asks=("apt remove frr", "Do you want to continue? [Y/n]"),
        complaint="-bash: show nonsense: command not found",
        hostname="debian",
        log="[   30.123456] virtio_net virtio0 eth0: link becomes ready",
        config=("ip address add 10.0.9.1/24 dev eth1", "ip link set eth1 up"),
        rename=("hostname core", "root@core:~#"),
        wrong_config="ipp address",
    ),
    Sample(
        "vpcs",
        short=("version", "Build time: Sep  9 2023 11:15:00"),
        long=(
            "show arp",
            "00:50:79:66:68:01  10.0.0.1 expires in 100 seconds",
            "00:50:79:66:68:040  10.0.0.40 expires in 100 seconds",
        ),
        slow="show ip",
        endless=("ping 10.0.0.9", "84 bytes from"),
        asks=("sleep 0", "Wait for how long?"),
        complaint='Bad command: "nonsense now". Use ? for help.',
        hostname="Web-Server",
        log="",
        config=("ip 10.0.0.1/24 10.0.0.254",),
        rename=("set pcname Client", "Client>"),
        wrong_config="nonsense now",
        login_state="",
        loader_state="",
    ),
    Sample(
        "generic",
        short=("show version", "Boxware 1.0"),
        long=("show ports", "port 1 up", "port 40 up"),
        slow="show status",
        endless=("ping 10.0.0.9", "reply"),
        asks=("format", "Format the disk? (y/n)"),
        complaint="Error: unknown command show nonsense",
        hostname="box",
        log="%SYS-5-RESTART: System restarted",
        config=("port 1 up",),
        rename=("name core", "core >"),
        wrong_config="prt 1 up",
        loader_state="",
    ),
)
