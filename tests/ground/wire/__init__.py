"""The wire formats that the scripted model server speaks, one module each."""

from __future__ import annotations

from tests.ground.wire.anthropic import Anthropic
from tests.ground.wire.base import Wire
from tests.ground.wire.bedrock import Bedrock
from tests.ground.wire.google import Google
from tests.ground.wire.ollama import Ollama
from tests.ground.wire.openai import OpenAI

WIRES: tuple[type[Wire], ...] = (OpenAI, Anthropic, Google, Ollama, Bedrock)
