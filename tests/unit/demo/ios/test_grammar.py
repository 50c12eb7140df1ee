from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.demo.ios.commands import commands
from gns3server_copilot.demo.ios.grammar import (
    AmbiguousCommand,
    CommandError,
    CommandTable,
    IncompleteCommand,
    InvalidArgument,
    InvalidInput,
    interface_name,
)

table = CommandTable()


@table.command("show version")
@table.command("show ip route", "show ip route ADDRESS")
@table.command("show interfaces", "show interfaces description", "show interfaces INTERFACE")
@table.command("shutdown")
@table.command("ip address ADDRESS MASK")
@table.command("router ospf NUMBER")
@table.command("network ADDRESS WILDCARD area AREA")
@table.command("description LINE")
@table.command("hostname WORD")
def handler(target: list[object], *arguments: object) -> None:
    target += arguments


@table.command("interface INTERFACE")
def picky(_: object, name: str) -> None:
    raise InvalidArgument


@table.command("reload", privileged=True)
def reload(_: object) -> str:
    return "reloading"


def arguments(line: str) -> list[object]:
    found: list[object] = []
    table.find(line).call(found)
    return found


@pytest.mark.parametrize("line", ["show version", "sho ver", "  SHOW   Version  ", "sho v"])
def test_keywords_may_be_cut_short(line: str):
    assert table.find(line).arguments == ()


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("sho ip ro 10.0.0.1", [IPv4Address("10.0.0.1")]),
        ("ip add 10.0.0.1 255.255.255.0", [IPv4Address("10.0.0.1"), IPv4Address("255.255.255.0")]),
        ("router ospf 12", [12]),
        ("network 10.0.0.0 0.0.0.255 area 1", [IPv4Address("10.0.0.0"), IPv4Address("0.0.0.255"), IPv4Address(1)]),
        (
            "network 10.0.0.0 0.0.0.255 area 0.0.0.1",
            [IPv4Address("10.0.0.0"), IPv4Address("0.0.0.255"), IPv4Address(1)],
        ),
        ("description to R2,  second  ", ["to R2,  second"]),
        ("sho int g0/1", ["GigabitEthernet0/1"]),
        ("sho int loopback 0", ["Loopback0"]),
        ("sho int desc", []),
        ("hostname description", ["description"]),
    ],
)
def test_arguments_have_their_kinds(line: str, values: list[object]):
    assert arguments(line) == values


@pytest.mark.parametrize(
    ("line", "position"),
    [
        ("shwo version", 0),
        ("show versoin", 5),
        ("show ip route 10.0.0", 14),
        ("show version now", 13),
        ("  ip address 10.0.0.1 255.0.255.0", 22),
        ("router ospf one", 12),
        ("interface g0/9", 10),
        ("show interfaces g0/1 extra", 21),
    ],
)
def test_wrong_word_is_marked(line: str, position: int):
    with pytest.raises(InvalidInput) as caught:
        table.find(line).call([])
    assert caught.value.position == position


@pytest.mark.parametrize("line", ["show", "show ip", "ip address 10.0.0.1", "description", "interface", "router ospf"])
def test_missing_words_are_noticed(line: str):
    with pytest.raises(IncompleteCommand):
        table.find(line)


def test_short_keyword_that_fits_two_is_ambiguous():
    with pytest.raises(AmbiguousCommand, match='Ambiguous command:  "sh i"'):
        table.find("sh i")
    with pytest.raises(AmbiguousCommand):
        table.find("sh")


def test_whole_keyword_is_never_ambiguous():
    assert table.find("show interfaces").arguments == ()


def test_privileged_commands_do_not_exist_for_others():
    assert table.find("reload").call(None) == "reloading"
    with pytest.raises(InvalidInput):
        table.find("reload", privileged=False)


@pytest.mark.parametrize(
    ("text", "name"),
    [("gi0/0", "GigabitEthernet0/0"), ("Lo12", "Loopback12"), ("fa0/0", None), ("gi", None), ("0/0", None)],
)
def test_interface_names(text: str, name: str | None):
    assert interface_name(text) == name


@given(st.text(alphabet=st.characters(codec="latin-1"), max_size=60))
def test_any_line_gives_a_command_or_a_command_error(line: str):
    for known in (table, commands):
        try:
            known.find(line)
        except CommandError as error:
            assert error.message.startswith("%")
