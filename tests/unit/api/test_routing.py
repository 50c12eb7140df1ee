"""Whatever happens in a route, its answer is one of ours."""

from __future__ import annotations

import sqlite3

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from sqlalchemy.exc import OperationalError

from gns3server_copilot.api.routing import CopilotRoute


@pytest.mark.parametrize(
    ("failure", "status", "words"),
    [
        (OperationalError("SELECT", {}, sqlite3.OperationalError("database is locked")), 503, "Try again"),
        (ValueError("a secret"), 500, "failed unexpectedly"),
    ],
)
async def test_a_failure_is_answered_with_a_plain_sentence(caplog, failure, status, words):
    router = APIRouter(route_class=CopilotRoute)

    @router.get("/broken")
    async def broken() -> None:
        raise failure

    app = FastAPI()
    app.include_router(router)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        answer = await client.get("/broken")
    assert answer.status_code == status
    assert words in answer.json()["message"]
    assert "secret" not in answer.text
    assert ("Traceback" in caplog.text) == (status == 500)
