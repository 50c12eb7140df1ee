"""A provider that repeats the key, and what of that can be seen: in errors, events and logs at DEBUG."""

from __future__ import annotations

import asyncio
import io
import logging
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from gns3server_copilot.errors import ModelError
from gns3server_copilot.llm import scrubbing
from gns3server_copilot.llm.factory import prepare_provider
from gns3server_copilot.llm.scrubbing import hidden
from tests.ground.model_script import Answer, http_error, text
from tests.ground.model_server import ModelServer
from tests.unit.llm.providers.cases import AWS_SECRET, Case
from tests.unit.llm.providers.conftest import Ask

#: A key that looks like nothing: only knowing it helps.
KEY = "plain0123456789plain"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Everything that is logged anywhere at DEBUG, the providers' packages included, as our handlers write it."""
    loggers = [logging.getLogger(name) for name in scrubbing.SCRUBBED_LOGGERS]
    before = [(logger, list(logger.handlers), logger.propagate, logger.level) for logger in loggers]
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    monkeypatch.setattr(root, "level", logging.DEBUG)
    root.addHandler(handler)
    scrubbing.install()
    yield written
    root.removeHandler(handler)
    for logger, handlers, propagate, level in before:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


def everything_logs() -> None:
    """Undo the quietness of the packages' loggers, as somebody who looks for a fault would."""
    for name in scrubbing.SCRUBBED_LOGGERS:
        logging.getLogger(name).setLevel(logging.DEBUG)


def echo(status: int) -> Answer:
    message = f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}"
    return http_error(status, {"error": {"message": message, "code": "x", "type": KEY}, "message": message})


ECHOES: dict[str, Callable[[], Answer]] = {
    **{str(status): (lambda status=status: echo(status)) for status in (400, 401, 403, 404, 429, 500)},
    "a page": lambda: http_error(502, f"<html>{KEY}</html>"),
    "a stream of nonsense": lambda: text("one two").with_raw(f"data: {{{KEY} \n\n{KEY}\n".encode(), after=1),
    "an error in a stream": lambda: text("one two").with_raw(
        b'event: error\ndata: {"type": "error", "error": {"type": "x", "message": "' + KEY.encode() + b'"}}\n\n',
        after=1,
    ),
    "a broken connection": lambda: text(f"one {KEY} two").cut(after=1),
}


@pytest.mark.parametrize("name", ECHOES)
async def test_an_echoed_key_is_nowhere(
    name: str, case: Case, model_server: ModelServer, ask: Ask, log: io.StringIO
) -> None:
    await prepare_provider(case.name)
    everything_logs()
    model_server.script(ECHOES[name]())
    key = SecretStr(KEY)
    aws = {"api_key": None, "secrets": {"aws_access_key_id": key, "aws_secret_access_key": SecretStr(AWS_SECRET)}}
    changes: dict[str, Any] = aws if case.name == "aws" else {"api_key": key}
    failure: ModelError | None = None
    with hidden([KEY, AWS_SECRET]):
        try:
            await ask(case.config(model_server, **changes))
        except ModelError as error:
            failure = error
        await asyncio.sleep(0)
    if failure is None:
        assert name in ("a stream of nonsense", "an error in a stream"), "nothing failed"
    else:
        shown = "".join(traceback.format_exception(failure))
        assert KEY not in shown
        assert failure.__cause__ is None
        assert failure.__context__ is None
        assert len(failure.message) <= 300
        assert "what its client raised" in log.getvalue()
    assert KEY not in log.getvalue()
