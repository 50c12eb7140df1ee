"""Analyses run here in the tests' own process, which is larger than a worker may become."""

from __future__ import annotations

import pytest

from gns3server_copilot.packets import budget


@pytest.fixture(autouse=True)
def a_workers_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory that is looked at is a worker's."""
    monkeypatch.setattr(budget, "_resident", lambda: 64 * budget.MEGABYTE)
