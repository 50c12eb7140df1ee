from __future__ import annotations

from typing import Any

import pytest

from gns3server_copilot.utils.tool_response import failed, is_item, is_response, respond, succeeded

METADATA = {"tool_name": "a_tool", "version": "v1.0"}
ITEMS = [succeeded("1", "R1", "up"), failed("2", "R2", "boom", result="partly")]


def test_what_respond_builds_is_a_response() -> None:
    assert is_response(respond(ITEMS, METADATA))
    assert is_response(respond([], METADATA))
    assert is_response(respond([], METADATA, "boom"))
    assert is_response(respond(ITEMS[:1], METADATA, "boom"))


@pytest.mark.parametrize(
    "change",
    [
        {"success": True},
        {"success": 0},
        {"success": None},
        {"total": 3},
        {"total": 2.0},
        {"successful": True},
        {"failed": 0},
        {"data": None},
        {"data": {}},
        {"data": [*ITEMS, {}]},
        {"error": None},
        {"error": {}},
        {"metadata": None},
        {"metadata": {"version": "v1.0"}},
        {"metadata": {**METADATA, "tool_name": None}},
        {"metadata": {**METADATA, "version": "v2"}},
    ],
)
def test_anything_wrong_makes_it_none(change: dict[str, Any]) -> None:
    response = respond(ITEMS, METADATA)
    assert not is_response({**response, **change})
    for key in change.keys() - {"error"}:
        assert not is_response({other: value for other, value in response.items() if other != key})


@pytest.mark.parametrize(
    "change",
    [
        {"id": 1},
        {"name": None},
        {"status": "ok"},
        {"status": "failed"},
        {"result": None},
        {"result": {}},
        {"error": "boom"},
        {"error": None},
    ],
)
def test_items_that_are_none(change: dict[str, Any]) -> None:
    assert is_item(ITEMS[0])
    assert not is_item({**ITEMS[0], **change})


def test_a_failure_without_an_error_is_no_item() -> None:
    assert is_item(ITEMS[1])
    assert not is_item({**ITEMS[1], "error": ""})
    assert not is_item({**ITEMS[1], "result": 5})


@pytest.mark.parametrize("value", [None, 5, "text", [], {}, [ITEMS]])
def test_other_data_is_none(value: object) -> None:
    assert not is_item(value)
    assert not is_response(value)
