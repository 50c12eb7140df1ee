"""Trying a configuration out."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.probe import probe
from gns3server_copilot.llm.providers import PROVIDERS, Provider
from tests.ground.model_script import Gate, html_page, refuses_parameter, text, unauthorized
from tests.ground.model_server import ModelServer
from tests.unit.llm.providers.cases import CASES, Case
from tests.unit.llm.samples import CONFIG


@pytest.fixture
def config(model_server: ModelServer) -> LLMConfig:
    model_server.violations = _WithoutRulesOfTurns()
    return replace(CONFIG, base_url=model_server.base_url)


class _WithoutRulesOfTurns(list[str]):
    """A probe asks without a system message, which turns must not."""

    def __iadd__(self, found: object) -> _WithoutRulesOfTurns:  # type: ignore[override, misc]
        return self


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_every_provider_can_be_tried_out(case: Case, model_server: ModelServer) -> None:
    if not PROVIDERS[case.name].installed:
        pytest.skip(f"the package of {case.name} is not installed")
    model_server.violations = _WithoutRulesOfTurns()
    model_server.script(text("OK"))
    config = case.config(model_server, max_tokens=100_000)
    result = await probe(config)
    assert (result.ok, result.error, result.model) == (True, None, case.model)
    assert result.latency_ms >= 0
    request = model_server.last_request
    assert case.sent(request)[case.max_tokens] <= 64
    assert len(str(request.messages)) < 200
    assert request.tool_names == []


async def test_the_offline_model_always_works() -> None:
    assert (await probe(replace(CONFIG, provider="offline", base_url=""))).ok


async def test_what_is_wrong_is_said_in_one_sentence(model_server: ModelServer, config: LLMConfig) -> None:
    for answer, said in (
        (unauthorized(), "API key"),
        (html_page(), "does not speak"),
    ):
        model_server.script(answer)
        result = await probe(config)
        assert not result.ok
        assert said in (result.error or "")
    assert "cannot be reached" in ((await probe(replace(config, base_url="http://127.0.0.1:9"))).error or "")
    assert "not supported" in ((await probe(replace(config, provider="acme"))).error or "")
    assert "base URL" in ((await probe(replace(config, base_url="http://256.1.1.1/"))).error or "")


async def test_a_missing_package_is_said_with_the_pip_command(
    config: LLMConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROVIDERS, "acme", Provider("langchain_acme", "langchain_acme", "gns3server-copilot[acme]"))
    result = await probe(replace(config, provider="acme"))
    assert 'pip install "gns3server-copilot[acme]"' in (result.error or "")


async def test_it_takes_a_bounded_time(model_server: ModelServer, config: LLMConfig) -> None:
    gate = Gate()
    model_server.script(text("OK").held(gate))
    async with asyncio.timeout(5):
        result = await probe(config, seconds=0.2)
    assert not result.ok
    assert "too long" in (result.error or "")
    gate.release()


async def test_a_refused_optional_parameter_is_no_failure(model_server: ModelServer, config: LLMConfig) -> None:
    model_server.script(refuses_parameter("stream_options"), refuses_parameter("temperature"), text("OK"))
    assert (await probe(replace(config, temperature=0.5))).ok
    assert "temperature" not in model_server.last_request.body
