from __future__ import annotations

import re

import pytest

from gns3server_copilot.storage.times import normalized, now


def test_now_is_utc_with_microseconds_and_an_offset_the_web_client_can_read() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", now())


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("2026-03-06 16:31:36", "2026-03-06T16:31:36.000000+00:00"),
        ("2026-03-06T16:31:36.547762", "2026-03-06T16:31:36.547762+00:00"),
        ("2026-03-06T16:31:36Z", "2026-03-06T16:31:36.000000+00:00"),
        ("2026-03-06T16:31:36+02:00", "2026-03-06T14:31:36.000000+00:00"),
        ("0001-01-01T00:00:00+05:00", None),
        ("yesterday", None),
        ("", None),
        (None, None),
        (1772814696, None),
    ],
)
def test_stored_times_come_out_in_one_form(stored: object, expected: str | None) -> None:
    assert normalized(stored) == expected
