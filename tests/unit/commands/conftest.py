"""The fake server that the tests of the commands speak to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.commands.fake_copilot import FakeCopilot


@pytest.fixture
def copilot() -> Iterator[FakeCopilot]:
    """A running fake."""
    fake = FakeCopilot()
    fake.start()
    yield fake
    fake.stop()
