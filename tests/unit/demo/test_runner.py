"""What the demo's chat says at its end, with the lab left out."""

from __future__ import annotations

import asyncio
import io
import types
from contextlib import asynccontextmanager

import pytest

from gns3server_copilot.demo import runner
from tests.unit.commands.fake_copilot import PROJECT_ID, TOKEN, FakeCopilot


@pytest.fixture
def demo(monkeypatch, tmp_path):
    """Run the demo around a server that is there already; gives a function of the command's words."""
    copilot = FakeCopilot()
    copilot.start()

    @asynccontextmanager
    async def run_server():
        yield types.SimpleNamespace(url=copilot.url, token=TOKEN, api=None, home=None)

    async def build_lab(api, home):
        return types.SimpleNamespace(project_id=PROJECT_ID)

    async def nothing(*arguments):
        return ""

    monkeypatch.setattr(runner, "run_server", run_server)
    monkeypatch.setattr(runner, "build_lab", build_lab)
    for name in ("exchange_traffic", "store_offline_configuration", "_keep"):
        monkeypatch.setattr(runner, name, nothing)
    typed = tmp_path / "typed"
    typed.write_text("hello\n")
    with typed.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield lambda *words: asyncio.run(runner._run(runner._parse(words)))
    copilot.stop()


@pytest.mark.parametrize(("words", "told"), [([], False), (["--keep"], True)])
def test_how_to_go_on_later_is_told_only_if_the_server_stays(demo, monkeypatch, words, told):
    out = io.StringIO()
    real = runner.run_chat
    monkeypatch.setattr(runner, "run_chat", lambda *given, **more: real(*given, **more, out=out))
    assert demo(*words) == 0
    assert "You said hello" in out.getvalue()
    assert ("To go on later: --session" in out.getvalue()) is told
