"""The built-in model, for which a configuration has nothing to set."""

from __future__ import annotations

from collections.abc import Collection

from langchain_core.language_models import BaseChatModel

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.offline import OfflineChatModel


def build(config: LLMConfig, omit: Collection[str]) -> BaseChatModel:
    """Give the offline model."""
    return OfflineChatModel()
