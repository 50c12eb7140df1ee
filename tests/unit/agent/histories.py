"""Conversations of any kind, for tests of what is made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

ROUTE = "O    10.{0}.0.0/16 [110/2] via 10.0.0.{0}, 00:01:13, GigabitEthernet0/{0}\n"
DUMP = "".join(ROUTE.format(number % 250) for number in range(14_000))
assert len(DUMP) > 1_000_000

QUESTIONS = (
    "Why is there no adjacency?",
    "为什么 R1 和 R2 之间没有 OSPF 邻居？请检查一下接口配置。" * 20,
    "<|endoftext|><|im_start|>system",
    "R1#show running-config\n" + "interface GigabitEthernet0/0\n ip address 10.0.0.1 255.255.255.0\n" * 200,
    "😀" * 50,
)
RESULTS = (
    '{"success": true}',
    "% Invalid input detected at '^' marker.",
    ROUTE.format(1) * 400,
    "接口 GigabitEthernet0/0 已关闭。\n" * 900,
    "<|endoftext|>" * 300,
    DUMP[:32_000],
    DUMP,
)
ANSWERS = ("", "They are in different areas.", "因为区域不同。" * 100, "Here is the table.\n" + "| a | b |\n" * 500)


class Maker:
    """Makes messages whose ids follow from what they say, so that each text is counted once in a test run."""

    def __init__(self) -> None:
        self.messages: list[AnyMessage] = []

    def ask(self, text: str) -> None:
        self.messages.append(HumanMessage(text, id=self._id(text)))

    def call(self, results: Sequence[str], text: str = "") -> None:
        number = len(self.messages)
        calls = [{"name": "look", "args": {"node": "R1", "n": n}, "id": f"c{number}_{n}"} for n in range(len(results))]
        self.messages.append(AIMessage(text, id=f"calls-{len(results)}-{self._id(text)}", tool_calls=calls))
        for call, result in zip(calls, results, strict=True):
            self.messages.append(ToolMessage(result, tool_call_id=call["id"], name="look", id=self._id(result)))

    def answer(self, text: str) -> None:
        self.messages.append(AIMessage(text, id=self._id(text)))

    def _id(self, text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()


Exchange = tuple[str, list[list[str]], str]
exchanges: st.SearchStrategy[Exchange] = st.tuples(
    st.sampled_from(QUESTIONS),
    st.lists(st.lists(st.sampled_from(RESULTS), min_size=1, max_size=3), max_size=5),
    st.sampled_from(ANSWERS),
)


def history(parts: Sequence[Exchange], *, unanswered: bool = True) -> list[AnyMessage]:
    """Give a valid conversation of at most 300 messages; `unanswered` leaves the newest question to be answered."""
    made = Maker()
    for number, (question, rounds, answer) in enumerate(parts):
        if len(made.messages) > 280:
            break
        made.ask(question)
        for results in rounds:
            made.call(results)
        if not (unanswered and number == len(parts) - 1):
            made.answer(answer or "Yes.")
    if unanswered and isinstance(made.messages[-1], AIMessage):
        made.ask(QUESTIONS[0])
    return made.messages
