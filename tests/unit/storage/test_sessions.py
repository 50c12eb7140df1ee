from __future__ import annotations

import asyncio
import re
from dataclasses import asdict

import pytest

from gns3server_copilot.errors import NotFoundError
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.storage.database import ProjectDatabase
from gns3server_copilot.storage.sessions import Session
from tests.unit.storage.conftest import ALICE, BOB, Ask, finish, rows

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00"


async def titles(database: ProjectDatabase, user: str = ALICE, **filters: object) -> list[str]:
    sessions, _ = await database.sessions.list(user, **filters)  # type: ignore[arg-type]
    return [session.title for session in sessions]


async def test_a_new_session_is_empty_and_has_every_field(database: ProjectDatabase) -> None:
    session = await database.sessions.create("t", ALICE, title="Ping", metadata={"copilot_mode": str(Mode.TEACHING)})
    assert re.fullmatch(TIME, session.created_at)
    assert asdict(session) == {
        "id": 1,
        "thread_id": "t",
        "user_id": ALICE,
        "project_id": database.project.project_id,
        "title": "Ping",
        "message_count": 0,
        "llm_calls_count": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "total_tokens": 0,
        "last_message_at": None,
        "created_at": session.created_at,
        "updated_at": session.created_at,
        "metadata": {"copilot_mode": "teaching_assistant"},
        "stats": {},
        "pinned": False,
    }
    assert await database.sessions.get("t") == session


async def test_creating_twice_gives_the_first_session(database: ProjectDatabase) -> None:
    first = await database.sessions.create("t", ALICE, title="one")
    assert await database.sessions.create("t", ALICE, title="two") == first


async def test_two_creations_at_once_give_one_session(database: ProjectDatabase) -> None:
    one, two = await asyncio.gather(*(database.sessions.create("t", ALICE) for _ in range(2)))
    assert one == two


async def test_somebody_elses_session_does_not_exist(database: ProjectDatabase) -> None:
    await database.sessions.create("t", ALICE)
    with pytest.raises(NotFoundError):
        await database.sessions.create("t", BOB)
    with pytest.raises(NotFoundError):
        await database.sessions.get_own("t", BOB)
    assert (await database.sessions.get_own("t", ALICE)).thread_id == "t"
    assert await titles(database, BOB) == []


async def test_an_unknown_session_is_none_or_not_found(database: ProjectDatabase) -> None:
    sessions = database.sessions
    assert await sessions.get("t") is None
    with pytest.raises(NotFoundError):
        await finish(database)
    with pytest.raises(NotFoundError):
        await sessions.rename("t", "x")
    with pytest.raises(NotFoundError):
        await sessions.set_pinned("t", True)
    with pytest.raises(NotFoundError):
        await sessions.get_own("t", ALICE)


async def test_an_id_used_before_starts_empty(database: ProjectDatabase, ask: Ask) -> None:
    await database.sessions.create("t", ALICE)
    await ask(database.saver, "t", "first")
    await database.delete_session("t")
    await ask(database.saver, "t", "written by a turn that ended too late")
    await database.sessions.create("t", BOB)
    assert len(await ask(database.saver, "t", "second")) == 4


async def test_a_turn_adds_to_the_counters(database: ProjectDatabase) -> None:
    await database.sessions.create("t", ALICE)
    await finish(
        database,
        message_count=4,
        llm_calls=2,
        input_tokens=100,
        output_tokens=20,
        estimated=True,
        stats={"window": 0.5},
    )
    session = await finish(
        database, message_count=6, llm_calls=1, input_tokens=10, output_tokens=2, estimated=False, stats={"turns": 2}
    )
    counters = (session.message_count, session.llm_calls_count, session.input_tokens, session.output_tokens)
    assert counters == (6, 3, 110, 22)
    assert session.total_tokens == 132
    assert session.stats == {"tokens_estimated": True, "window": 0.5, "turns": 2}
    assert session.last_message_at == session.updated_at > session.created_at


async def test_exact_tokens_are_not_called_estimated(database: ProjectDatabase) -> None:
    await database.sessions.create("t", ALICE)
    assert (await finish(database)).stats == {}


async def test_turns_recorded_at_once_are_all_counted(database: ProjectDatabase) -> None:
    await database.sessions.create("t", ALICE)
    await asyncio.gather(*(finish(database, input_tokens=2, output_tokens=3) for _ in range(20)))
    session = await database.sessions.get("t")
    assert session is not None
    assert (session.llm_calls_count, session.total_tokens) == (20, 100)


async def test_pinned_sessions_come_first_then_the_newest(database: ProjectDatabase) -> None:
    for name in "abcd":
        await database.sessions.create(name, ALICE, title=name)
    await database.sessions.create("bob", BOB, title="bob")
    await finish(database, "a")
    assert await titles(database) == ["a", "d", "c", "b"]
    assert (await database.sessions.set_pinned("b", True)).pinned is True
    assert await titles(database) == ["b", "a", "d", "c"]
    assert (await database.sessions.set_pinned("b", False)).pinned is False
    assert await titles(database) == ["a", "d", "c", "b"]


async def test_sessions_of_the_same_moment_keep_their_order_over_pages(database: ProjectDatabase) -> None:
    for name in "abcd":
        await database.sessions.create(name, ALICE, title=name)
    await rows(database, "UPDATE chat_sessions SET updated_at = ''")
    assert [await titles(database, limit=1, offset=offset) for offset in range(4)] == [["d"], ["c"], ["b"], ["a"]]


async def test_pages_know_the_number_of_all(database: ProjectDatabase) -> None:
    for name in "abcde":
        await database.sessions.create(name, ALICE, title=name)
    page, total = await database.sessions.list(ALICE, limit=2, offset=1)
    assert [session.title for session in page] == ["d", "c"]
    assert total == 5
    page, total = await database.sessions.list(ALICE, offset=4)
    assert [session.title for session in page] == ["a"]
    assert total == 5
    assert await database.sessions.list(ALICE, limit=2, offset=9) == ([], 5)


async def test_sessions_are_found_by_mode_pin_and_part_of_the_title(database: ProjectDatabase) -> None:
    sessions = database.sessions
    await sessions.create("1", ALICE, title="OSPF 100% broken", metadata={"copilot_mode": "teaching_assistant"})
    await sessions.create("2", ALICE, title="ospf_area", metadata={"copilot_mode": "lab_automation_assistant"})
    await sessions.create("3", ALICE, title="Bridge 1000")
    await sessions.set_pinned("3", True)
    assert await titles(database, q="ospf") == ["ospf_area", "OSPF 100% broken"]
    assert await titles(database, q="100%") == ["OSPF 100% broken"]
    assert await titles(database, q="_") == ["ospf_area"]
    assert await titles(database, q="\\") == []
    assert await titles(database, q="' OR 1=1 --") == []
    assert await titles(database, q="x" * 100_000) == []
    assert await titles(database, q="\ud800") == []
    assert await titles(database, pinned=True) == ["Bridge 1000"]
    assert await titles(database, pinned=False, q="ospf", mode=Mode.TEACHING) == ["OSPF 100% broken"]
    assert await titles(database, mode="lab_automation_assistant") == ["ospf_area"]


async def test_a_persons_title_is_never_replaced_by_an_automatic_one(database: ProjectDatabase) -> None:
    sessions = database.sessions
    await sessions.create("t", ALICE, title="first words", metadata={"copilot_mode": "x"})
    generated = await finish(database, title="generated")
    assert generated.title == "generated"
    renamed = await sessions.rename("t", "mine")
    assert renamed.title == "mine"
    await sessions.create("t", ALICE, copilot_mode="y")
    late = await finish(database, title="generated too late")
    assert late.title == "mine"
    assert late.metadata["copilot_mode"] == "y"
    assert (await sessions.rename("t", "mine again")).title == "mine again"
    assert generated.updated_at == renamed.updated_at < late.updated_at


async def test_half_a_surrogate_pair_in_a_title_is_replaced(database: ProjectDatabase) -> None:
    assert (await database.sessions.create("t", ALICE, title="a\ud800")).title == "a?"
    assert (await database.sessions.rename("t", "b\udfff")).title == "b?"


@pytest.mark.parametrize("garbage", ["", "{", "[1]", "null", "7", '"text"', "[" * 50_000])
async def test_json_that_is_none_or_no_object_counts_as_empty(database: ProjectDatabase, garbage: str) -> None:
    await database.sessions.create("t", ALICE)
    statement = "UPDATE chat_sessions SET metadata = ?, stats = ?"
    await database.write(lambda connection: connection.execute(statement, (garbage, garbage)).close())
    session = await database.sessions.get("t")
    assert session is not None
    assert (session.metadata, session.stats) == ({}, {})
    assert await titles(database, mode="teaching_assistant") == []
    assert (await database.sessions.create("t", ALICE, copilot_mode="x")).metadata == {"copilot_mode": "x"}
    assert (await finish(database, estimated=True)).stats == {"tokens_estimated": True}


async def test_sessions_stay_when_the_file_is_opened_again(project: ProjectRef) -> None:
    database = await ProjectDatabase.open(project)
    created = await database.sessions.create("t", ALICE, title="kept")
    await database.close()
    database = await ProjectDatabase.open(project)
    kept: Session | None = await database.sessions.get("t")
    await database.close()
    assert kept == created
