"""Tokens of messages, counted once."""

from __future__ import annotations

import dataclasses
import logging

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from gns3server_copilot.agent import counting
from gns3server_copilot.agent.bounded import Bounded
from gns3server_copilot.agent.counting import TOKENS_AROUND, Counter, compare_counts
from tests.unit.llm.samples import CONFIG


@pytest.fixture
def counted(monkeypatch):
    texts = []

    def count(asked):
        texts.extend(asked)
        return [len(text.split()) for text in asked]

    monkeypatch.setattr(counting, "token_counts", count)
    return texts


def test_a_message_is_counted_once_and_again_when_it_says_something_else(counted):
    counter = Counter()
    first = HumanMessage("one two", id="a")
    assert counter.messages([first, HumanMessage("three", id="b")]) == [2 + TOKENS_AROUND, 1 + TOKENS_AROUND]
    assert counter.messages([first]) == [2 + TOKENS_AROUND]
    assert counted == ["one two", "three"]
    assert counter.messages([HumanMessage("one", id="a")]) == [1 + TOKENS_AROUND]
    assert counter.messages([first]) == [2 + TOKENS_AROUND]
    assert counted == ["one two", "three", "one"]


def test_everything_that_is_sent_is_counted(counted):
    thinking = AIMessage(
        [{"type": "thinking", "thinking": "well", "signature": "abc"}, {"type": "text", "text": "Yes."}],
        tool_calls=[{"name": "look", "args": {"node": "R1"}, "id": "c"}],
        additional_kwargs={"reasoning_content": "hmm"},
    )
    Counter().messages([thinking])
    assert all(part in counted[0] for part in ("well", "abc", "Yes.", "look", "R1", "hmm"))


def test_the_counts_that_are_kept_are_limited(counted):
    counter = Counter(kept=3)
    for name in "abcd":
        counter.messages([HumanMessage(name, id=name)])
    counter.messages([HumanMessage("d", id="d"), HumanMessage("b", id="b")])
    assert counted == ["a", "b", "c", "d"]
    counter.messages([HumanMessage("a", id="a")])
    assert counted[4:] == ["a"]


@pytest.mark.parametrize(("told", "lines"), [(1200, 0), (1300, 1), (700, 0), (4000, 1)])
def test_a_provider_that_counts_differently_is_logged_once(caplog, monkeypatch, told, lines):
    monkeypatch.setattr(counting, "_differing", Bounded(2))
    caplog.set_level(logging.INFO)
    for _ in range(3):
        compare_counts(dataclasses.replace(CONFIG, model="odd"), counted=1010, told=told)
    assert len({id(one) for one in caplog.records if "counts" in one.getMessage()}) == lines


def test_a_difference_is_logged_once_also_after_many_other_models(caplog, monkeypatch):
    monkeypatch.setattr(counting, "_differing", Bounded(2))
    caplog.set_level(logging.INFO)
    for name in ("a", "b", "c", "c", "c"):
        compare_counts(dataclasses.replace(CONFIG, model=name), counted=1010, told=4000)
    records = {id(one): one for one in caplog.records if one.name == counting.__name__}
    assert [one.getMessage().split(":")[0] for one in records.values()] == ["Model a", "Model b", "Model c"]
