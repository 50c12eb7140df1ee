"""The providers that a configuration can name, one module each.

A module has `build(config, omit) -> BaseChatModel`: the LangChain client of a configuration, without the request
parameters named in `omit`. To add a provider, write its module and enter it here.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass


@dataclass(frozen=True)
class Provider:
    """Where a provider's client is. `package` is what its module imports, `install` what pip needs to install it."""

    module: str
    package: str | None = None
    install: str | None = None

    @property
    def installed(self) -> bool:
        """Whether the package is there. Imports nothing."""
        return self.package is None or importlib.util.find_spec(self.package) is not None


PROVIDERS = {
    "offline": Provider("gns3server_copilot.llm.providers.offline"),
    "openai": Provider("gns3server_copilot.llm.providers.openai", "langchain_openai", "langchain-openai"),
}


def installed_providers() -> list[str]:
    """Give the names of the providers whose package is installed."""
    return sorted(name for name, provider in PROVIDERS.items() if provider.installed)
