"""A request that is refused because of an optional parameter is sent again without it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gns3server_copilot.agent.asking import ask_model
from gns3server_copilot.agent.context_window import Prepared
from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.errors import ModelError
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.factory import prepare_provider
from tests.ground.model_script import openai_error, refuses_parameter, text
from tests.ground.model_server import ModelServer
from tests.unit.llm.providers.conftest import QUESTION, TOOLS, make_turn
from tests.unit.llm.samples import CONFIG


@pytest.fixture
async def config(model_server: ModelServer) -> LLMConfig:
    await prepare_provider("openai")
    return replace(
        CONFIG, base_url=model_server.base_url, temperature=0.5, max_tokens=50, custom={"top_p": 0.5, "seed": 1}
    )


async def ask(config: LLMConfig, turn: Turn) -> str:
    async def prepare(at_most: int | None) -> Prepared:
        return Prepared(list(QUESTION), 20)

    return (await ask_model(turn, list(TOOLS), prepare, [], 10)).text


async def test_once_without_it_and_so_for_the_rest_of_the_turn(model_server: ModelServer, config: LLMConfig) -> None:
    turn = make_turn(config)
    model_server.script(refuses_parameter("temperature"), text("Hello"), text("Again"))
    assert await ask(config, turn) == "Hello"
    assert await ask(config, turn) == "Again"
    first, second, third = (request.body for request in model_server.requests)
    assert first["temperature"] == 0.5
    assert "temperature" not in second
    assert "temperature" not in third
    assert (second["top_p"], second["max_tokens"], third["seed"]) == (0.5, 50, 1)
    assert turn.model_calls == 3


@pytest.mark.parametrize("name", ["stream_options", "max_tokens", "top_p", "seed"])
async def test_every_optional_parameter_can_be_left_out(
    name: str, model_server: ModelServer, config: LLMConfig
) -> None:
    model_server.script(refuses_parameter(name), text("Hello"))
    assert await ask(config, make_turn(config)) == "Hello"
    first, second = (request.body for request in model_server.requests)
    assert set(first) - set(second) == {name}


async def test_several_are_left_out_one_after_the_other(model_server: ModelServer, config: LLMConfig) -> None:
    model_server.script(refuses_parameter("temperature"), refuses_parameter("top_p"), text("Hello"))
    assert await ask(config, make_turn(config)) == "Hello"
    assert not {"temperature", "top_p"} & set(model_server.last_request.body)


async def test_a_parameter_that_is_still_refused_ends_the_turn(model_server: ModelServer, config: LLMConfig) -> None:
    model_server.script(refuses_parameter("temperature"), refuses_parameter("temperature"))
    with pytest.raises(ModelError) as raised:
        await ask(config, make_turn(config))
    assert raised.value.kind == "refused"


@pytest.mark.parametrize(
    "answer",
    [openai_error(401, "temperature"), openai_error(500, "temperature"), openai_error(400, "No.")],
)
async def test_other_errors_are_not_tried_again(answer: object, model_server: ModelServer, config: LLMConfig) -> None:
    model_server.script(answer)  # type: ignore[arg-type]
    with pytest.raises(ModelError):
        await ask(config, make_turn(config))
    assert len(model_server.requests) == 1
