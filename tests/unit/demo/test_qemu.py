from __future__ import annotations

import shlex

from gns3server_copilot.demo.qemu import Adapter, parse

COMMAND_LINE = shlex.split(
    "-name R1 -m 16M -smp cpus=1,maxcpus=1,sockets=1 -boot order=c -uuid 7b1d "
    "-serial telnet:127.0.0.1:16101,server,nowait -monitor tcp:127.0.0.1:40687,server,nowait -net none "
    "-device i82801b11-bridge,id=dmi_pci_bridge1 -device pci-bridge,id=pci-bridge1,bus=dmi_pci_bridge1,chassis_nr=0x1 "
    "-device e1000,mac=0c:7c:4f:80:00:00,bus=pci-bridge1,addr=0x01,netdev=gns3-0 "
    "-netdev socket,id=gns3-0,udp=127.0.0.1:28007,localaddr=127.0.0.1:28006 "
    "-device e1000,mac=0c:7c:4f:80:00:01 -display none"
)


def test_command_line_of_gns3_server():
    line = parse(COMMAND_LINE)
    assert (line.name, line.serial, line.monitor) == ("R1", ("127.0.0.1", 16101), ("127.0.0.1", 40687))
    assert line.adapters == [
        Adapter(bytes.fromhex("0c7c4f800000"), ("127.0.0.1", 28006), ("127.0.0.1", 28007)),
        Adapter(bytes.fromhex("0c7c4f800001")),
    ]


def test_name_that_looks_like_an_option_value_is_kept_whole():
    assert parse(["-name", "edge-router.1", "-serial", "telnet:[::1]:5,server"]).name == "edge-router.1"
