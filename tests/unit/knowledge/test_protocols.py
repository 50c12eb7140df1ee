"""The protocol files, and what one may not say."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.schemas.protocol import Protocol
from gns3server_copilot.packets.dissect.registry import PROTOCOLS, dissector_of

FILES = packaged_knowledge().of(Protocol)


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_every_protocol_has_a_file_whose_fields_its_dissector_gives(name: str) -> None:
    dissector = dissector_of(name)
    assert dissector is not None
    assert set(FILES[name].fields) == set(dissector.fields)


def test_every_file_has_a_dissector() -> None:
    assert set(FILES) == set(PROTOCOLS)
    assert len({check.id for protocol in FILES.values() for check in protocol.checks}) == sum(
        len(protocol.checks) for protocol in FILES.values()
    )


@pytest.mark.parametrize(
    ("name", "key"),
    [("OSPF", "ospf"), ("802.1Q", "vlan"), ("rstp", "stp"), ("IS-IS", "isis"), ("ssl", "tls"), ("dmvpn", "nhrp")],
)
def test_protocols_are_found_by_what_people_call_them(name: str, key: str) -> None:
    assert FILES.find(name) is FILES[key]


GOOD: dict[str, Any] = {
    "name": "Test",
    "description": "A protocol for tests.",
    "fields": {"kind": "kind of message", "src": "sender"},
    "columns": ["kind"],
}
CHECK = {"id": "wrong", "when": [{"field": "kind", "value": 1}], "severity": "error", "message": "{kind} is wrong."}


def check(**changes: Any) -> dict[str, Any]:
    """A file whose check is changed."""
    return GOOD | {"checks": [CHECK | changes]}


def test_a_good_file_is_taken() -> None:
    Protocol.model_validate(check())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (GOOD | {"columns": ["other"]}, "no field other"),
        (GOOD | {"facts": {"kinds": {"as": "values"}}}, "needs a field"),
        (GOOD | {"facts": {"kinds": {"as": "pairs", "field": "kind"}}}, "need a field `other`"),
        (GOOD | {"shell": "rm"}, "Extra inputs"),
        (check(when=[{"field": "other"}]), "no field other"),
        (check(message="{other} is wrong."), "no field other"),
        (check(message="{a.kind} is wrong."), "no placeholder"),
        (check(message="{kind!r} is wrong."), "no placeholder"),
        (check(when=[{"field": "kind", "op": "differs"}]), "say `over: neighbours`"),
        (check(over="neighbours", message="wrong"), "compares a field"),
        (check(severity="fatal"), "Input should be"),
        (check(when=[]), "at least 1"),
        (GOOD | {"checks": [CHECK, CHECK]}, "the same id"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Protocol.model_validate(wrong)
