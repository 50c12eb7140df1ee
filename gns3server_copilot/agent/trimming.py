"""Makes a conversation fit a number of tokens: what is old is shortened, then left out, and what is left is valid.

A conversation is a row of exchanges: a question and all that came of it. An exchange has rounds: the question, then
each answer of the model with the results of its calls. Only whole rounds go, so calls keep their results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from gns3server_copilot.errors import ModelError

#: Counts the tokens of messages, each as it is sent.
Count = Callable[[Sequence[AnyMessage]], list[int]]

#: Rounds at the end whose results are old last: the model is at work on them.
FRESH_ROUNDS = 2
#: Characters to which an old result is shortened before anything is left out.
OLD_RESULT = 2_000
#: Characters to which the results of the newest exchange are shortened, step by step, when it alone is too long.
RESULT_STEPS = (16_000, 8_000, 4_000, 2_000, 1_000, 400)
#: The part of a shortened text that is its beginning.
HEAD_SHARE = 0.7


class DoesNotFitError(ModelError):
    """Even the newest exchange, shortened, needs more tokens than there are."""

    def __init__(self) -> None:
        super().__init__(
            "This question is too large for the model's context window. Ask in smaller pieces, or raise the context "
            "limit in the AI profile.",
            "too_large",
        )


@dataclass(frozen=True)
class Fitted:
    """A conversation that fits: its messages, their tokens, and whether something of it was left out."""

    messages: list[AnyMessage]
    tokens: int
    left_out: bool


def fit(messages: Sequence[AnyMessage], budget: int, count: Count) -> Fitted:
    """Give the conversation in at most `budget` tokens, from a valid one without system message.

    The newest question stays whole, and with it the newest answer that has called tools. Raises DoesNotFitError when
    that is too much.
    """
    return _Fitting(messages, budget, count).fit()


def shortened(text: str, characters: int) -> str:
    """Give head and tail of a text, and how much is missing between them; a short text as it is."""
    note = f"\n… {len(text)} characters, of which the middle is left out here …\n"
    room = characters - len(note)
    if len(text) <= characters or room <= 0:
        return text if len(text) <= characters else text[:characters]
    head = int(room * HEAD_SHARE)
    return text[:head] + note + text[len(text) - (room - head) :]


class _Entry:
    def __init__(self, message: AnyMessage, tokens: int) -> None:
        self.whole = message
        self.message = message
        self.tokens = tokens


class _Fitting:
    def __init__(self, messages: Sequence[AnyMessage], budget: int, count: Count) -> None:
        self._count = count
        self._budget = budget
        self._exchanges: list[list[list[_Entry]]] = []
        for message, tokens in zip(messages, count(messages), strict=True):
            entry = _Entry(message, tokens)
            if isinstance(message, HumanMessage):
                self._exchanges.append([[entry]])
            elif not self._exchanges:
                continue  # a conversation starts with a question
            elif isinstance(message, ToolMessage):
                self._exchanges[-1][-1].append(entry)
            else:
                self._exchanges[-1].append([entry])
        self._whole = len(messages)
        self._tokens = sum(entry.tokens for entry in self._entries())

    def fit(self) -> Fitted:
        if not self._exchanges:
            raise DoesNotFitError
        rounds = [one for exchange in self._exchanges for one in exchange]
        self._shorten(rounds[:-FRESH_ROUNDS], OLD_RESULT)
        while self._too_much and len(self._exchanges) > 1:
            self._leave_out(self._exchanges.pop(0))
        self._fit_newest(self._exchanges[-1])
        if self._too_much:
            raise DoesNotFitError
        messages = [entry.message for entry in self._entries()]
        return Fitted(messages, self._tokens, left_out=len(messages) < self._whole)

    def _fit_newest(self, rounds: list[list[_Entry]]) -> None:
        """Make an exchange fit that is too long by itself: what the model is at work on is cut last."""
        question = 1
        self._shorten(rounds[:-FRESH_ROUNDS], RESULT_STEPS[-1])
        self._shorten(rounds, RESULT_STEPS[0])
        while self._too_much and len(rounds) > question + FRESH_ROUNDS:
            self._leave_out([rounds.pop(question)])
        for characters in RESULT_STEPS[1:]:
            self._shorten(rounds, characters)
        while self._too_much and len(rounds) > question + 1:
            self._leave_out([rounds.pop(question)])

    @property
    def _too_much(self) -> bool:
        return self._tokens > self._budget

    def _entries(self) -> list[_Entry]:
        return [entry for exchange in self._exchanges for one in exchange for entry in one]

    def _leave_out(self, rounds: Iterable[list[_Entry]]) -> None:
        self._tokens -= sum(entry.tokens for one in rounds for entry in one)

    def _shorten(self, rounds: Iterable[list[_Entry]], characters: int) -> None:
        """Shorten tool results, the oldest first, for as long as there is too much."""
        for entry in [entry for one in rounds for entry in one]:
            if not self._too_much:
                return
            text = entry.whole.content
            if not isinstance(entry.whole, ToolMessage) or not isinstance(text, str):
                continue
            if len(entry.message.content) <= characters:
                continue
            shorter = entry.whole.model_copy(update={"content": shortened(text, characters)})
            [tokens] = self._count([shorter])
            self._tokens += tokens - entry.tokens
            entry.message, entry.tokens = shorter, tokens
