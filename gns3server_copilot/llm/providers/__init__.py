"""The providers that a configuration can name, one module each.

A module has `build(config, omit) -> BaseChatModel`: the LangChain client of a configuration, without the request
parameters named in `omit`. To add a provider, write its module and enter it here.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Provider:
    """Where a provider's client is, and where that goes.

    `package` is what its module imports, `install` what pip needs to install it. `official_url` is used by
    configurations without a URL. `mark` is what LangChain notes as `model_provider` on its messages. `repeats_usage`
    says that its servers may tell running totals of tokens in every piece of an answer; those of others add up.
    `makes_titles` says that it can be asked for the title of a conversation.
    """

    module: str
    package: str | None = None
    install: str | None = None
    official_url: str = ""
    mark: str = ""
    repeats_usage: bool = False
    makes_titles: bool = True

    @property
    def installed(self) -> bool:
        """Whether the package is there. Imports nothing."""
        return self.package is None or importlib.util.find_spec(self.package) is not None


def _provider(name: str, package: str, official_url: str, **more: Any) -> Provider:
    module = f"gns3server_copilot.llm.providers.{name}"
    return Provider(module, package, f"gns3server-copilot[{name}]", official_url, **{"mark": name, **more})


PROVIDERS = {
    "offline": Provider("gns3server_copilot.llm.providers.offline", makes_titles=False),
    "openai": Provider(
        "gns3server_copilot.llm.providers.openai",
        "langchain_openai",
        "langchain-openai",
        "https://api.openai.com/v1",
        mark="openai",
        repeats_usage=True,
    ),
    "anthropic": _provider("anthropic", "langchain_anthropic", "https://api.anthropic.com"),
    "aws": _provider("aws", "langchain_aws", "https://bedrock-runtime.(region).amazonaws.com", mark="bedrock_converse"),
    "deepseek": _provider("deepseek", "langchain_deepseek", "https://api.deepseek.com/v1", repeats_usage=True),
    "google": _provider(
        "google", "langchain_google_genai", "https://generativelanguage.googleapis.com", mark="google_genai"
    ),
    "ollama": _provider("ollama", "langchain_ollama", "http://127.0.0.1:11434"),
    "xai": _provider("xai", "langchain_xai", "https://api.x.ai/v1", repeats_usage=True),
}


def effective_url(provider: str, base_url: str, custom: Mapping[str, Any]) -> str:
    """Give where a configuration of these values goes: its URL, else its provider's own; "" goes nowhere."""
    if base_url or provider not in PROVIDERS:
        return base_url
    region = custom.get("region_name") or custom.get("region") or ""
    return PROVIDERS[provider].official_url.replace("(region)", str(region))


def installed_providers() -> list[str]:
    """Give the names of the providers whose package is installed."""
    return sorted(name for name, provider in PROVIDERS.items() if provider.installed)
