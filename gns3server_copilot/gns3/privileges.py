"""What gns3-server lets a user do right now: asked anew each time, since an admin may change it during a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from gns3server.db.repositories.rbac import RbacRepository
from gns3server.db.repositories.users import UsersRepository
from sqlalchemy.ext.asyncio import AsyncSession

#: A user and a privilege.
Question = tuple[str, str]


class Privileges:
    """Asks gns3-server's database.

    Questions about one user and privilege that come while another one is being answered share one reading, which begins
    after they were asked: forty devices cost no more than two.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._waiting: dict[Question, list[tuple[str, asyncio.Future[bool]]]] = {}
        self._answering: dict[Question, asyncio.Task[None]] = {}

    async def __call__(self, user_id: str, resource: str, privilege: str) -> bool:
        """Tell whether the user exists, is active, and has this privilege on a resource such as `/projects/{id}`."""
        question = (user_id, privilege)
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(question, []).append((resource, answer))
        if question not in self._answering:
            self._answering[question] = asyncio.create_task(self._answer(question))
        return await answer

    async def _answer(self, question: Question) -> None:
        try:
            while asked := self._waiting.pop(question, None):
                try:
                    granted = await self._read(*question, list({resource for resource, _ in asked}))
                except Exception as error:
                    _settle(asked, error)
                else:
                    _settle(asked, granted)
        finally:
            del self._answering[question]

    async def _read(self, user_id: str, privilege: str, resources: Sequence[str]) -> dict[str, bool]:
        async with AsyncSession(self._app.state._db_engine, expire_on_commit=False) as session:
            user = await UsersRepository(session).get_user(UUID(user_id))
            if user is None or not (user.is_active or user.is_superadmin):
                return dict.fromkeys(resources, False)
            if user.is_superadmin:
                return dict.fromkeys(resources, True)
            repository = RbacRepository(_RememberingSession(session))
            return {
                resource: await repository.check_user_has_privilege(user.user_id, resource, privilege)
                for resource in resources
            }


def _settle(asked: Sequence[tuple[str, asyncio.Future[bool]]], outcome: Mapping[str, bool] | Exception) -> None:
    for resource, answer in asked:
        if answer.done():  # nobody waits for it any more
            continue
        if isinstance(outcome, Exception):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome[resource])


class _RememberingSession:
    """Runs each query once: gns3-server asks for the same entries for every resource."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session
        self._results: dict[Any, Any] = {}

    async def execute(self, query: Any) -> Any:
        # SQLAlchemy's own key for a query's shape; to compile it would take longer than to run it
        shape = query._generate_cache_key()
        if shape is None:
            return await self._session.execute(query)
        key = (shape.key, tuple(parameter.value for parameter in shape.bindparams))
        if key not in self._results:
            self._results[key] = (await self._session.execute(query)).freeze()
        return self._results[key]()
