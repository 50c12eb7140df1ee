from __future__ import annotations

import pytest

from gns3server_copilot.demo.ios.configuration import Configurator, load
from gns3server_copilot.demo.ios.grammar import CommandError, InvalidInput
from gns3server_copilot.demo.ios.running_config import running_config
from tests.unit.demo.bench import GI0, GI1, Bench, router_config

FULL_CONFIG = f"""\
hostname edge
no logging console
interface Loopback0
 description router id
 ip address 9.9.9.9 255.255.255.255
interface {GI0}
 ip address 10.0.12.1 255.255.255.252
 ip ospf 7 area 3
 ip ospf cost 20
 ip ospf dead-interval 9
 ip ospf hello-interval 3
 ip ospf priority 5
interface {GI1}
 no ip address
 shutdown
router ospf 7
 router-id 7.7.7.7
 passive-interface Loopback0
 network 9.9.9.9 0.0.0.0 area 3
ip route 0.0.0.0 0.0.0.0 10.0.12.2
ip route 172.16.0.0 255.240.0.0 10.0.12.2
line con 0
 logging synchronous
end
"""


@pytest.mark.parametrize("config", ["", router_config(1), FULL_CONFIG], ids=["empty", "demo", "full"])
def test_running_configuration_gives_itself_when_read_back(bench: Bench, config: str):
    text = running_config(bench.add_router("R1", config))
    assert running_config(bench.add_router("R9", text)) == text


def test_every_configured_line_is_in_the_running_configuration(bench: Bench):
    text = running_config(bench.add_router("R1", FULL_CONFIG))
    for line in FULL_CONFIG.splitlines():
        assert line in text.splitlines()


def test_named_interface_is_up_at_boot_unless_it_says_shutdown(bench: Bench):
    router = bench.add_router("R1", FULL_CONFIG)
    states = {name: interface.enabled for name, interface in router.interfaces.items()}
    assert states == {
        GI0: True,
        GI1: False,
        "GigabitEthernet0/2": False,
        "GigabitEthernet0/3": False,
        "Loopback0": True,
    }


def test_boot_skips_lines_that_are_no_commands(bench: Bench):
    router = bench.add_router("R1", "frobnicate\nhostname A\ninterface Serial0/0\nip route 1.2.3.4 255.0.0.0 9.9.9.9\n")
    assert (router.hostname, router.static_routes) == ("A", [])


@pytest.fixture
def config(bench: Bench) -> Configurator:
    return Configurator(bench.add_router("R1", router_config(1)))


def test_global_commands_work_in_every_mode(config: Configurator):
    config.execute(f"interface {GI0}")
    config.execute("router ospf 1")
    assert config.mode == "config-router"
    config.execute("hostname other")
    assert config.router.hostname == "other"


def test_exit_goes_up_one_level(config: Configurator):
    config.execute("int gi0/0")
    assert config.leave() and config.mode == "config"
    assert not config.leave()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((f"interface {GI1}", "ip address 10.0.12.9 255.255.255.0"), "overlaps with GigabitEthernet0/0"),
        ((f"interface {GI1}", "ip address 172.16.0.0 255.255.0.0"), "Bad mask /16 for address 172.16.0.0"),
        (("no interface gi0/0",), "Removal of physical interfaces is not permitted"),
        (("no ip route 1.0.0.0 255.0.0.0 2.2.2.2",), "No matching route"),
    ],
)
def test_refusals_are_printed(config: Configurator, lines: tuple[str, ...], says: str):
    *before, last = lines
    for line in before:
        config.execute(line)
    assert says in (config.execute(last) or "")


def test_value_out_of_range_is_refused(config: Configurator):
    config.execute(f"interface {GI0}")
    with pytest.raises(CommandError, match="0 to 255"):
        config.execute("ip ospf priority 256")


def test_error_marks_the_word_that_neither_mode_understood(config: Configurator):
    config.execute(f"interface {GI0}")
    with pytest.raises(InvalidInput) as caught:
        config.execute("router rip 1")
    assert caught.value.position == len("router ")


def test_removed_loopback_takes_its_routes_along(config: Configurator):
    config.execute("no interface lo0")
    assert "Loopback0" not in config.router.interfaces
    assert "1.1.1.1/32" not in [str(route.prefix) for route in config.router.stack.routes.installed()]


def test_static_route_comes_and_goes(config: Configurator):
    config.execute("ip route 172.16.0.0 255.240.0.0 10.0.12.2")
    assert "172.16.0.0/12" in [str(route.prefix) for route in config.router.stack.routes.installed()]
    config.execute("no ip route 172.16.0.0 255.240.0.0 10.0.12.2")
    assert "172.16.0.0/12" not in [str(route.prefix) for route in config.router.stack.routes.installed()]


def test_load_ignores_what_follows_end(bench: Bench):
    router = bench.add_router("R1")
    load(router, "hostname A\nend\nhostname B\n")
    assert router.hostname == "A"
