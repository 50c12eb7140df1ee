"""Finding things of a lab by what people call them, and names that GNS3 takes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.names import find
from gns3server_copilot.gns3.node_names import node_name


@dataclass(frozen=True)
class Thing:
    id: str
    name: str


R1 = Thing("11111111-0000-4000-8000-00000000000a", "R1")
SMALL_R1 = Thing("11111111-0000-4000-8000-00000000000b", "r1")
SWITCH = Thing("22222222-0000-4000-8000-000000000000", "Ethernet switch")
TWIN_A = Thing("33333333-0000-4000-8000-00000000000a", "Twin")
TWIN_B = Thing("33333333-0000-4000-8000-00000000000b", "Twin")
THINGS = (R1, SMALL_R1, SWITCH, TWIN_A, TWIN_B)


@pytest.mark.parametrize(
    ("wanted", "thing"),
    [
        (R1.id, R1),
        (R1.id.upper(), R1),
        (TWIN_B.id, TWIN_B),
        ("R1", R1),
        ("r1", SMALL_R1),
        (" R1 ", R1),
        ("ethernet SWITCH", SWITCH),
        ("ethernet_switch", SWITCH),
        ("EthernetSwitch", SWITCH),
    ],
)
def test_ids_come_before_exact_names_before_other_spellings(wanted: str, thing: Thing) -> None:
    assert find(wanted, THINGS, "node") is thing


def test_an_ambiguous_name_is_said_with_the_ids() -> None:
    with pytest.raises(ToolError) as refused:
        find("twin", THINGS, "node")
    assert TWIN_A.id in refused.value.message
    assert TWIN_B.id in refused.value.message


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("", "There is no node called (empty). There are: "),
        ("R2", "There is no node called R2. Nearest: R1, r1."),
        ("swich", "There is no node called swich. Nearest: Ethernet switch."),
        ("zzz", "There are: Ethernet switch, R1, Twin, Twin, r1."),
        ("{x}\n", "There is no node called (x)."),
    ],
)
def test_an_unknown_name_is_answered_with_near_ones(wanted: str, words: str) -> None:
    with pytest.raises(ToolError) as refused:
        find(wanted, THINGS, "node")
    assert words in refused.value.message


def test_nothing_to_find_is_said() -> None:
    with pytest.raises(ToolError, match="none at all"):
        find("R1", (), "node")


@given(st.text(max_size=400), st.lists(st.text(max_size=50), max_size=30))
def test_any_text_is_found_or_refused_in_a_short_line(wanted: str, names: list[str]) -> None:
    things = [Thing(str(number), name) for number, name in enumerate(names)]
    try:
        assert find(wanted, things, "node") in things
    except ToolError as error:
        assert len(error.message) <= 300
        assert "\n" not in error.message


NAMES = st.one_of(st.text(alphabet="aZ09-._ é", min_size=1, max_size=70), st.text(min_size=1, max_size=300))


@given(NAMES, st.sampled_from(["qemu", "docker"]))
def test_host_names_are_judged_as_gns3_server_judges_them(wanted: str, node_type: str) -> None:
    from gns3server.utils.hostname import is_rfc1123_hostname_valid

    try:
        name = node_name(wanted, node_type)
    except ToolError:
        bare = wanted.replace(" ", "")
        assert not bare or not bare.isprintable() or not is_rfc1123_hostname_valid(bare)
    else:
        assert is_rfc1123_hostname_valid(name)


@given(NAMES, st.sampled_from(["iou", "dynamips"]))
def test_ios_names_are_judged_as_gns3_server_judges_them(wanted: str, node_type: str) -> None:
    from gns3server.utils.hostname import is_ios_hostname_valid

    try:
        name = node_name(wanted, node_type)
    except ToolError:
        bare = wanted.replace(" ", "")
        assert not bare or not bare.isprintable() or not is_ios_hostname_valid(bare)
    else:
        assert is_ios_hostname_valid(name)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("", "1 to 253 characters, not 0"),
        (" ", "1 to 253 characters, not 0"),
        ("a\nb", "a b holds control or invisible characters"),
        ("\0", "The name holds control"),
        ("PC{0}", "braces"),
        ("x" * 254, "not 254"),
    ],
)
def test_names_that_no_node_can_have_are_refused(wanted: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        node_name(wanted, "vpcs")


def test_spaces_are_removed_as_gns3_does() -> None:
    assert node_name("Switch 1", "ethernet_switch") == "Switch1"
