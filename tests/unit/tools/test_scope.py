"""What a turn's tools keep open is found again and put away."""

from __future__ import annotations

import logging

import pytest

from gns3server_copilot.tools.scope import TurnScope


async def test_what_is_kept_is_found_by_its_key_and_closed_once() -> None:
    scope, closed = TurnScope(), []

    async def close() -> None:
        closed.append("R1")

    scope.keep("R1", "session", close)
    assert scope.kept("R1") == "session"
    assert scope.kept("R2") is None
    await scope.close()
    await scope.close()
    assert closed == ["R1"]
    assert scope.kept("R1") is None


async def test_what_is_forgotten_is_not_closed() -> None:
    scope, closed = TurnScope(), []

    async def close() -> None:
        closed.append("R1")

    scope.keep("R1", "session", close)
    scope.forget("R1")
    await scope.close()
    assert closed == []


async def test_one_failure_keeps_nothing_else_open(caplog: pytest.LogCaptureFixture) -> None:
    scope, closed = TurnScope(), []

    async def fail() -> None:
        raise OSError("gone")

    async def close() -> None:
        closed.append("R2")

    scope.keep("R1", "session", fail)
    scope.keep("R2", "session", close)
    with caplog.at_level(logging.ERROR):
        await scope.close()
    assert closed == ["R2"]
    assert "R1 could not be put away" in caplog.text
