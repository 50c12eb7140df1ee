from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gns3server_copilot.utils import normalize_tool_response, parse_tool_content
from gns3server_copilot.utils.older_shapes import (
    COUNTERS,
    GOOD_STATUSES,
    ID_KEYS,
    LIST_KEYS,
    NAME_KEYS,
    RESULT_KEYS,
)
from gns3server_copilot.utils.plain_data import plain
from tests.unit.utils.strange_values import HARD_TEXTS, STRANGE_VALUES, is_strict_json, values

OTHER_KEYS = ("status", "success", "error", "message", "metadata", "tool_name", "version", "execution_time")
OTHER_COUNTERS = ("total_nodes", "count", "successful_nodes", "failed_nodes")
older_keys = st.sampled_from(
    [*LIST_KEYS, *ID_KEYS, *NAME_KEYS, *RESULT_KEYS, *COUNTERS, *OTHER_COUNTERS, *OTHER_KEYS, "original_status"]
)
statuses = st.sampled_from(
    [*sorted(GOOD_STATUSES), "failed", "partial_success", "error", "aborted", "unknown", "Started"]
)
answers = values(older_keys) | values(older_keys, statuses | st.text(max_size=5) | st.integers(0, 2) | st.booleans())


def assert_is_v1(response: Any) -> None:
    """The rules of tool response v1.0, written down once more and independently of the code."""
    assert is_strict_json(response)
    data, metadata = response["data"], response["metadata"]
    assert isinstance(data, list)
    assert isinstance(metadata["tool_name"], str)
    assert metadata["version"] == "v1.0"
    for item in data:
        assert isinstance(item["id"], str)
        assert isinstance(item["name"], str)
        assert item["status"] in ("success", "failed")
        if item["status"] == "success":
            assert isinstance(item["result"], str)
            assert not item.get("error")
        else:
            assert isinstance(item["error"], str)
            assert item["error"]
            assert isinstance(item.get("result", ""), str)
    assert type(response["total"]) is type(response["successful"]) is type(response["failed"]) is int
    assert response["total"] == len(data)
    assert response["failed"] == sum(item["status"] == "failed" for item in data)
    assert response["successful"] + response["failed"] == response["total"]
    assert isinstance(response.get("error", ""), str)
    assert response["success"] is (response["failed"] == 0 and not response.get("error"))


def strings_in(value: Any) -> Iterator[str]:
    """The texts of JSON data, but for the names of the keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from strings_in(member)


def everything_said(value: Any) -> str:
    """All texts of JSON data with those of the JSON texts inside it, which may be at the end of a sentence."""
    said = ""
    for text in strings_in(value):
        said += f"{text}\n"
        for start in {text.find(bracket) for bracket in "[{"} - {-1}:
            with suppress(ValueError):
                said += everything_said(json.loads(text[start:]))
    return said


def assert_says_all_of(response: Any, raw: Any) -> None:
    said = everything_said(response)
    data = plain(raw)
    if isinstance(data, str) and data not in said:
        data = plain(parse_tool_content(data))  # a text may stand for its data
        assert_says_all_of(response, data)
        return
    for text in strings_in(data):
        assert text in said


# One for each row of the table of shapes that the comparable server knew, and of what it did wrong with them.
ITEM = {"id": "", "name": "", "status": "success", "result": "x"}
OLDER_SHAPES: dict[str, tuple[Any, dict[str, Any]]] = {
    "dict with error as the only key": ({"error": "boom"}, {"data": [], "error": "boom"}),
    "None": (None, {"data": [], "error": "The tool gave no result."}),
    "empty text": ("", {"data": [], "error": "The tool gave no result."}),
    "empty list": ([], {"data": [], "error": "The tool gave no result."}),
    "empty dict": ({}, {"data": [], "error": "The tool gave no result."}),
    "zero": (0, {"data": [], "error": "The tool gave no result. It answered: 0"}),
    "False": (False, {"data": [], "error": "The tool gave no result. It answered: false"}),
    "list of dicts": (
        [
            {"device_id": "d1", "name": "R1", "status": "success", "output": "up"},
            {"node_id": "n2", "device_name": "R2", "status": "failed", "error": "no route", "output": "partly"},
            {"id": "3", "status": "failed", "output": "no such host"},
            {"status": "unknown"},
        ],
        {
            "data": [
                {"id": "d1", "name": "R1", "status": "success", "result": "up"},
                {"id": "n2", "name": "R2", "status": "failed", "error": "no route", "result": "partly"},
                {"id": "3", "name": "", "status": "failed", "error": "no such host"},
                {
                    "id": "",
                    "name": "",
                    "status": "failed",
                    "error": "The tool gave the status unknown.",
                    "original_status": "unknown",
                },
            ]
        },
    ),
    "other keys of list items": (
        [{"name": "R1", "status": "success", "output": "ok", "blocked_commands": ["reload"], "config_commands": []}],
        {
            "data": [
                {
                    "id": "",
                    "name": "R1",
                    "status": "success",
                    "result": "ok",
                    "blocked_commands": ["reload"],
                    "config_commands": [],
                }
            ]
        },
    ),
    "list of others": (
        ["text", 5, True, None, "Error: no", ["a"]],
        {
            "data": [
                {**ITEM, "result": "text"},
                {**ITEM, "result": "5"},
                {**ITEM, "result": "true"},
                {"id": "", "name": "", "status": "failed", "error": "The tool gave no result."},
                {"id": "", "name": "", "status": "failed", "error": "Error: no"},
                {**ITEM, "result": '["a"]'},
            ]
        },
    ),
    "dict with success and data": (
        {"success": True, "data": [{**ITEM, "id": "1"}], "error": None, "metadata": {"execution_time": 1.5}},
        {"data": [{**ITEM, "id": "1"}], "metadata": {"execution_time": 1.5}},
    ),
    "dict with wrong counters": (
        {"success": True, "total": 9, "successful": 1, "failed": 0, "data": [{**ITEM, "id": "1"}]},
        {"data": [{**ITEM, "id": "1"}], "metadata": {"total": 9}},
    ),
    "dict with success false and only successes": (
        {"success": False, "data": [ITEM]},
        {"data": [ITEM], "error": "The tool reported a failure without saying of what."},
    ),
    "dict with data null": ({"success": False, "data": None, "error": "boom"}, {"data": [], "error": "boom"}),
    "dict with metadata null": ({"success": True, "data": [ITEM], "metadata": None}, {"data": [ITEM]}),
    "dict with a list of no items, said to be a success": ({"success": True, "data": []}, {"data": []}),
    "dict with nodes": (
        {"nodes": [{"node_id": "n1", "name": "R1", "status": "started"}], "total_nodes": 1, "project_id": "p"},
        {
            "data": [
                {"id": "n1", "name": "R1", "status": "success", "result": "started", "original_status": "started"}
            ],
            "metadata": {"project_id": "p"},
        },
    ),
    "dict with results": ({"results": ["x"]}, {"data": [ITEM]}),
    "dict with data": ({"data": ["x"]}, {"data": [ITEM]}),
    "dict with output": (
        {"device_name": "R1", "output": "x"},
        {"data": [{**ITEM, "name": "R1"}]},
    ),
    "dict with output, failed": (
        {"device_name": "R1", "output": "x", "status": "failed", "error": "boom"},
        {"data": [{"id": "", "name": "R1", "status": "failed", "error": "boom", "result": "x"}]},
    ),
    "dict with a list of lines as output": (
        {"name": "R1", "output": ["a", "b"]},
        {"data": [{**ITEM, "name": "R1", "result": '["a", "b"]'}]},
    ),
    "dict with a list of entries as output": (
        {"output": [{"name": "R1", "error": "boom"}]},
        {"data": [{"id": "", "name": "R1", "status": "failed", "error": "boom"}]},
    ),
    "dict with status": (
        {"name": "R1", "status": "failed", "error": "boom"},
        {"data": [{"id": "", "name": "R1", "status": "failed", "error": "boom"}]},
    ),
    "dict with unknown keys": ({"answer": "x"}, {"data": [{**ITEM, "result": "", "answer": "x"}]}),
    "dict with an error and unknown keys": (
        {"error": "boom", "hint": "look there"},
        {"data": [], "error": "boom", "metadata": {"hint": "look there"}},
    ),
    "dict with nodes by name": (
        {"nodes": {"R1": {"node_id": "n1", "status": "stopped"}}, "links": [{"link_id": "l1"}], "status": "opened"},
        {
            "data": [
                {"id": "n1", "name": "R1", "status": "success", "result": "stopped", "original_status": "stopped"},
                {"id": "l1", "name": "", "status": "success", "result": ""},
            ],
            "metadata": {"status": "opened"},
        },
    ),
    "dict with empty nodes": (
        {"nodes": [], "total_nodes": 0, "project_id": "p"},
        {"data": [], "error": "The tool gave no result.", "metadata": {"project_id": "p"}},
    ),
    "dict with counters alone": (
        {"total_nodes": 3, "successful_nodes": 2, "failed_nodes": 1},
        {
            "data": [
                {
                    "id": "",
                    "name": "",
                    "status": "failed",
                    "error": "It failed without saying why.",
                    "total_nodes": 3,
                    "successful_nodes": 2,
                    "failed_nodes": 1,
                }
            ]
        },
    ),
    "dict that counts a failure and lists none": (
        {"results": ["x"], "failed": 1},
        {
            "data": [ITEM],
            "error": "The tool reported a failure without saying of what.",
            "metadata": {"failed": 1},
        },
    ),
    "plain text": ("Router up\nall well", {"data": [{**ITEM, "result": "Router up\nall well"}]}),
    "error text": ("Error: no such node", {"data": [], "error": "Error: no such node"}),
    "exception text": ("ToolException('no')", {"data": [], "error": "ToolException('no')"}),
    "JSON text": (
        '{"nodes": [{"name": "x", "up": true}]}',
        {"data": [{**ITEM, "name": "x", "result": "", "up": True}]},
    ),
    "Python literal text": ("[{'name': 'x', 'result': None}]", {"data": [{**ITEM, "name": "x", "result": ""}]}),
    "text encoded twice": (json.dumps(json.dumps(["x"])), {"data": [ITEM]}),
    "text of null": ("null", {"data": [], "error": "The tool gave no result. It answered: null"}),
    "text of an unhashable key": ("{[]: 1}", {"data": [{**ITEM, "result": "{[]: 1}"}]}),
    "text of a long number": ("9" * 5000, {"data": [{**ITEM, "result": "9" * 5000}]}),
    "number": (42, {"data": [{**ITEM, "result": "42"}]}),
    "True": (True, {"data": [{**ITEM, "result": "true"}]}),
    "tuple": (("x",), {"data": [ITEM]}),
    "set": ({"x"}, {"data": [ITEM]}),
    "bytes": (b"x", {"data": [ITEM]}),
    "exception": (OSError("gone"), {"data": [], "error": "OSError: gone"}),
    "created nodes": (
        {"created_nodes": [{"node_id": "n1", "name": "R1"}, {"error": "no template"}], "total": 2, "failed": 1},
        {
            "data": [
                {"id": "n1", "name": "R1", "status": "success", "result": ""},
                {"id": "", "name": "", "status": "failed", "error": "no template"},
            ]
        },
    ),
    "templates": (
        {"templates": [{"template_id": "t1", "name": "VPCS", "category": "guest"}]},
        {"data": [{"id": "t1", "name": "VPCS", "status": "success", "result": "", "category": "guest"}]},
    ),
    "links without status": (
        [{"link_id": "l1", "node_id1": "a"}, {"link_id": None, "error": "port in use"}],
        {
            "data": [
                {"id": "l1", "name": "", "status": "success", "result": "", "node_id1": "a"},
                {"id": "", "name": "", "status": "failed", "error": "port in use", "link_id": None},
            ]
        },
    ),
    "partial success": (
        [{"device_name": "R1", "status": "partial_success", "output": {"show": "x"}}],
        {
            "data": [
                {
                    "id": "",
                    "name": "R1",
                    "status": "failed",
                    "error": "The tool gave the status partial_success.",
                    "original_status": "partial_success",
                    "result": '{"show": "x"}',
                }
            ]
        },
    ),
    "aborted placeholder": (
        {"status": "aborted", "message": "stopped by the user", "tool_call_id": "c1"},
        {
            "data": [
                {
                    "id": "",
                    "name": "",
                    "status": "failed",
                    "error": "stopped by the user",
                    "tool_call_id": "c1",
                    "original_status": "aborted",
                }
            ]
        },
    ),
}


@pytest.mark.parametrize("shape", OLDER_SHAPES)
def test_older_shapes(shape: str) -> None:
    raw, expected = OLDER_SHAPES[shape]
    response = normalize_tool_response(raw, "a_tool")
    assert_is_v1(response)
    assert_says_all_of(response, raw)
    assert response["data"] == expected["data"]
    assert response.get("error") == expected.get("error")
    assert response["metadata"] == {"tool_name": "a_tool", "version": "v1.0", **expected.get("metadata", {})}


@pytest.mark.parametrize("key", LIST_KEYS)
def test_lists_under_every_older_key_become_items(key: str) -> None:
    response = normalize_tool_response({key: [{"name": "R1"}, {"name": "R2", "error": "boom"}]})
    assert [(item["name"], item["status"]) for item in response["data"]] == [("R1", "success"), ("R2", "failed")]


@pytest.mark.parametrize("status", ["started", "stopped", "suspended", "ok", "created", "unblocked", "success", "OK"])
def test_good_statuses_are_success(status: str) -> None:
    assert normalize_tool_response([{"name": "R1", "status": status}])["success"] is True


@pytest.mark.parametrize(
    "status", ["partial_success", "failed", "error", "aborted", "unknown", "unheard of", False, 500]
)
def test_all_other_statuses_are_failure(status: object) -> None:
    (item,) = normalize_tool_response([{"name": "R1", "status": status, "output": "x"}])["data"]
    assert item["status"] == "failed"
    assert "x" in (item["error"], item.get("result"))


@pytest.mark.parametrize("status", [None, ""])
def test_without_a_status_the_error_decides(status: object) -> None:
    response = normalize_tool_response([{"status": status, "output": "x"}, {"status": status, "error": "boom"}])
    assert [item["status"] for item in response["data"]] == ["success", "failed"]


@pytest.mark.parametrize(
    ("entry", "name", "kept"),
    [({}, "R1", None), ({"name": ""}, "R1", None), ({"name": "R1"}, "R1", None), ({"name": "None"}, "None", "R1")],
)
def test_an_entry_without_a_name_has_that_of_its_key(entry: dict[str, Any], name: str, kept: str | None) -> None:
    (item,) = normalize_tool_response({"nodes": {"R1": {"node_id": "n1", **entry}}})["data"]
    assert (item["name"], item.get("original_name")) == (name, kept)


@pytest.mark.parametrize("status", ["failed", "failure", "error", "partial_success", "aborted", "timeout"])
def test_a_bad_status_of_the_whole_is_a_failure(status: str) -> None:
    response = normalize_tool_response({"results": ["x"], "status": status, "message": "why"})
    assert (response["success"], response["error"], response["metadata"]["status"]) == (False, "why", status)


def test_success_false_beats_a_good_status() -> None:
    assert normalize_tool_response([{"status": "ok", "success": False, "output": "x"}])["success"] is False


def test_an_empty_list_does_not_hide_an_output() -> None:
    response = normalize_tool_response({"device_name": "R1", "output": "x", "links": [], "data": None})
    assert response["data"] == [{**ITEM, "name": "R1"}]


def test_an_object_as_data_is_one_item() -> None:
    response = normalize_tool_response({"success": True, "data": {"node_id": "n1", "name": "R1", "x": 1}})
    assert response["data"] == [{"id": "n1", "name": "R1", "status": "success", "result": "", "x": 1}]


@pytest.mark.parametrize("name", HARD_TEXTS)
def test_a_text_that_cannot_be_read_is_kept_as_it_is(name: str) -> None:
    text = HARD_TEXTS[name]
    started = time.monotonic()
    response = normalize_tool_response(text)
    assert_is_v1(response)
    assert response.get("error", "").endswith(text) or response["data"][0]["result"] == text
    assert time.monotonic() - started < 5


def test_an_error_beats_a_good_status() -> None:
    (item,) = normalize_tool_response([{"status": "success", "output": "x", "error": "boom"}])["data"]
    assert (item["status"], item["error"], item["result"]) == ("failed", "boom", "x")


@pytest.mark.parametrize("error", [None, "", False, [], {}])
def test_an_empty_error_is_none(error: object) -> None:
    response = normalize_tool_response({"results": [{"output": "x", "error": error}], "error": error})
    assert response["success"] is True
    assert "error" not in response


@pytest.mark.parametrize("error", ["boom", {"code": 3}, ["boom"], 7, True])
def test_an_error_beside_items_fails_the_response_and_keeps_the_items(error: object) -> None:
    response = normalize_tool_response({"results": ["x"], "error": error})
    assert_is_v1(response)
    assert (response["success"], response["total"]) == (False, 1)
    assert response["error"] == (error if isinstance(error, str) else json.dumps(error))


def test_a_valid_response_keeps_its_content() -> None:
    response = {
        "success": False,
        "total": 2,
        "successful": 1,
        "failed": 1,
        "data": [
            {"id": "1", "name": "R1", "status": "success", "result": "{}", "node_id": "other", "ports": [1]},
            {"id": "2", "name": "R2", "status": "failed", "error": "boom", "result": "partly"},
        ],
        "metadata": {"tool_name": "a_tool", "version": "v1.0", "execution_time": 0.25, "note": "n"},
        "more": {"kept": True},
    }
    assert normalize_tool_response(response, "another_tool") == response
    assert normalize_tool_response(json.dumps(response)) == response


def test_a_valid_response_without_items_may_be_a_success() -> None:
    response = normalize_tool_response({"success": True, "data": []}, "a_tool")
    assert response["success"] is True
    assert normalize_tool_response(response) == response


def test_the_input_is_not_changed() -> None:
    raw = {"nodes": [{"name": "R1", "error": None}], "metadata": {"a": 1}, "execution_time": 2}
    before = json.dumps(raw)
    normalize_tool_response(raw, "a_tool")
    assert json.dumps(raw) == before


@pytest.mark.parametrize(
    "raw",
    [
        {"results": ["x"], "execution_time": 1.5},
        {"output": "x", "execution_time": 1.5},
        {"output": "x", "metadata": {"execution_time": 1.5}},
    ],
)
def test_the_execution_time_is_kept_in_the_metadata(raw: dict[str, Any]) -> None:
    assert normalize_tool_response(raw)["metadata"]["execution_time"] == 1.5


def test_no_execution_time_is_invented() -> None:
    assert normalize_tool_response("x", "a_tool")["metadata"] == {"tool_name": "a_tool", "version": "v1.0"}


def test_another_version_and_name_are_kept_beside_ours() -> None:
    response = normalize_tool_response({"output": "x", "metadata": {"version": "15.2", "tool_name": 5}}, "a_tool")
    assert response["metadata"] == {
        "tool_name": "a_tool",
        "version": "v1.0",
        "original_version": "15.2",
        "original_tool_name": 5,
    }


@pytest.mark.parametrize("name", STRANGE_VALUES)
def test_strange_values(name: str) -> None:
    response = normalize_tool_response(STRANGE_VALUES[name], "a_tool")
    assert_is_v1(response)
    assert normalize_tool_response(response, "a_tool") == response


@pytest.mark.parametrize("name", ["list inside itself", "dict inside itself", "lone surrogate", "bytes", "exception"])
def test_strange_values_keep_their_text(name: str) -> None:
    assert "kept" in json.dumps(normalize_tool_response(STRANGE_VALUES[name]))


@pytest.mark.parametrize("name", ["deep list", "deep dict", "doubling list"])
def test_the_bottom_of_deep_values_is_kept(name: str) -> None:
    assert "the bottom" in json.dumps(normalize_tool_response(STRANGE_VALUES[name]))


@settings(max_examples=400)
@given(answers, st.none() | st.text(max_size=3))
@example({"success": True, "status": "failed", "nodes": [], "failed": 1}, None)
@example({"id": "1", "node_id": "2", "name": "a", "device_name": "b", "output": "c", "result": "d", "error": "e"}, None)
@example({"data": {"a": {"name": "b"}, "c": {"name": ""}}, "name": "d", "status": "e"}, None)
@example({"metadata": {"metadata": "a", "version": "b", "original_version": "c"}, "version": "d"}, None)
@example([{"status": "a", "original_status": "b", "original_original_status": "c"}], None)
def test_any_answer_becomes_v1_and_says_all_that_it_said(raw: Any, tool_name: str | None) -> None:
    response = normalize_tool_response(raw, tool_name)
    assert_is_v1(response)
    assert_says_all_of(response, raw)


@settings(max_examples=400)
@given(answers, st.none() | st.text(max_size=3))
def test_normalising_twice_is_normalising_once(raw: Any, tool_name: str | None) -> None:
    response = normalize_tool_response(raw, tool_name)
    assert normalize_tool_response(response, tool_name) == response
    assert normalize_tool_response(json.dumps(response), tool_name) == response


@given(answers)
def test_a_text_means_what_its_data_means(raw: Any) -> None:
    data = plain(raw)
    response = normalize_tool_response(data)
    assume(isinstance(data, dict | list))
    assume("gave no result" not in response.get("error", ""))  # which quotes the text
    assert normalize_tool_response(json.dumps(data)) == response
    assert normalize_tool_response(repr(data)) == response
    assert normalize_tool_response(json.dumps(data).encode()) == response


@given(st.text(alphabet="[]{}()'\"\\,:-+1 aeENTrufns\n#") | st.text(st.characters(codec=None)))
def test_any_text_is_kept(text: str) -> None:
    response = normalize_tool_response(text)
    assert_is_v1(response)
    assert_says_all_of(response, text)


@given(values(older_keys, st.sampled_from([None, "", " ", False, "{}", "null"])))
def test_nothing_is_never_a_success(raw: Any) -> None:
    response = normalize_tool_response(raw)
    assert_is_v1(response)
    assert response["success"] is False


@given(st.dictionaries(older_keys, answers, max_size=4), st.text(min_size=1))
def test_an_error_is_never_a_success(raw: dict[str, Any], error: str) -> None:
    assert normalize_tool_response({**raw, "error": error})["success"] is False


def test_numbers_are_kept() -> None:
    (item,) = normalize_tool_response({"name": "R1", "x": 1.5, "y": -3, "z": math.nan})["data"]
    assert (item["x"], item["y"], item["z"]) == (1.5, -3, "NaN")
