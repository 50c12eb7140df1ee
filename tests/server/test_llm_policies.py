"""What groups allow their members, and what comes of modes that are not allowed: over HTTP, with real tokens."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.ground.chat import ask
from tests.ground.llm_configs import config_body, default_name, make_config, of_group, of_user, policy_of
from tests.ground.projects import Project
from tests.ground.users import Accounts, UserClient, ok, unique

TEACHING, LAB, INJECTION = "teaching_assistant", "lab_automation_assistant", "troubleshooting_injection"
EVERYTHING = {"allowed_modes": [TEACHING, LAB, INJECTION], "own_configs": True, "may_inject": True}
MakeUser = Callable[..., Awaitable[UserClient]]


class Class:
    """A student in two groups, with a project."""

    def __init__(self, admin: UserClient, student: UserClient, project: Project, groups: list[str]) -> None:
        self.admin = admin
        self.student = student
        self.project = project
        self.groups = groups

    async def allow(self, number: int = 0, **policy: Any) -> None:
        await ok(self.admin.put(policy_of(self.groups[number]), json=policy))

    async def refused(self, **fields: Any) -> str:
        """Ask for a turn that must be refused, and give the reason."""
        answer = await self.student.post(f"{self.project.chat}/stream", json={"message": "hello", **fields})
        assert answer.status_code == 403, answer.text
        message = answer.json()["message"]
        assert isinstance(message, str)
        return message

    async def mode(self, **fields: Any) -> str:
        """Ask for a turn and give the mode that it had."""
        session_id = str(uuid.uuid4())
        events = await ask(self.student, self.project, "hello", session_id=session_id, **fields)
        assert events[-1]["type"] == "done"
        session = await ok(self.student.get(f"{self.project.chat}/sessions/{session_id}"))
        return str(session["metadata"]["copilot_mode"])


@pytest.fixture
async def class_(make_user: MakeUser, accounts: Accounts, admin: UserClient, make_project: Any) -> Class:
    student = await make_user(role="User")
    groups = [await accounts.group(unique("students")) for _ in range(2)]
    for group in groups:
        await accounts.add_to_group(student.user_id, group)
    return Class(admin, student, await make_project(student), groups)


async def test_a_policy_is_kept_and_replaced_as_a_whole(admin: UserClient, accounts: Accounts) -> None:
    path = policy_of(await accounts.group(unique("group")))
    assert await ok(admin.get(path)) == EVERYTHING
    strict = {"allowed_modes": [TEACHING], "own_configs": False, "may_inject": False}
    for policy, kept in (
        (strict, strict),
        ({"own_configs": False}, EVERYTHING | {"own_configs": False}),
        ({"allowed_modes": []}, EVERYTHING | {"allowed_modes": []}),
        ({"allowed_modes": None}, EVERYTHING),
        ({"allowed_modes": [LAB, TEACHING, LAB]}, EVERYTHING | {"allowed_modes": [TEACHING, LAB]}),
        ({}, EVERYTHING),
    ):
        assert await ok(admin.put(path, json=policy)) == kept
        assert await ok(admin.get(path)) == kept
    for wrong in ({"allowed_modes": ["nonsense"]}, {"own_config": False}, {"may_inject": "perhaps"}, []):
        assert (await admin.put(path, json=wrong)).status_code == 422
    nowhere = policy_of(str(uuid.uuid4()))
    assert (await admin.get(nowhere)).status_code == 404
    assert (await admin.put(nowhere, json={})).status_code == 404


async def test_a_mode_must_be_allowed_by_every_group(class_: Class) -> None:
    await make_config(class_.student, of_user(class_.student))
    assert await class_.mode(copilot_mode=LAB) == LAB
    await class_.allow(0, allowed_modes=[TEACHING, LAB])
    await class_.allow(1, allowed_modes=[TEACHING, INJECTION])
    for mode in (LAB, INJECTION):
        reason = await class_.refused(copilot_mode=mode)
        assert mode in reason
        assert "the group students-" in reason
    assert await class_.mode(copilot_mode=TEACHING) == TEACHING
    await class_.allow(1)
    assert await class_.mode(copilot_mode=LAB) == LAB


async def test_injection_needs_its_own_permission_as_well(class_: Class) -> None:
    await make_config(class_.student, of_user(class_.student))
    await class_.allow(1, may_inject=False)
    assert INJECTION in await class_.refused(copilot_mode=INJECTION)
    assert await class_.mode(copilot_mode=LAB) == LAB
    await class_.allow(1, may_inject=True)
    assert await class_.mode(copilot_mode=INJECTION) == INJECTION


async def test_a_stored_mode_that_is_forbidden_later_falls_back_to_teaching(class_: Class) -> None:
    student = class_.student
    own = await make_config(student, of_user(student), copilot_mode=LAB)
    inherited = await make_config(class_.admin, of_group(class_.groups[0]))
    await ok(student.put(of_user(student, f"/{inherited['config_id']}"), json={"copilot_mode": LAB}))
    await class_.allow(0, allowed_modes=[TEACHING])
    for config in (own, inherited):
        assert await class_.mode(config_id=config["config_id"]) == TEACHING
        shown = await ok(student.get(of_user(student, f"/{config['config_id']}")))
        assert shown["config"]["copilot_mode"] == TEACHING
    # an edit in the web UI, which posts back the mode that it was shown, loses nothing
    await ok(student.put(of_user(student, f"/{own['config_id']}"), json={"model": "x", "copilot_mode": TEACHING}))
    await class_.allow(0)
    for config in (own, inherited):
        assert await class_.mode(config_id=config["config_id"]) == LAB


async def test_where_teaching_is_forbidden_too_the_turn_is_refused(class_: Class) -> None:
    await make_config(class_.student, of_user(class_.student), copilot_mode=LAB)
    await class_.allow(0, allowed_modes=[INJECTION])
    assert LAB in await class_.refused()
    await class_.allow(0, allowed_modes=[LAB])
    assert await class_.mode() == LAB
    await class_.allow(0, allowed_modes=[])
    for mode in (TEACHING, LAB, INJECTION):
        await class_.refused(copilot_mode=mode)


async def test_a_mode_that_is_not_allowed_cannot_be_stored(class_: Class) -> None:
    student = class_.student
    own = await make_config(student, of_user(student))
    inherited = await make_config(class_.admin, of_group(class_.groups[0]))
    await class_.allow(1, allowed_modes=[TEACHING])
    for config in (own, inherited):
        path = of_user(student, f"/{config['config_id']}")
        answer = await student.put(path, json={"copilot_mode": LAB})
        assert (answer.status_code, LAB in answer.json()["message"]) == (403, True)
        assert (await student.put(path, json={"copilot_mode": TEACHING})).status_code == 200
    new = await student.post(of_user(student), json=config_body(copilot_mode=LAB))
    assert (new.status_code, LAB in new.json()["message"]) == (403, True)
    # superadmins are not bound
    assert (await class_.admin.put(of_user(student, f"/{own['config_id']}"), json={"copilot_mode": LAB})).is_success


async def test_members_without_own_configurations_still_choose_default_and_mode(
    class_: Class, make_user: MakeUser
) -> None:
    student = class_.student
    own = await make_config(student, of_user(student), "own", is_default=True)
    inherited = await make_config(class_.admin, of_group(class_.groups[0]), "inherited")
    await class_.allow(1, own_configs=False)
    path = of_user(student, f"/{own['config_id']}")
    for answer in (
        await student.post(of_user(student), json=config_body()),
        await student.put(path, json={"model": "x"}),
        await student.put(path, json={"model": "x", "copilot_mode": LAB}),
        await student.delete(path),
    ):
        assert answer.status_code == 403
        assert "cannot have configurations of their own" in answer.json()["message"]
    await ok(student.put(of_user(student, f"/default/{inherited['config_id']}"), json={}))
    assert await default_name(student) == "inherited"
    answer = await student.put(of_user(student, f"/{inherited['config_id']}"), json={"copilot_mode": LAB})
    assert answer.json()["config"]["copilot_mode"] == LAB
    assert await class_.mode() == LAB
    await ok(student.put(of_user(student, f"/default/{own['config_id']}"), json={}))
    await ok(student.put(path, json={"copilot_mode": LAB}))
    await ok(student.put(path, json={"is_default": False}))
    await ok(student.delete(of_user(student, "/default")))
    # who manages users does so for these, too, and for themselves
    manager = await make_user(privileges=["User.Audit", "User.Modify"], on="/access/users")
    assert (await manager.put(path, json={"model": "x"})).status_code == 200
    assert (await manager.post(of_user(student), json=config_body())).status_code == 201
    assert (await manager.delete(path)).status_code == 204
    await ok(class_.admin.put(f"/v3/access/groups/{class_.groups[1]}/members/{manager.user_id}"))
    assert (await manager.post(of_user(manager), json=config_body())).status_code == 201


async def test_superadmins_are_exempt(admin: UserClient, accounts: Accounts, make_project: Any) -> None:
    group = await accounts.group(unique("strict"))
    await accounts.add_to_group(admin.user_id, group)
    await ok(admin.put(policy_of(group), json={"allowed_modes": [], "own_configs": False, "may_inject": False}))
    project = await make_project(admin)
    own = await make_config(admin, of_user(admin), copilot_mode=LAB)
    try:
        for mode in (TEACHING, LAB, INJECTION):
            events = await ask(admin, project, "hello", copilot_mode=mode, config_id=own["config_id"])
            assert events[-1]["type"] == "done"
        await ok(admin.put(of_user(admin, f"/{own['config_id']}"), json={"model": "x", "copilot_mode": TEACHING}))
    finally:
        await admin.delete(of_user(admin, f"/{own['config_id']}"))
        await accounts.remove_from_group(admin.user_id, group)


async def test_a_policy_goes_with_its_group_and_with_the_membership(class_: Class, accounts: Accounts) -> None:
    await make_config(class_.student, of_user(class_.student))
    await class_.allow(0, allowed_modes=[TEACHING])
    await class_.allow(1, allowed_modes=[TEACHING])
    await class_.refused(copilot_mode=LAB)
    await accounts.remove_from_group(class_.student.user_id, class_.groups[0])
    await class_.refused(copilot_mode=LAB)
    await class_.admin.delete(f"/v3/access/groups/{class_.groups[1]}")
    assert await class_.mode(copilot_mode=LAB) == LAB
