"""What a configuration request may hold, and what happens to it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gns3server_copilot.schemas.llm_configs import RESERVED_NAMES, CreateLLMConfig, looks_secret

MINIMAL = {"name": "main", "model_type": "text", "provider": "openai", "model": "gpt", "context_limit": 128}


def create(**fields: Any) -> CreateLLMConfig:
    return CreateLLMConfig.model_validate({**MINIMAL, **fields})


def refused(**fields: Any) -> list[str]:
    """Give the fields that are found wrong."""
    with pytest.raises(ValidationError) as raised:
        create(**fields)
    return [".".join(str(part) for part in one["loc"]) for one in raised.value.errors()]


def test_the_least_that_is_needed() -> None:
    made = create()
    assert made.stored() == {
        "provider": "openai",
        "base_url": "",
        "model": "gpt",
        "temperature": None,
        "max_tokens": None,
        "context_limit": 128,
        "context_strategy": "balanced",
        "copilot_mode": "teaching_assistant",
    }
    assert (made.name, made.model_type, made.is_default, made.api_key) == ("main", "text", False, None)


def test_a_request_as_the_web_ui_sends_it() -> None:
    made = create(
        base_url="",
        temperature=None,
        context_limit=128,
        context_strategy="balanced",
        copilot_mode="teaching_assistant",
        is_default=False,
        api_key="sk-0123456789",
        max_tokens="4096",
        num_ctx="4096",
        think="true",
        options="[object Object]",
    )
    assert made.max_tokens == 4096
    assert made.custom_fields == {"num_ctx": "4096", "think": "true", "options": "[object Object]"}


@pytest.mark.parametrize("name", MINIMAL)
def test_required_fields(name: str) -> None:
    with pytest.raises(ValidationError) as raised:
        CreateLLMConfig.model_validate({key: value for key, value in MINIMAL.items() if key != name})
    assert [one["loc"] for one in raised.value.errors()] == [(name,)]
    assert refused(**{name: None}) == [name]
    assert refused(**{name: ""}) == [name]


def test_all_wrong_fields_are_named_at_once() -> None:
    found = refused(name="", temperature=3, context_limit=0, provider="acme", my_token="x", base_url="ftp://x")
    assert sorted(found) == ["base_url", "context_limit", "my_token", "name", "provider", "temperature"]


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        (
            "provider",
            ["openai", "anthropic", "google", "aws", "ollama", "deepseek", "xai", "offline"],
            ["OpenAI", "azure"],
        ),
        (
            "model_type",
            ["text", "vision", "stt", "tts", "multimodal", "embedding", "reranking", "other"],
            ["Text", "chat", 1],
        ),
        ("context_strategy", ["conservative", "balanced", "aggressive", None], ["", "none", 1]),
        (
            "copilot_mode",
            ["teaching_assistant", "lab_automation_assistant", None],
            ["troubleshooting_injection", "Teaching_Assistant", "", 1],
        ),
        ("name", ["x", "x" * 100, "Mein Modell", "模型", "a{b}"], ["x" * 101, "  ", "a\nb", "a\x00b", 1, ["x"]]),
        ("model", ["gpt-4o", "openai/gpt-4o-mini", "llama3:8b"], ["", " ", "x" * 201, "a\nb", 4]),
        (
            "temperature",
            [0, 2, 0.7, "0.7", "2", "", "null", " 1.5 ", None],
            [-0.1, 2.1, "2.1", "warm", "1,5", True, [1]],
        ),
        (
            "max_tokens",
            [1, "1", "4096", 1_000_000_000, 1e9, "", "null", None],
            [0, -1, "0", "-5", 1.5, "1.5", "lots", True],
        ),
        (
            "context_limit",
            [1, 10_000, "128", "10000", 128.0],
            [0, 10_001, "0", "10001", 0.5, "128k", "1e3", None, "", "null"],
        ),
        ("is_default", [True, False, None], ["perhaps", 7]),
    ],
)
def test_values_of_fields(field: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        create(**{field: value})
    for value in bad:
        assert refused(**{field: value}) == [field], value


@pytest.mark.parametrize("field", ["temperature", "max_tokens", "context_limit"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "NaN", "nan", "inf", "Infinity", "-inf", "1e999"])
def test_nan_and_infinity_are_refused(field: str, value: object) -> None:
    assert refused(**{field: value}) == [field]


@pytest.mark.parametrize("text", ["1_000", "١٢٨", "１２８", "0x80", "1 28", "+-1", "--1", "128.", ".5", "12e1"])
def test_only_plain_numbers_are_numbers(text: str) -> None:
    assert refused(context_limit=text) == ["context_limit"]
    assert refused(temperature=text) == ["temperature"]


@given(st.integers(1, 10_000))
def test_whole_numbers_may_be_strings(number: int) -> None:
    assert create(context_limit=str(number)).context_limit == number
    assert create(max_tokens=f" {number} ").max_tokens == number


@given(st.floats(0.001, 2))
def test_fractions_may_be_strings(number: float) -> None:
    assert create(temperature=f"{number:.17f}").temperature == float(f"{number:.17f}")


anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*CreateLLMConfig.model_fields, "custom"]), anything))
def test_whatever_comes_is_stored_as_plain_json_or_refused_by_field(fields: dict[str, Any]) -> None:
    try:
        made = create(**fields)
    except ValidationError as error:
        assert {one["loc"][0] for one in error.errors()} <= set(fields)
    else:
        stored = made.stored()
        assert json.loads(json.dumps(stored, allow_nan=False)) == stored
        assert isinstance(made.context_limit, int)
        assert made.temperature is None or 0 <= made.temperature <= 2
        assert made.max_tokens is None or made.max_tokens >= 1


# --- base_url ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://127.0.0.1:11434/v1",
        "https://api.openai.com/v1",
        "https://openrouter.ai/api/v1/",
        "http://[::1]:8080",
        "HTTPS://Example.org",
        "https://host/v1?api-version=2024-01-01",
    ],
)
def test_good_urls(url: str) -> None:
    assert create(base_url=f" {url} ").base_url == url


@pytest.mark.parametrize(
    "url",
    [
        "api.openai.com/v1",
        "ftp://host/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://",
        "http:///v1",
        "http://:80/",
        "https://user:password@host/v1",
        "https://user@host/v1",
        "https://@host/v1",
        "https://host:99999/",
        "https://host:port/",
        "https://host:0/",
        "http://[::1/",
        "https://ho st/",
        "https://host/\nX: y",
        "https://host\\@evil/",
        "https://host/#fragment",
        "https://host/v1?api_key=sk-1",
        "https://host/v1?key=sk-1",
        "https://host/v1?access_token",
        5,
        ["https://host"],
        "https://host/" + "x" * 2000,
    ],
)
def test_bad_urls(url: object) -> None:
    assert refused(base_url=url) == ["base_url"]


def test_no_url_is_the_empty_url() -> None:
    assert create(base_url=None).base_url == ""
    assert create(base_url="  ").base_url == ""


# --- api_key -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [None, "", "  "])
def test_no_key(key: str | None) -> None:
    assert create(api_key=key).api_key is None


def test_a_key_is_trimmed_and_never_shown() -> None:
    made = create(api_key=" sk-0123456789\n")
    assert made.api_key is not None
    assert made.api_key.get_secret_value() == "sk-0123456789"
    for shown in (repr(made), str(made), str(made.stored()), made.model_dump_json()):
        assert "sk-0123456789" not in shown


@pytest.mark.parametrize("key", ["*", "********", "****************cdef", "***4", "••••••••", "●●●●abcd"])
def test_masked_keys_are_refused(key: str) -> None:
    assert refused(api_key=key) == ["api_key"]


@pytest.mark.parametrize("key", ["sk-1\r\nX-Evil: 1", "two words", "schlüssel", "sk-\x00", "x" * 4097, 5, ["sk-1"]])
def test_what_no_header_can_hold_is_refused_without_being_repeated(key: object) -> None:
    with pytest.raises(ValidationError) as raised:
        create(api_key=key)
    assert [one["loc"] for one in raised.value.errors()] == [("api_key",)]
    assert str(key) not in str(raised.value)


# --- custom fields -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "openai_api_key",
        "apiKey",
        "API-KEY",
        "x-api-key",
        "access_token",
        "auth-token",
        "Token",
        "client_secret",
        "password",
        "Authorization",
        "aws_access_key_id",
        "aws_secret_access_key",
        "private_key",
        "credentials_path",
    ],
)
def test_secrets_in_custom_fields_are_refused_by_name(name: str) -> None:
    assert looks_secret(name)
    assert refused(**{name: "value"}) == [name]
    assert refused(extra_body={"inner": [{name: "value"}]}) == ["extra_body"]
    assert refused(extra_body=json.dumps({"inner": {name: "value"}})) == ["extra_body"]


@pytest.mark.parametrize(
    "name",
    [
        "max_completion_tokens",
        "top_p",
        "num_ctx",
        "timeout",
        "reasoning_effort",
        "region",
        "top_k",
        "monkey",
        "keep_alive",
    ],
)
def test_ordinary_custom_fields_are_kept(name: str) -> None:
    assert not looks_secret(name)
    assert create(**{name: "value"}).stored()[name] == "value"


@pytest.mark.parametrize("name", ["openai_key", "auth", "key", "subscription-key", "db_pwd"])
def test_names_that_end_like_a_secret_are_refused(name: str) -> None:
    assert refused(**{name: "value"}) == [name]


@pytest.mark.parametrize("value", ["\ud800", {"x\udfff": 1}, ["a", "\udc00"], "[" * 500 + "]" * 500])
def test_what_could_be_stored_and_never_be_shown_again_is_refused(value: object) -> None:
    assert refused(mine=value) == ["mine"]


@pytest.mark.parametrize("depth", [21, 300, 950])
def test_deeply_nested_values_are_refused(depth: int) -> None:
    value: object = 1
    for _ in range(depth):
        value = [value]
    assert refused(mine=value) == ["mine"]


@pytest.mark.parametrize("key", ["sk-...abcd", "sk-***abcd", "sk-ab***"])
def test_keys_that_are_shown_with_a_gap_are_refused(key: str) -> None:
    assert refused(api_key=key) == ["api_key"]


@pytest.mark.parametrize("name", sorted(RESERVED_NAMES))
def test_names_that_the_server_sets_are_refused(name: str) -> None:
    assert refused(**{name: "value"}) == [name]


@pytest.mark.parametrize("value", [math.nan, [math.inf], {"a": math.nan}])
def test_custom_values_are_plain_json(value: object) -> None:
    assert refused(mine=value) == ["mine"]


def test_custom_fields_have_limits() -> None:
    create(**{f"field{number}": "x" for number in range(50)})
    refused(**{f"field{number}": "x" for number in range(51)})
    refused(mine="x" * 20_000)
    assert refused(**{"x" * 101: "x"}) == ["x" * 101]
    assert refused(**{"": "x"}) == [""]


def test_odd_names_and_values_of_custom_fields_survive() -> None:
    odd = {"model_dump": "x", "stored": 1, "__class__": "x", "näme": None, "nested": {"a": [1, "2", None, True]}}
    assert create(**odd).custom_fields == odd
    assert create(**odd).stored().items() >= odd.items()


# --- defaults ------------------------------------------------------------------------------------------------------


def test_only_chat_models_can_be_the_default() -> None:
    for model_type in ("text", "multimodal"):
        assert create(model_type=model_type, is_default=True).is_default
    for model_type in ("vision", "stt", "tts", "embedding", "reranking", "other"):
        assert refused(model_type=model_type, is_default=True) == ["is_default"]
        create(model_type=model_type, is_default=False)


def test_aws_credentials_are_secrets_of_aws_alone() -> None:
    both = {"aws_access_key_id": "AKIA0123456789", "aws_secret_access_key": "very-secret"}
    made = create(provider="aws", region_name="us-east-1", **both)
    assert {name: secret.get_secret_value() for name, secret in made.secrets.items()} == both
    assert made.stored()["region_name"] == "us-east-1"
    assert not both.keys() & made.stored().keys()
    assert "very-secret" not in repr(made) + made.model_dump_json()
    assert create(provider="aws", aws_access_key_id="", aws_secret_access_key=None).secrets == {}
    for name, value in both.items():
        assert refused(**{name: value}) == [name]
        assert refused(provider="aws", **{name: "****6789"}) == [name]
