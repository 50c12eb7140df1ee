"""Names in the protocols of model providers that several parts go by, and no client library defines."""

from __future__ import annotations

#: Where servers of OpenAI's protocol, and LangChain's messages, keep what a model thought beside its answer.
THOUGHTS = "reasoning_content"
#: How a refusal names ids of tool calls that a server does not take.
CALL_ID = "tool call id"
