"""The knowledge of a running server: replaced as a whole, or not at all."""

from __future__ import annotations

import asyncio
import shutil

from gns3server_copilot.knowledge.base import KnowledgeBase
from gns3server_copilot.settings import Settings
from tests.unit.knowledge.conftest import Fruit, write


async def test_what_was_taken_before_a_reload_stays_as_it_was(packaged, admin):
    base = KnowledgeBase(admin.parent, Settings())
    before = await base.current()
    write(admin, "fruits/apple.yaml", "name: Our apple\n")
    assert await base.current() is before
    reload = await base.reload()
    assert reload.replaced and reload.problems == ()
    assert before.of(Fruit)["apple"].name == "Apple"
    assert (await base.current()).of(Fruit)["apple"].name == "Our apple"
    # what has not changed is not read again
    assert reload.knowledge.of(Fruit)["pear"] is before.of(Fruit)["pear"]


async def test_a_reload_that_is_impossible_keeps_what_was_before(packaged, admin, caplog):
    write(admin, "fruits/plum.yaml", "name: Plum\n")
    base = KnowledgeBase(admin.parent, Settings(knowledge_path=str(admin)))
    before = await base.current()
    shutil.rmtree(admin)
    reload = await base.reload()
    assert not reload.replaced
    assert [problem.message for problem in reload.problems] == [
        "the directory cannot be read: No such file or directory"
    ]
    assert await base.current() is before
    assert "plum" in before.of(Fruit)
    assert str(admin) in caplog.text


async def test_a_start_without_the_named_directory_has_the_packaged_files_and_says_so(packaged, tmp_path):
    base = KnowledgeBase(tmp_path, Settings(knowledge_path="absent"))
    knowledge = await base.current()
    assert set(knowledge.of(Fruit)) == {"apple", "pear"}
    assert [problem.file for problem in knowledge.problems] == [str(tmp_path / "absent")]


async def test_loads_at_once_wait_for_each_other_and_wrong_files_are_logged(packaged, admin, caplog):
    base = KnowledgeBase(admin.parent, Settings())
    write(admin, "fruits/plum.yaml", "nam: Plum\n")
    snapshots = await asyncio.gather(*(base.current() for _ in range(5)))
    assert all(snapshot is snapshots[0] for snapshot in snapshots)
    assert "fruits/plum.yaml, line 1: name: Field required" in caplog.text
