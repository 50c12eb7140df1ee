"""A stored conversation, however it broke off, becomes valid for the strictest provider."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from gns3server_copilot.agent.repair import as_sent, repaired


def asked(text="question"):
    return HumanMessage(text, id=f"h-{text}")


def calling(*ids):
    return AIMessage("", id="a-" + "-".join(ids), tool_calls=[{"name": "tool", "args": {}, "id": one} for one in ids])


def result(call_id, text="result"):
    return ToolMessage(text, tool_call_id=call_id, id=f"t-{call_id}-{text}")


def check(messages):
    """The rules of the strictest provider, written independently of the code under test."""
    position = 0
    previous = None
    while position < len(messages):
        message = messages[position]
        assert not isinstance(message, ToolMessage), "a result without its call"
        if isinstance(message, HumanMessage):
            assert not isinstance(previous, ToolMessage), "a question straight after a result"
        if isinstance(message, AIMessage):
            assert message.tool_calls or message.text.strip(), "an empty answer"
            for call in message.tool_calls:
                position += 1
                assert isinstance(messages[position], ToolMessage)
                assert messages[position].tool_call_id == call["id"]
        previous = messages[position]
        position += 1


def test_a_call_without_a_result_gets_one_that_says_so_directly_after_it():
    whole = repaired([asked(), calling("c1"), asked("again")])
    assert [type(message).__name__ for message in whole] == [
        "HumanMessage",
        "AIMessage",
        "ToolMessage",
        "AIMessage",
        "HumanMessage",
    ]
    response = json.loads(whole[2].content)
    assert response["success"] is False
    assert "partly carried out" in response["error"]


def test_of_parallel_calls_those_with_results_keep_them_in_the_order_of_the_calls():
    whole = repaired([asked(), calling("c1", "c2", "c3"), result("c2", "kept")])
    assert [message.tool_call_id for message in whole[2:]] == ["c1", "c2", "c3"]
    assert whole[3].content == "kept"


def test_a_result_that_came_late_is_put_after_its_call():
    whole = repaired([asked(), calling("c1"), asked("again"), result("c1", "late")])
    assert whole[2].content == "late"


def test_a_result_without_its_call_is_dropped():
    assert repaired([asked(), result("gone"), AIMessage("answer", id="a")]) == [asked(), AIMessage("answer", id="a")]


def test_a_valid_conversation_comes_back_equal():
    valid = [asked(), calling("c1", "c2"), result("c1"), result("c2"), AIMessage("answer", id="a"), asked("next")]
    assert repaired(valid) == valid


@pytest.mark.parametrize(
    ("notes", "words"),
    [({"error": "The key was refused."}, "The key was refused."), ({"aborted": True}, "interrupted")],
)
def test_an_empty_answer_is_sent_with_words_for_why_it_is_empty(notes, words):
    empty = AIMessage("", id="a", response_metadata={"copilot": notes})
    sent = as_sent([asked(), empty, asked("next")])
    assert words in sent[1].text
    assert empty.content == ""


messages = st.lists(
    st.one_of(
        st.builds(asked, st.sampled_from(["x", "y"])),
        st.builds(AIMessage, st.sampled_from(["", " ", "answer"]), id=st.uuids().map(str)),
        st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True).map(lambda ids: calling(*ids)),
        st.builds(result, st.sampled_from("abcdefg")),
        st.just(SystemMessage("old prompt", id="s")),
    ),
    max_size=10,
)


@given(messages)
def test_any_sequence_becomes_valid_and_repairing_again_changes_nothing(sequence):
    seen: set[str] = set()
    unique = []
    for message in sequence:  # the assembler guarantees that a call id is used once in a session
        ids = {call["id"] for call in getattr(message, "tool_calls", [])}
        if ids & seen:
            continue
        seen |= ids
        unique.append(message)
    check(as_sent(unique))
    once = repaired(unique)
    assert repaired(once) == once
