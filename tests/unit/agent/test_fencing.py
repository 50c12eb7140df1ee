"""Text from the lab cannot pass for anything else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from gns3server_copilot.agent.fencing import fenced, without_message_marks
from gns3server_copilot.agent.messages import stamp
from gns3server_copilot.agent.model_input import conversation
from gns3server_copilot.redaction.placeholders import placeholder


@given(st.text())
def test_what_stands_between_the_marks_does_not_hold_them(text):
    whole = fenced("topology", text)
    opening, closing = whole.split("\n")[0], whole.split("\n")[-1]
    assert re.fullmatch(r"<topology [0-9a-f]{12}>", opening)
    assert closing == f"</{opening[1:]}"
    assert opening[10:-1] not in text
    assert whole == f"{opening}\n{text}\n{closing}"


def test_a_text_that_holds_earlier_marks_has_another_number():
    first = fenced("topology", "R1")
    assert fenced("topology", "R1") == first
    second = fenced("topology", first)
    assert second.split("\n")[0] != first.split("\n")[0]


@pytest.mark.parametrize(
    "mark",
    [
        *(
            "<|im_start|>system",
            "<|im_end|>",
            "<|eot_id|>",
            "<|endoftext|>",
            "<|start_header_id|>",
            "<|tool_response|>",
        ),
        *("<s>", "</s>", "<bos>", "<start_of_turn>model", "<end_of_turn>", "<｜User｜>", "<｜tool▁outputs▁end｜>"),
        *("[INST]", "[/INST]", "[TOOL_RESULTS]", "<<SYS>>", "<</SYS>>", "</tool_response>", "<tool_call>", "</think>"),
    ],
)
def test_marks_between_messages_are_taken_apart(mark):
    changed = without_message_marks(f"a {mark} b")
    assert mark.split(">")[0] + ">" not in changed
    assert changed.replace(" ", "") == f"a {mark} b".replace(" ", "")
    assert without_message_marks(changed) == changed


@pytest.mark.parametrize(
    "text",
    [
        "R1# show run | include a > b",
        "10 < 20",
        "<cr>",
        "show ip route | begin Gateway",
        "[OK]",
        "<0-4294967295>",
        "<html>",
    ],
)
def test_other_text_stays(text):
    assert without_message_marks(text) == text


CALL = AIMessage("", tool_calls=[{"name": "x", "args": {}, "id": "1"}], id="a")


@pytest.mark.parametrize(
    ("hide", "noted", "shown"),
    [
        (True, False, f"enable password {placeholder('cisco')} < |x| >"),  # kept while the model was a local one
        (True, True, "enable password cisco < |x| >"),
        (False, False, "enable password cisco < |x| >"),
    ],
    ids=["kept-in-clear", "redacted-before", "local-model"],
)
def test_results_are_data_to_the_model_and_stay_as_they_are_in_the_history(hide, noted, shown):
    kept = ToolMessage("enable password cisco <|x|>", tool_call_id="1", id="t")
    if noted:
        stamp(kept, redacted=True)
    messages = [HumanMessage("q <|im_start|>", id="q"), CALL, kept]
    question, _, result = conversation(messages, "openai", hide_secrets=hide)
    assert (question.content, result.content) == ("q <|im_start|>", shown)
    assert kept.content == "enable password cisco <|x|>"


SECRET = "enable password cisco"
HIDDEN = f"enable password {placeholder('cisco')}"


def answered(noted: bool, **fields: object) -> AIMessage:
    answer = AIMessage(
        fields.pop("content", SECRET),
        tool_calls=[{"name": "look", "args": {"lines": [SECRET], "password": "cisco"}, "id": "1"}],
        id=f"answer-{noted}-{len(fields)}",
        response_metadata={"model_provider": "openai"},
        **fields,
    )
    return stamp(answer, redacted=True) if noted else answer


@pytest.mark.parametrize("provider", ["openai", "anthropic"], ids=["its-own", "another"])
@pytest.mark.parametrize(("hide", "noted"), [(True, False), (True, True), (False, False)])
def test_what_a_local_model_said_and_asked_for_is_kept_from_others(provider, hide, noted):
    answer = answered(noted, additional_kwargs={"reasoning_content": SECRET})
    messages = [HumanMessage("q", id="q"), answer, ToolMessage("done", tool_call_id="1", id="t")]
    for _ in range(2):
        sent = conversation(messages, provider, hide_secrets=hide)[1]
        hidden = hide and not noted
        assert sent.content == (HIDDEN if hidden else SECRET)
        [call] = sent.tool_calls
        assert call["args"]["lines"] == [HIDDEN if hidden else SECRET]
        assert (call["args"]["password"] == "cisco") is not hidden
        assert ("cisco" in str(sent.additional_kwargs)) is (not hidden and provider == "openai")
    assert answer.content == SECRET, "what is stored stays"


def test_thoughts_in_blocks_stay_as_they_are_or_go():
    kept = {"type": "thinking", "thinking": "well", "signature": "abc="}
    blocks = [kept, {"type": "thinking", "thinking": SECRET, "signature": "def="}, {"type": "text", "text": SECRET}]
    messages = [HumanMessage("q", id="q"), answered(False, content=blocks)]
    sent = conversation(messages, "openai", hide_secrets=True)[1]
    assert sent.content == [kept, {"type": "text", "text": HIDDEN}]
