"""Checking new names, and the order in which they can be given."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.gns3.rename_plan import Rename, in_order, plan_renames
from gns3server_copilot.gns3.topology import Node, parse_topology


def nodes(*names: str, **fields: str) -> tuple[Node, ...]:
    """Stopped routers with these names."""
    raw = [
        {"node_id": f"id-{name}", "name": name, "node_type": "qemu", "status": "stopped", **fields} for name in names
    ]
    return parse_topology(raw, [], []).nodes


def plan(lab: tuple[Node, ...], *asked: tuple[str, str]) -> list[str]:
    """The new names, or why not."""
    return [one.new_name if isinstance(one, Rename) else one.message for one in plan_renames(asked, lab)]


def test_a_swap_a_chain_and_a_change_of_case_are_no_clash() -> None:
    lab = nodes("A", "B", "C", "D")
    assert plan(lab, ("A", "B"), ("B", "A"), ("C", "X"), ("D", "C")) == ["B", "A", "X", "C"]
    assert plan(lab, ("A", "a")) == ["a"]
    assert plan(lab, ("A", "A")) == ["A"]


def test_a_name_that_another_node_keeps_is_refused_in_any_case() -> None:
    (said,) = plan(nodes("R1", "R2"), ("R1", "r2"))
    assert said.startswith("There is a node called R2 already (id id-R2).")


def test_two_cannot_get_one_name_and_one_cannot_get_two() -> None:
    assert plan(nodes("A", "B"), ("A", "X"), ("B", "x")) == ["X", "x is asked for by nodes[0] too."]
    assert plan(nodes("A", "B"), ("A", "X"), ("A", "Y")) == ["X", "A is renamed by nodes[0] already."]


def test_who_waits_for_a_name_that_is_not_given_up_is_refused_too() -> None:
    lab = nodes("A", "B", "C")
    said = plan(lab, ("A", "B"), ("B", "C"), ("C", "no_host_name"))
    assert "cannot be the name of a qemu node" in said[2]
    assert said[1].startswith("There is a node called C already")
    assert said[0].startswith("There is a node called B already")


def test_a_running_node_has_to_be_stopped_first_but_a_switch_has_not() -> None:
    assert plan(nodes("R1", status="started"), ("R1", "R9")) == [
        "R1 is running: stop it first (stop_gns3_node), then rename it."
    ]
    assert plan(nodes("R1", status="suspended"), ("R1", "R9")) == ["R9"]
    assert plan(nodes("SW1", status="started", node_type="ethernet_switch"), ("SW1", "Core")) == ["Core"]


def test_an_unknown_node_is_answered_with_the_nearest() -> None:
    assert plan(nodes("R1"), ("R", "X")) == ["There is no node called R. Nearest: R1."]


@given(st.permutations("ABCDEFGH"), st.lists(st.booleans(), min_size=8, max_size=8))
def test_names_are_free_when_their_turn_comes_except_in_circles(new_names: list[str], moved: list[bool]) -> None:
    lab = nodes(*"ABCDEFGH")
    renames = [
        Rename(node, name if away else f"N{name}") for node, name, away in zip(lab, new_names, moved, strict=True)
    ]
    groups = in_order(renames)
    assert sorted(rename.node.id for group in groups for rename in group) == sorted(node.id for node in lab)
    for group in groups:
        held = {rename.node.name for rename in group}
        circle = group[0].new_name == group[-1].node.name
        if circle:
            held.discard(group[-1].node.name)
        for rename in group:
            assert rename.new_name not in held - {rename.node.name}
            held.discard(rename.node.name)
            held.add(rename.new_name)
    touched = [{name for rename in group for name in (rename.node.name, rename.new_name)} for group in groups]
    assert sum(map(len, touched)) == len(set().union(*touched))
