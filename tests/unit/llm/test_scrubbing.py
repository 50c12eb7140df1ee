"""What is taken out of logs."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest

from gns3server_copilot.llm import scrubbing
from gns3server_copilot.llm.scrubbing import HIDDEN, hidden, scrub

KEY = "a+key/with=signs&äöü'\""
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a handler of the root logger writes, with our relays in place."""
    before = {}
    for name in scrubbing.SCRUBBED_LOGGERS:
        logger = logging.getLogger(name)
        before[logger] = (list(logger.handlers), logger.propagate)
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    root = logging.getLogger()
    monkeypatch.setattr(root, "level", logging.DEBUG)
    root.addHandler(handler)
    scrubbing.install()
    yield written
    root.removeHandler(handler)
    for logger, (handlers, propagate) in before.items():
        logger.handlers, logger.propagate = handlers, propagate


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"Authorization: Bearer {JWT}", "Authorization: "),
        ("{'authorization': 'Bearer abcdefgh12345'}", "{'authorization': '"),
        ('{"x-api-key":"abcdefgh12345"}', '{"x-api-key":"'),
        ("(b'X-Api-Key', b'abcdefgh12345')", "(b'X-Api-Key', b'"),
        ("x-goog-api-key: abcdefgh12345", "x-goog-api-key: "),
        ("GET /v1beta/models?key=abcdefgh12345&alt=sse", "GET /v1beta/models?key="),
        ("GET /v3/projects?token=abcdefgh12345", "GET /v3/projects?token="),
        ("Incorrect API key provided: sk-proj-abc12345.", "Incorrect API key provided: "),
        ("xai-abcdefgh12345 is wrong", ""),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", ""),
        ("Credential=AKIAIOSFODNN7EXAMPLE/20240101", "Credential="),
        (f"the token {JWT} has expired", "the token "),
        ("api_key='abcdefgh12345'", "api_key='"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, kept: str) -> None:
    scrubbed = scrub(text)
    assert scrubbed.startswith(kept + HIDDEN)
    for secret in ("abcdefgh", JWT, "AIza", "AKIA", "sk-proj"):
        assert secret not in scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "Model gpt-4o: quota (RateLimitError, HTTP status 429)",
        "The token budget is 4000, tokens: 12",
        "Unexpected failure in POST /v3/access/users/9e1a/llm-model-configs",
        "task-1234567890 took 3 s",
        "The key must be entered again.",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert scrub(text) == text


def test_a_registered_secret_is_hidden_in_every_spelling_while_the_block_runs() -> None:
    import json
    from urllib.parse import quote

    spellings = (KEY, quote(KEY, safe=""), json.dumps(KEY), repr(KEY))
    with hidden([KEY, "x"]), hidden([KEY]):
        pass
    assert scrub(f"before {KEY}") == f"before {KEY}"
    with hidden([KEY, "x"]):
        with hidden([KEY]):
            pass
        for spelling in spellings:
            assert scrub(f"<{spelling}>").strip("<>\"'") == HIDDEN
        assert scrub("x") == "x"
    assert scrub(KEY) == KEY


def test_records_of_loggers_far_below_lose_secrets_in_message_values_and_traceback(log: io.StringIO) -> None:
    with hidden([KEY]):
        for name in ("gns3server_copilot.agent.service", "openai._base_client", "asyncio", "httpcore.http11"):
            logger = logging.getLogger(name)
            logger.setLevel(logging.DEBUG)
            logger.debug("sent %s with %r", KEY, {"headers": KEY})
            try:
                try:
                    raise ValueError(f"provider said: {KEY}")
                except ValueError as inner:
                    raise RuntimeError(f"Authorization: Bearer {JWT}") from inner
            except RuntimeError:
                logger.exception("failed", stack_info=True)
            logger.setLevel(logging.NOTSET)
    text = log.getvalue()
    assert KEY not in text
    assert JWT not in text
    assert text.count("provider said: [hidden]") == 4
    assert text.count("Traceback (most recent call last)") == 8
    assert "openai._base_client ERROR failed" in text


def test_each_record_comes_once_and_at_its_own_level(log: io.StringIO) -> None:
    scrubbing.install()
    logging.getLogger("gns3server_copilot.llm").info("one")
    logging.getLogger("elsewhere").info("sk-stays-here-because-it-is-not-ours")
    assert log.getvalue() == ("gns3server_copilot.llm INFO one\nelsewhere INFO sk-stays-here-because-it-is-not-ours\n")


def test_a_record_whose_values_do_not_fit_is_written_all_the_same(log: io.StringIO) -> None:
    logging.getLogger("gns3server_copilot").info("%d %d", "sk-abcdefgh")
    assert log.getvalue() == "gns3server_copilot INFO %d %d (its values do not fit it)\n"
