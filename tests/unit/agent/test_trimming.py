"""A conversation of any size becomes a valid one that fits, with the newest question in it, or is refused clearly."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import convert_to_openai_messages

from gns3server_copilot.agent.counting import Counter
from gns3server_copilot.agent.trimming import RESULT_STEPS, DoesNotFitError, Fitted, fit, shortened
from tests.ground.event_rules import check_error_text
from tests.ground.message_rules import check_messages
from tests.unit.agent.histories import DUMP, RESULTS, Maker, exchanges, history

COUNTER = Counter()


def fitted(messages: list[AnyMessage], budget: int) -> Fitted:
    """Fit the messages and check every rule."""
    result = fit(messages, budget, COUNTER.messages)
    assert result.tokens == sum(COUNTER.messages(result.messages)) <= budget
    sent = convert_to_openai_messages([SystemMessage("prompt"), *result.messages])
    assert check_messages(sent) == []
    newest = next(message for message in reversed(messages) if isinstance(message, HumanMessage))
    assert newest in result.messages
    assert result.messages[-1].id == messages[-1].id
    kept = {id(message) for message in result.messages}
    for message in result.messages:
        if not any(message is one for one in messages):
            assert isinstance(message, ToolMessage), "only results are shortened"
    assert result.left_out == (len(result.messages) < len(messages))
    assert len(kept) == len(result.messages)
    return result


def least(messages: list[AnyMessage]) -> int:
    """Give the fewest tokens that must be kept: the newest question, and the last answer that called tools."""
    question = max(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
    last = max((i for i, one in enumerate(messages) if isinstance(one, AIMessage) and i > question), default=None)
    kept = [messages[question], *(messages[last:] if last else [])]
    short = [
        one.model_copy(update={"content": shortened(one.content, RESULT_STEPS[-1])})
        if isinstance(one, ToolMessage) and len(one.content) > RESULT_STEPS[-1]
        else one
        for one in kept
    ]
    return sum(COUNTER.messages(short))


budgets = st.integers(500, 200_000) | st.sampled_from([500, 600, 800, 1_000, 2_000, 4_000, 200_000])


@settings(deadline=None, max_examples=150)
@given(st.lists(exchanges, min_size=1, max_size=40), budgets)
@example([("Why?", [[DUMP, DUMP, DUMP]] * 5, "")], 20_000)
@example([("Why?", [[RESULTS[3]]] * 2, "")], 500)
def test_any_conversation_fits_or_is_refused(parts: list[tuple[str, list[list[str]], str]], budget: int) -> None:
    messages = history(parts)
    try:
        fitted(messages, budget)
    except DoesNotFitError:
        assert least(messages) > budget


@pytest.mark.slow
@settings(deadline=None, max_examples=5_000)
@given(st.lists(exchanges, min_size=1, max_size=40), budgets)
def test_any_conversation_fits_or_is_refused_at_length(
    parts: list[tuple[str, list[list[str]], str]], budget: int
) -> None:
    messages = history(parts)
    try:
        fitted(messages, budget)
    except DoesNotFitError:
        assert least(messages) > budget


def test_what_fits_stays_as_it_is() -> None:
    messages = history([("Why?", [["a"], ["b", "c"]], "So."), ("And?", [], "")])
    assert fitted(messages, 10_000).messages == messages


def test_old_results_are_shortened_before_anything_is_left_out() -> None:
    made = Maker()
    for number in range(6):
        made.ask(f"question {number}")
        made.call([f"{number} " + RESULTS[2]])
        made.answer("So.")
    made.ask("now?")
    whole = sum(COUNTER.messages(made.messages))
    result = fitted(made.messages, whole - 5_000)
    assert not result.left_out
    lengths = [len(one.content) for one in result.messages if isinstance(one, ToolMessage)]
    assert lengths == sorted(lengths)
    assert lengths[0] == 2_000
    first = next(one for one in result.messages if isinstance(one, ToolMessage))
    assert first.content.startswith("0 O    10.1")
    assert first.content.endswith(RESULTS[2][-500:])
    assert "left out here" in first.content


def test_whole_exchanges_are_left_out_the_oldest_first() -> None:
    messages = history([(f"question {number} " + "word " * 100, [], "So.") for number in range(50)])
    result = fitted(messages, 2_000)
    assert result.left_out
    assert isinstance(result.messages[0], HumanMessage)
    assert result.messages == messages[len(messages) - len(result.messages) :]


def test_a_long_turn_keeps_its_question_and_its_last_steps() -> None:
    messages = history([("What is wrong?", [[f"{number} " + RESULTS[2]] for number in range(30)], "")])
    result = fitted(messages, 12_000)
    assert result.messages[0].content == "What is wrong?"
    assert "29 O" in result.messages[-1].content
    assert len(result.messages[-1].content) >= 8_000, "what the model works on is cut last"


def test_a_question_that_is_too_large_is_refused_in_plain_words() -> None:
    with pytest.raises(DoesNotFitError) as raised:
        fit([HumanMessage("word " * 1_000, id="q")], 500, COUNTER.messages)
    assert check_error_text(raised.value.message) == []
    with pytest.raises(DoesNotFitError):
        fit([], 500, COUNTER.messages)


@given(st.text(), st.integers(0, 500))
def test_a_shortened_text_is_no_longer_than_it_may_be(text: str, characters: int) -> None:
    short = shortened(text, characters)
    assert len(short) <= max(characters, 0)
    assert short == text or len(text) > characters
