"""Times as the chat database and the HTTP API write them: ISO 8601, UTC, microseconds, ending in `+00:00`."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """Give the present time, such as `2026-03-06T16:31:36.547762+00:00`. Such texts sort by time."""
    return _text(datetime.now(UTC))


def normalized(text: object) -> str | None:
    """Give a stored time in our form, whatever ISO form it has; one without a zone is UTC. None if it is no time."""
    if not isinstance(text, str):
        return None
    try:
        time = datetime.fromisoformat(text)
        return _text(time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def _text(time: datetime) -> str:
    return time.isoformat(timespec="microseconds")
