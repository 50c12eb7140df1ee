"""Keeps secrets out of logs: the keys and tokens of running turns, and whatever looks like one.

Providers repeat a key in their error texts, and their packages put requests into exceptions. So every record of our
loggers and of the providers' passes through here on its way to the server's handlers, tracebacks included.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

HIDDEN = "[hidden]"

#: Shorter ones are not keys; taking them out of every line would make logs unreadable.
SHORTEST_SECRET = 6

#: Whatever looks like a secret, registered or not: `\1` of each is kept.
PATTERNS = (
    # header and field names, as in dicts, JSON, URLs and header lines
    re.compile(
        r"""((?:authorization|(?:x-)?(?:goog-)?api[-_]?key|apikey|aws_secret_access_key|access_token|[?&](?:key|token))"""
        r"""(?:["']?\s*[:=]\s*|["']\s*,\s*)(?:b?["'])?)(?:(?:bearer|basic)\s+)?[^\s"',;&}\])]{4,}""",
        re.IGNORECASE,
    ),
    re.compile(r"\b((?:bearer|basic)\s+)[\w.~+/=-]{8,}", re.IGNORECASE),
    # keys by their beginnings: OpenAI, Anthropic, DeepSeek; xAI; Google; AWS; and JSON Web Tokens
    re.compile(r"()\bsk-[\w-]{6,}"),
    re.compile(r"()\bxai-[\w-]{6,}"),
    re.compile(r"()\bAIza[\w-]{20,}"),
    re.compile(r"()\b(?:AKIA|ASIA)[A-Z0-9]{12,}"),
    re.compile(r"()\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*"),
)

#: The loggers whose records pass through, with all below them. `asyncio` reports errors of tasks that nobody awaits.
SCRUBBED_LOGGERS = (
    "gns3server_copilot",
    "anthropic",
    "asyncio",
    "boto3",
    "botocore",
    "google_genai",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "langchain",
    "langchain_anthropic",
    "langchain_aws",
    "langchain_core",
    "langchain_deepseek",
    "langchain_google_genai",
    "langchain_ollama",
    "langchain_openai",
    "langchain_xai",
    "langgraph",
    "openai",
    "urllib3",
)

_registered: Counter[str] = Counter()


@contextlib.contextmanager
def hidden(secrets: Iterable[str]) -> Iterator[None]:
    """Keep these out of logs for as long as the block runs; several blocks may hide the same."""
    spellings = [spelling for secret in secrets if len(secret) >= SHORTEST_SECRET for spelling in _spellings(secret)]
    _registered.update(spellings)
    try:
        yield
    finally:
        _registered.subtract(spellings)
        for spelling in spellings:
            if _registered[spelling] <= 0:
                del _registered[spelling]


def _spellings(secret: str) -> set[str]:
    return {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], repr(secret)[1:-1]}


def scrub(text: str) -> str:
    """Give a text without registered secrets and without what looks like one."""
    # the longest first: one may be the beginning of another
    for secret in sorted(_registered, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for pattern in PATTERNS:
        text = pattern.sub(rf"\g<1>{HIDDEN}", text)
    return text


def install() -> None:
    """Let the records of our loggers and of the providers' pass through here. A second call changes nothing.

    A filter of a logger does not see the records of the loggers below it, so each of these trees gets a handler that
    hands on to the root logger's, whichever those are by then.
    """
    for name in SCRUBBED_LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _Relay) for handler in logger.handlers):
            logger.addHandler(_Relay())
            logger.propagate = False


class _Relay(logging.Handler):
    """Scrubs a record in its place, since others may look at it later, and hands it to the root logger's handlers."""

    def handle(self, record: logging.LogRecord) -> bool:
        """Scrub and hand on. There is nothing to lock."""
        _scrub_record(record)
        logging.getLogger().callHandlers(record)
        return True


_plain = logging.Formatter()


def _scrub_record(record: logging.LogRecord) -> None:
    try:
        message = record.getMessage()
    except Exception:  # a wrong format string; what the record holds could be anything
        message = f"{record.msg!s} (its values do not fit it)"
    record.msg, record.args = scrub(message), None
    if record.exc_info:
        record.exc_text = _plain.formatException(record.exc_info) if record.exc_info[0] is not None else None
        # or a handler would format it anew
        record.exc_info = None
    if record.exc_text:
        record.exc_text = scrub(record.exc_text)
    if record.stack_info:
        record.stack_info = scrub(record.stack_info)
