"""kill -9 at random points of running turns: what was finished is there, what was not is put right.

Several conversations run turn after turn without pause, so that one kill meets each of them at another point. The seed
is printed; `COPILOT_KILL_SEED` repeats a run's choices.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import uuid
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

import httpx
import pytest

from tests.ground.chat import ask, configure_model, history, open_turn, session
from tests.ground.event_rules import check_event_order
from tests.ground.message_rules import check_messages
from tests.ground.model_script import call, text, tool_calls
from tests.ground.projects import Project, Projects
from tests.ground.sse import Event, StreamError, text_of
from tests.ground.users import log_in_admin, ok

#: Conversations that run at once, and so points at which one kill meets a turn.
CONVERSATIONS = 10
WORDS = "one two three four five six seven eight"


@dataclass
class Conversation:
    """What a client has seen of a session."""

    session_id: str
    #: the events of every turn whose end has come, with its question
    finished: list[tuple[str, list[Event]]] = field(default_factory=list)
    #: what has come of the turn that the kill cut off
    unfinished: list[Event] = field(default_factory=list)


def answer(request):
    """Half the questions are answered after a look at the lab."""
    if request.messages[-1]["role"] == "user" and request.messages[-1]["content"].startswith("look"):
        return tool_calls(
            call("get_gns3_templates", {"name": "VPCS"}), call("create_gns3_node", {"nodes": []}), text="I look."
        )
    return text(WORDS)


async def talk(admin, project, conversation, chance):
    """Ask question after question until the server dies."""
    number = 0
    with suppress(httpx.TransportError, StreamError):
        while True:
            number += 1
            question = f"{chance.choice(('look', 'say'))} {number}"
            conversation.unfinished = []
            async with open_turn(admin, project, question, session_id=conversation.session_id) as stream:
                conversation.unfinished = stream.events
                events = await stream.rest()
            check_event_order(events)
            conversation.finished.append((question, events))
            conversation.unfinished = []


async def is_put_right(admin, project, conversation):
    """What was finished is there as it was shown, and nothing is left hanging."""
    sid = conversation.session_id
    if not conversation.finished and (await admin.get(f"{project.chat}/sessions/{sid}")).status_code == 404:
        return
    messages = await history(admin, project, sid)
    # what a provider would be sent next: every call answered, no two questions in a row
    conversational = [{key: one[key] for key in one if key in WIRE_FIELDS} for one in messages]
    rest = [{"role": "system", "content": "x"}, *filled(conversational), {"role": "user", "content": "x"}]
    assert check_messages(rest) == []
    assert messages[-1]["role"] == "assistant"
    turns = split_at_questions(messages)
    for (question, events), turn in zip(conversation.finished, turns, strict=False):
        assert turn[0]["content"] == question
        assert "".join(one["content"] for one in turn if one["role"] == "assistant") == text_of(events)
        assert not any(one["metadata"].get("aborted") for one in turn)
    assert len(turns) in (len(conversation.finished), len(conversation.finished) + 1)
    if len(turns) > len(conversation.finished) and turns[-1][-1]["metadata"].get("aborted"):
        # of the answer that was cut off, whole messages are kept
        kept = [one["content"] for one in turns[-1] if one["role"] == "assistant" and one["content"]]
        assert all(words in ("I look.", WORDS) for words in kept)
    kept = await session(admin, project, sid)
    assert kept["message_count"] == len(messages)
    assert kept["running"] is False
    answers = sum(one["role"] == "assistant" and bool(one["content"]) for one in messages)
    assert kept["llm_calls_count"] >= answers
    assert kept["total_tokens"] >= 110 * answers


WIRE_FIELDS = {"role", "content", "tool_calls", "tool_call_id"}


def filled(messages):
    """An answer of which nothing had come has no words in the history."""
    return [{**one, "content": one["content"] or "(nothing)"} for one in messages]


def split_at_questions(messages):
    turns = []
    for message in messages:
        if message["role"] == "user":
            turns.append([])
        turns[-1].append(message)
    return turns


async def killed(server, model_server, project: Project, chance: random.Random):
    """Let conversations run in the project, kill the server at some moment, start it again, and look."""
    conversations = [Conversation(str(uuid.uuid4())) for _ in range(CONVERSATIONS)]
    seed = chance.random()
    async with aclosing(await log_in_admin(server)) as admin:
        before = len(model_server.requests)
        talks = [
            asyncio.create_task(talk(admin, project, one, random.Random(f"{seed} {number}")))
            for number, one in enumerate(conversations)
        ]
        # not before all of them are under way: the first turn of a server's life spends its time on imports
        await model_server.received(before + CONVERSATIONS, seconds=60)
        await asyncio.sleep(chance.uniform(0, 0.7))
        await asyncio.to_thread(server.kill)
        await asyncio.gather(*talks)
    await asyncio.to_thread(server.start)
    async with aclosing(await log_in_admin(server)) as admin:
        await ok(admin.post(f"{project.url}/open"))
        for conversation in conversations:
            await is_put_right(admin, project, conversation)
        for conversation in conversations:
            events = await ask(admin, project, "say more", session_id=conversation.session_id)
            assert text_of(events) == WORDS
            earlier = [event for _, events in conversation.finished for event in events]
            check_event_order(events, earlier=[*earlier, *conversation.unfinished])
            assert (await history(admin, project, conversation.session_id))[-1]["content"] == WORDS
        with sqlite3.connect(project.chat_database) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            counted = "SELECT (SELECT count(*) FROM checkpoints), (SELECT count(*) FROM chat_sessions)"
            checkpoints, sessions = database.execute(counted).fetchone()
            assert checkpoints == sessions
        assert not list(project.chat_database.parent.glob("*corrupt*"))
    return sum(len(one.finished) for one in conversations)


async def ten_points(start_gns3_server, model_server, part=0):
    seed = int(os.environ.get("COPILOT_KILL_SEED") or random.SystemRandom().randrange(2**32))
    print(f"COPILOT_KILL_SEED={seed}")
    chance = random.Random(f"{seed} {part}")
    model_server.always(answer)
    server = await asyncio.to_thread(start_gns3_server, copilot={"max_turns_per_user": CONVERSATIONS})
    async with aclosing(await log_in_admin(server)) as admin:
        await configure_model(admin, model_server)
        project = await Projects(admin).make(auto_close=False)
    await killed(server, model_server, project, chance)
    async with aclosing(await log_in_admin(server)) as admin:
        assert (await admin.delete(project.url)).status_code == 204
        assert not project.path.exists()


async def test_ten_random_points(start_gns3_server, model_server):
    await ten_points(start_gns3_server, model_server)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, 11))
async def test_a_hundred_random_points(start_gns3_server, model_server, part):
    await ten_points(start_gns3_server, model_server, part)
