"""What a change comes to, together with what is stored."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.errors import InvalidFieldError
from gns3server_copilot.llm.config import Owner, StoredConfig
from gns3server_copilot.llm.merge import Change, merge, origin, web_ui_text
from gns3server_copilot.schemas.llm_config_changes import UpdateLLMConfig
from tests.unit.llm.samples import new

NOW = datetime.now(UTC)


def stored(**fields: Any) -> StoredConfig:
    request = new(**fields)
    return StoredConfig(
        config_id="c",
        name=request.name,
        model_type=request.model_type,
        config=request.stored(),
        owner=Owner("user", "u"),
        is_default=request.is_default,
        version=3,
        created_at=NOW,
        updated_at=NOW,
        encrypted_api_key="token" if request.api_key else None,
        encrypted_secrets="token" if request.secrets else None,
    )


def change(config: StoredConfig, shown: StoredConfig | None = None, **fields: Any) -> Change:
    return merge(config, shown or config, UpdateLLMConfig.model_validate(fields))


def test_an_empty_change_keeps_everything() -> None:
    config = stored(api_key="sk-0123456789", top_p=0.9, base_url="http://a/v1")
    made = change(config)
    assert (made.name, made.model_type, made.config, made.is_default) == ("main", "text", config.config, None)
    assert made.encrypted == {}


def test_custom_fields_are_added_changed_and_removed() -> None:
    config = stored(keep="a", change="b", remove="c")
    made = change(config, change="B", remove=None, add={"x": 1})
    custom = {name: made.config.get(name) for name in ("keep", "change", "remove", "add")}
    assert custom == {"keep": "a", "change": "B", "remove": None, "add": {"x": 1}}
    assert "remove" not in made.config


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=5,
)


@given(JSON_VALUES)
def test_a_value_that_the_web_ui_posts_back_stays_what_it_was(value: Any) -> None:
    config = stored(model="x")
    config.config["custom"] = value
    assert change(config, custom=web_ui_text(value)).config["custom"] is value


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_web_uis_texts_are_those_of_javascript() -> None:
    values = [
        None,
        True,
        0,
        -5,
        1.0,
        0.1,
        1.5,
        1e21,
        1.5e300,
        1e-6,
        1e-7,
        1.25e-7,
        -2.5e-5,
        123456789.125,
        1e20,
        "x",
        "",
    ]
    values += [[], [1, None, "a", [True, None]], {}, {"a": 1}, 2**53]
    program = f"console.log(JSON.stringify({json.dumps(values)}.map(String)))"
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True)
    assert [web_ui_text(value) for value in values] == json.loads(done.stdout)


def test_what_was_shown_and_comes_back_changes_nothing() -> None:
    # stored as automation and marked, but shown otherwise: a policy forbids the mode, another default is chosen
    config = stored(copilot_mode="lab_automation_assistant", is_default=True)
    shown = replace(config, is_default=False, config=config.config | {"copilot_mode": "teaching_assistant"})
    made = change(config, shown, copilot_mode="teaching_assistant", is_default=False, model="other")
    assert made.config["copilot_mode"] == "lab_automation_assistant"
    assert made.is_default is None
    assert change(config, shown, is_default=True).is_default is True
    assert change(config, is_default=False).is_default is False


@pytest.mark.parametrize(
    ("moved", "refused"),
    [
        ({"base_url": "http://host:8080/v2"}, False),
        ({"base_url": "http://HOST:8080"}, False),
        ({"base_url": "http://host:8081/v1"}, True),
        ({"base_url": "https://host:8080/v1"}, True),
        ({"base_url": "http://host.:8080/v1"}, True),
        ({"base_url": "http://host/v1"}, True),
        ({"base_url": ""}, True),
        ({"provider": "xai"}, True),
        ({"provider": "offline"}, True),
    ],
)
def test_a_key_stays_with_its_provider_and_address(moved: dict[str, str], refused: bool) -> None:
    config = stored(api_key="sk-0123456789", base_url="http://host:8080/v1")
    for key in ("sk-9876543210", "", None):
        assert change(config, api_key=key, **moved).config["base_url"] == moved.get("base_url", "http://host:8080/v1")
    if refused:
        with pytest.raises(InvalidFieldError, match=r"^api_key: "):
            change(config, **moved)
    else:
        change(config, **moved)
    assert change(stored(base_url="http://host:8080/v1"), **moved)


def test_the_dummy_key_of_a_provider_that_has_none_moves_with_it() -> None:
    config = stored(provider="ollama", base_url="http://a:11434", api_key="dummy-key-0")
    assert change(config, base_url="http://b:11434").config["base_url"] == "http://b:11434"
    with pytest.raises(InvalidFieldError, match=r"^api_key: "):
        change(config, provider="openai")


def test_origins() -> None:
    assert origin("https://host/v1") == origin("https://HOST:443") == ("https", "host", 443)
    assert origin("") == ("", "", None)
    assert origin("http://[::1]:80/") == origin("http://[::1]") != origin("http://[::2]")
