from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.tools.response import TEXT_LIMIT, build, failed, failure, succeeded, to_text
from gns3server_copilot.utils import normalize_tool_response
from gns3server_copilot.utils.tool_response import is_response
from tests.unit.utils.strange_values import STRANGE_VALUES, is_strict_json, texts, values


def test_a_response_counts_its_items() -> None:
    items = [succeeded("1", "R1", "up"), failed("2", "R2", "no route", port="e0")]
    assert build("a_tool", items, seconds=1.23456, compute="local") == {
        "success": False,
        "total": 2,
        "successful": 1,
        "failed": 1,
        "data": [
            {"id": "1", "name": "R1", "status": "success", "result": "up"},
            {"id": "2", "name": "R2", "status": "failed", "error": "no route", "port": "e0"},
        ],
        "metadata": {"tool_name": "a_tool", "version": "v1.0", "execution_time": 1.235, "compute": "local"},
    }


def test_success_is_that_nothing_failed() -> None:
    assert build("a_tool", [succeeded("1", "R1", "")], seconds=0)["success"] is True
    assert build("a_tool", [], seconds=0)["success"] is True
    assert build("a_tool", [failed("1", "R1", "x")], seconds=0)["success"] is False


def test_a_whole_failure_has_no_items() -> None:
    assert failure("a_tool", "no such mode") == {
        "success": False,
        "total": 0,
        "successful": 0,
        "failed": 0,
        "data": [],
        "error": "no such mode",
        "metadata": {"tool_name": "a_tool", "version": "v1.0", "execution_time": 0.0},
    }


@pytest.mark.parametrize(
    ("result", "text"), [({"é": 1}, '{"é": 1}'), ([], "[]"), (None, ""), (b"x", "x"), (1.5, "1.5")]
)
def test_a_result_is_a_text(result: object, text: str) -> None:
    assert succeeded("1", "R1", result)["result"] == text


def test_a_failure_always_says_something() -> None:
    assert failed("1", "R1", "")["error"]
    assert failure("a_tool", "")["error"]


@pytest.mark.parametrize("name", STRANGE_VALUES)
def test_items_of_strange_values_are_strict_json(name: str) -> None:
    value = STRANGE_VALUES[name]
    items = [succeeded("1", "R1", value, more=value), failed("2", "R2", value, result="partly", more=[value])]
    response = build("a_tool", items, seconds=0, more=value)
    assert is_response(response)
    assert is_strict_json(response)
    assert is_response(failure("a_tool", value, more=value))


@given(st.lists(values(st.sampled_from(["id", "name", "status", "result", "error"])), max_size=4))
def test_items_that_are_not_as_they_must_be_are_mended(items: list[Any]) -> None:
    response = build("a_tool", items, seconds=0)
    assert is_response(response)
    assert response["total"] == len(items)
    assert normalize_tool_response(response) == response


def test_a_short_response_is_written_as_it_is() -> None:
    response = build("a_tool", [succeeded("1", "Zürich", "up")], seconds=0)
    text = to_text(response)
    assert json.loads(text) == response
    assert "Zürich" in text
    assert "\n" not in text


def long_response(*results: str, **metadata: object) -> dict[str, Any]:
    return build(
        "a_tool", [succeeded(str(n), f"R{n}", result) for n, result in enumerate(results)], seconds=0, **metadata
    )


def test_a_long_text_loses_its_middle() -> None:
    response = long_response("short", "head" + "x" * 100_000 + "tail")
    text = to_text(response)
    shown = json.loads(text)
    short, cut = (item["result"] for item in shown["data"])
    assert TEXT_LIMIT * 0.8 < len(text.encode()) <= TEXT_LIMIT
    assert is_response(shown)
    assert short == "short"
    assert cut.startswith("headx")
    assert cut.endswith("xtail")
    assert f"… {100_000 - cut.count('x')} characters left out …" in cut
    assert shown["metadata"]["full_length"] == len(json.dumps(response, ensure_ascii=False).encode())


def test_the_longest_texts_are_cut_first() -> None:
    shown = json.loads(to_text(long_response("a" * 3000, "b" * 50_000, "c" * 50_000)))
    lengths = [len(item["result"]) for item in shown["data"]]
    assert lengths[0] == 3000
    assert abs(lengths[1] - lengths[2]) < 10


@pytest.mark.parametrize("character", ["x", "é", "😀", "\x1b", '"', "\\", "\n"])
def test_the_limit_is_in_bytes_of_utf_8(character: str) -> None:
    text = to_text(long_response(character * 40_000))
    assert TEXT_LIMIT * 0.8 < len(text.encode()) <= TEXT_LIMIT
    assert is_response(json.loads(text))


def test_too_many_entries_lose_their_middle_and_the_text_says_so() -> None:
    items = [succeeded(str(n), f"R{n}", "x") for n in range(5000)] + [failed("f", "last", "boom")]
    items.insert(2500, failed("m", "middle", "boom"))
    text = to_text(build("a_tool", items, seconds=0))
    shown = json.loads(text)
    assert len(text.encode()) <= TEXT_LIMIT
    assert is_response(shown)
    assert shown["data"][0]["name"] == "R0"
    assert shown["data"][-1]["name"] == "last"
    (stand_in,) = (item for item in shown["data"] if not item["name"])
    left_out = 5002 - shown["total"] + 1
    assert stand_in["error"] == f"{left_out} entries left out here: {left_out - 1} successful, 1 failed."
    assert shown["success"] is False


def test_left_out_successes_do_not_fail_the_response() -> None:
    shown = json.loads(to_text(build("a_tool", [succeeded(str(n), "R", "x") for n in range(5000)], seconds=0)))
    assert shown["success"] is True
    assert "entries left out here" in json.dumps(shown)


def test_structure_beside_the_texts_is_cut_too() -> None:
    items = [succeeded("1", "R1", "up", ports=list(range(50_000)))]
    text = to_text(build("a_tool", items, seconds=0, filters={str(n): n for n in range(50_000)}))
    shown = json.loads(text)
    assert len(text.encode()) <= TEXT_LIMIT
    assert is_response(shown)
    assert shown["data"][0]["result"] == "up"
    assert shown["data"][0]["more"].startswith('{"ports": [0, 1, 2')


def test_a_long_error_is_cut() -> None:
    shown = json.loads(to_text(failure("a_tool", "boom" + "x" * 100_000)))
    assert is_response(shown)
    assert shown["error"].startswith("boom")


@given(
    st.lists(
        st.builds(succeeded, texts, texts, texts | st.text(min_size=500), more=st.lists(texts))
        | st.builds(failed, texts, texts, texts | st.integers(0, 9000).map(lambda length: "e" * length)),
        max_size=30,
    ),
    st.integers(4096, 12_000),
)
def test_any_response_fits_and_stays_valid(items: list[dict[str, Any]], limit: int) -> None:
    response = build("a_tool", items, seconds=0)
    text = to_text(response, limit)
    assert len(text.encode()) <= limit
    shown = json.loads(text)
    assert is_response(shown)
    assert shown["success"] is response["success"]
    assert normalize_tool_response(text) == shown


def test_a_big_answer_is_cut_in_time() -> None:
    response = long_response(*["x" * 50_000] * 100)
    started = time.monotonic()
    to_text(response)
    assert time.monotonic() - started < 2
