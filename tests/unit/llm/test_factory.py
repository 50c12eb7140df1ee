"""The models that turns get."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.runnables import RunnableBinding
from pydantic import SecretStr

from gns3server_copilot.errors import InvalidRequestError
from gns3server_copilot.llm import factory
from gns3server_copilot.llm.factory import create_base_model_with_tools, optional_parameters, prepare_provider
from gns3server_copilot.llm.providers import PROVIDERS, Provider, installed_providers
from tests.unit.llm.samples import CONFIG, tool


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factory, "_models", type(factory._models)())


def test_a_model_is_kept_while_its_configuration_stays_the_same() -> None:
    model = create_base_model_with_tools([tool("a")], CONFIG)
    assert create_base_model_with_tools([tool("a")], replace(CONFIG)) is model
    assert create_base_model_with_tools([tool("a")], replace(CONFIG, api_key=SecretStr("sk-0123456789"))) is model


@pytest.mark.parametrize(
    "change",
    [
        {"config_id": "other"},
        {"version": 1},
        {"temperature": 0.5},
        {"max_tokens": 10},
        {"model": "gpt-5"},
        {"base_url": ""},
        {"provider": "offline"},
        {"api_key": SecretStr("sk-other")},
        {"api_key": None},
        {"custom": {"top_p": 0.5}},
    ],
    ids=str,
)
def test_any_change_makes_another_model(change: dict[str, Any]) -> None:
    assert create_base_model_with_tools([], CONFIG) is not create_base_model_with_tools([], replace(CONFIG, **change))


def test_other_tools_or_left_out_parameters_make_another_model() -> None:
    models = [
        create_base_model_with_tools([], CONFIG),
        create_base_model_with_tools([tool("a")], CONFIG),
        create_base_model_with_tools([tool("a"), tool("b")], CONFIG),
        create_base_model_with_tools([tool("a")], CONFIG, omit={"temperature"}),
    ]
    assert len({id(model) for model in models}) == 4
    bound = models[2]
    assert isinstance(bound, RunnableBinding)
    assert [one["function"]["name"] for one in bound.kwargs["tools"]] == ["a", "b"]


def test_only_so_many_models_are_kept() -> None:
    first = create_base_model_with_tools([], CONFIG)
    for version in range(1, factory.KEPT_MODELS):
        create_base_model_with_tools([], replace(CONFIG, version=version))
    assert create_base_model_with_tools([], CONFIG) is first
    create_base_model_with_tools([], replace(CONFIG, version=factory.KEPT_MODELS))
    assert len(factory._models) == factory.KEPT_MODELS
    assert create_base_model_with_tools([], CONFIG) is first, "the one that was not used for longest has to go"


@pytest.mark.parametrize("provider", ["aws", "acme", ""])
async def test_an_unknown_provider_is_named(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(PROVIDERS, provider, raising=False)
    with pytest.raises(InvalidRequestError, match="offline, openai"):
        await prepare_provider(provider)
    with pytest.raises(InvalidRequestError):
        create_base_model_with_tools([], replace(CONFIG, provider=provider))


async def test_a_missing_package_is_named_with_the_pip_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "acme_adapter.py").write_text("import langchain_acme\n")
    monkeypatch.syspath_prepend(tmp_path)
    missing = Provider("acme_adapter", "langchain_acme", "gns3server-copilot[acme]")
    monkeypatch.setitem(PROVIDERS, "acme", missing)
    with pytest.raises(InvalidRequestError) as raised:
        await prepare_provider("acme")
    assert 'pip install "gns3server-copilot[acme]"' in raised.value.message
    assert "acme" not in installed_providers()
    assert {"offline", "openai"} <= set(installed_providers())


@pytest.mark.parametrize("name", sorted(PROVIDERS.keys() - {"offline"}))
async def test_every_providers_missing_package_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = replace(PROVIDERS[name], package="langchain_that_is_not_there")
    monkeypatch.setitem(PROVIDERS, name, absent)
    with pytest.raises(InvalidRequestError, match=rf'pip install "{re.escape(absent.install or "")}"'):
        await prepare_provider(name)


async def test_a_broken_package_is_not_called_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "broken_adapter.py").write_text("import langchain_broken\n")
    (tmp_path / "langchain_broken.py").write_text("import something_else_that_is_missing\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(PROVIDERS, "broken", Provider("broken_adapter", "langchain_broken", "broken"))
    with pytest.raises(ModuleNotFoundError, match="something_else"):
        await prepare_provider("broken")


def test_the_clients_loggers_are_quiet_whatever_the_environment_says() -> None:
    program = """
import asyncio, logging
from gns3server_copilot.llm.factory import prepare_provider
logging.basicConfig(level=logging.DEBUG)
asyncio.run(prepare_provider("openai"))
for name in ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "openai._base_client"):
    assert not logging.getLogger(name).isEnabledFor(logging.INFO), name
"""
    environment = {**os.environ, "OPENAI_LOG": "debug"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert logging.getLogger("openai").level in (logging.NOTSET, logging.WARNING)


def test_what_the_server_imports_at_its_start_is_light() -> None:
    program = """
import sys
import gns3server_copilot.llm.resolve, gns3server_copilot.llm.keys, gns3server_copilot.llm.providers
import gns3server_copilot.llm.tokens, gns3server_copilot.schemas.llm_configs
heavy = {"langchain_core", "langchain_openai", "openai", "tiktoken", "langgraph", "cryptography.fernet"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(
    ("provider", "optional"),
    [
        ("offline", set()),
        ("anthropic", {"temperature", "max_tokens"}),
        ("ollama", {"temperature", "max_tokens", "num_ctx"}),
        ("xai", {"temperature", "max_tokens", "max_completion_tokens", "stream_options"}),
    ],
)
def test_only_what_a_client_can_leave_out_is_offered(provider: str, optional: set[str]) -> None:
    config = replace(CONFIG, provider=provider, custom={"top_p": 0.5})
    assert set(optional_parameters(config)) == optional | {"top_p"}


def test_what_servers_of_one_protocol_differ_about_is_offered_where_it_can_be_changed() -> None:
    offered = {name: set(optional_parameters(replace(CONFIG, provider=name))) for name in PROVIDERS}
    assert {name for name, them in offered.items() if "reasoning_content" in them} == {"openai", "deepseek"}
    assert {name for name, them in offered.items() if "thinking" in them} == {"deepseek"}
    assert {name for name, them in offered.items() if "tool call id" in them} == {"openai"}
