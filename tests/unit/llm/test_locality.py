"""From which models secrets of devices are kept."""

from __future__ import annotations

import dataclasses

import pytest

from gns3server_copilot.llm.locality import hides_secrets
from gns3server_copilot.settings import Settings, load_settings
from tests.unit.llm.samples import CONFIG


@pytest.mark.parametrize(
    ("provider", "base_url", "model", "hidden"),
    [
        ("offline", "", "offline", False),
        ("ollama", "", "llama3", False),
        ("ollama", "http://localhost:11434", "llama3", False),
        ("ollama", "http://[::1]:11434", "llama3", False),
        ("ollama", "http://127.3.4.5:11434", "qwen3:8b", False),
        ("ollama", "", "gpt-oss:120b-cloud", True),
        ("ollama", "", "kimi-k2:cloud", True),
        ("ollama", "http://10.0.0.5:11434", "llama3", True),
        ("ollama", "https://ollama.com", "llama3", True),
        ("openai", "http://127.0.0.1:8000/v1", "local", False),
        ("openai", "", "gpt", True),
        ("openai", "https://localhost.example.com/v1", "gpt", True),
        ("openai", "http://127.0.0.1.example.com/v1", "gpt", True),
        ("openai", "http://[broken", "gpt", True),
        ("anthropic", "", "claude", True),
        ("aws", "", "nova", True),
        ("no such", "", "x", True),
    ],
)
def test_unless_told_otherwise_only_models_on_this_machine_see_them(provider, base_url, model, hidden):
    config = dataclasses.replace(CONFIG, provider=provider, base_url=base_url, model=model, custom={})
    assert hides_secrets(config, Settings()) is hidden
    assert hides_secrets(config, Settings(redact_secrets="true")) is True
    assert hides_secrets(config, Settings(redact_secrets="false")) is False


@pytest.mark.parametrize(
    ("word", "value"), [("True", "true"), ("yes", "true"), ("0", "false"), ("Off", "false"), ("AUTO", "auto")]
)
def test_the_setting_takes_every_usual_spelling(tmp_path, word, value):
    (tmp_path / "conf").write_text(f"[Copilot]\nredact_secrets = {word}\n")
    assert load_settings([str(tmp_path / "conf")]).redact_secrets == value
