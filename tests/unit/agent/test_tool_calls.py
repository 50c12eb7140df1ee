"""Tool calls come together right from whatever pieces a provider sends."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.agent.tool_calls import AssembledCall, ToolCallAssembler


def assemble(fragments, used_ids=(), cut_off=False):
    announced = []
    assembler = ToolCallAssembler(
        lambda call, complete: announced.append((call.id, call.name, call.arguments, complete)), used_ids
    )
    for fragment in fragments:
        assembler.add_fragment(fragment)
    return assembler.finish(cut_off), announced


def fragment(name=None, args=None, id=None, index=None):
    return {"name": name, "args": args, "id": id, "index": index}


FIRST = ("tool_a", {"n": 1})
SECOND = ("tool_b", {"n": 2})

TWO_CALLS = {
    "one after the other by index": [
        fragment("tool_a", "", "c1", 0),
        fragment(None, '{"n"', None, 0),
        fragment(None, ": 1}", None, 0),
        fragment("tool_b", "", "c2", 1),
        fragment(None, '{"n": 2}', None, 1),
    ],
    "interleaved by index": [
        fragment("tool_a", "", "c1", 0),
        fragment("tool_b", "", "c2", 1),
        fragment(None, '{"n": ', None, 0),
        fragment(None, '{"n": ', None, 1),
        fragment(None, "1}", None, 0),
        fragment(None, "2}", None, 1),
    ],
    "the same index with a new id": [fragment("tool_a", '{"n": 1}', "c1", 0), fragment("tool_b", '{"n": 2}', "c2", 0)],
    "no index, id in the first fragment only": [
        fragment("tool_a", '{"n": ', "c1"),
        fragment(None, "1}"),
        fragment("tool_b", '{"n": ', "c2"),
        fragment(None, "2}"),
    ],
    "whole calls without ids and index": [fragment("tool_a", '{"n": 1}'), fragment("tool_b", '{"n": 2}')],
    "whole calls with the same id": [fragment("tool_a", '{"n": 1}', "x"), fragment("tool_b", '{"n": 2}', "x")],
    "the same id under two indexes": [
        fragment("tool_a", '{"n": 1}', "x", 0),
        fragment("tool_b", '{"n": 2}', "x", 1),
    ],
    "the id repeated in every fragment": [
        fragment("tool_a", '{"n": ', "c1", 0),
        fragment(None, "1}", "c1", 0),
        fragment("tool_b", '{"n": ', "c2", 1),
        fragment(None, "2}", "c2", 1),
    ],
    "the id after the name": [
        fragment("tool_a", '{"n": ', None, 0),
        fragment(None, "1}", "c1", 0),
        fragment("tool_b", '{"n": 2}', "c2", 1),
    ],
}


@pytest.mark.parametrize("fragments", TWO_CALLS.values(), ids=TWO_CALLS.keys())
def test_two_calls_are_told_apart(fragments):
    calls, announced = assemble(fragments)
    assert [(call.name, call.as_tool_call()["args"]) for call in calls] == [FIRST, SECOND]
    assert len({call.id for call in calls}) == 2
    assert [entry for entry in announced if entry[3]] == [(call.id, call.name, call.arguments, True) for call in calls]


def test_an_id_that_the_conversation_has_used_before_is_replaced():
    calls, _ = assemble([fragment("tool_a", "{}", "c1", 0)], used_ids=["c1"])
    assert calls[0].id != "c1"


def test_the_first_announcement_has_the_final_name():
    _, announced = assemble([fragment(None, None, "c1", 0), fragment("tool_a", None, None, 0)])
    assert {name for _, name, _, _ in announced} == {"tool_a"}


@pytest.mark.parametrize("arguments", ['{"commands": ["no router ospf 1', '{"n": 1}}', "[1]", "nonsense", '"text"'])
def test_arguments_that_are_not_a_json_object_are_refused_and_kept_as_text(arguments):
    calls, _ = assemble([fragment("tool_a", arguments, "c1", 0)])
    assert calls[0].refusal
    assert calls[0].as_tool_call()["args"] == {"unparsed_arguments": arguments}


def test_every_call_of_an_answer_that_hit_its_length_limit_is_refused_even_if_it_parses():
    calls, _ = assemble([fragment("tool_a", '{"n": 1}', "c1", 0)], cut_off=True)
    assert "cut off" in calls[0].refusal


def test_calls_beyond_what_one_answer_may_hold_are_refused():
    calls, _ = assemble([fragment("tool_a", "{}", f"c{n}", n) for n in range(101)])
    assert [call.refusal is None for call in calls] == [True] * 100 + [False]


def test_huge_arguments_are_refused_and_do_not_fill_the_stream():
    pieces = [fragment("tool_a", '{"x": "', "c1", 0), *[fragment(None, "x" * 1000, None, 0)] * 3000]
    calls, announced = assemble(pieces)
    assert calls[0].refusal
    assert sum(len(arguments) for _, _, arguments, complete in announced if not complete) < 30_000_000
    assert len(calls[0].as_tool_call()["args"]["unparsed_arguments"]) == 10_000


def test_a_call_without_arguments_has_none():
    calls, _ = assemble([fragment("tool_a", None, "c1", 0)])
    assert calls[0].refusal is None
    assert calls[0].as_tool_call()["args"] == {}


def test_names_are_made_legal_for_every_provider():
    calls, _ = assemble([fragment("show me everything!" * 5, "{}", "c1", 0), fragment(None, "{}", "c2", 1)])
    assert calls[0].name == ("show_me_everything_" * 5)[:64]
    assert calls[1].name == "unnamed_tool"


texts = st.text(max_size=8)
any_fragment = st.fixed_dictionaries(
    {
        "name": st.none() | texts,
        "args": st.none() | texts | st.just('{"n": 1}'),
        "id": st.none() | st.sampled_from(["", "a", "b"]),
        "index": st.none() | st.integers(0, 2),
    }
)


@given(st.lists(any_fragment, max_size=12), st.booleans())
def test_any_pieces_give_calls_with_unique_ids_and_json_arguments_and_lose_no_text(fragments, cut_off):
    calls, announced = assemble(fragments, cut_off=cut_off)
    assert len({call.id for call in calls}) == len(calls)
    for call in calls:
        assert isinstance(call, AssembledCall)
        json.dumps(call.as_tool_call())
    for one in fragments:
        assert any((one["args"] or "") in call.arguments for call in calls)
    assert sum(1 for entry in announced if entry[3]) == len(calls)
