"""Keeps text from the lab from reading as anything but text from the lab.

Two ways out of a text are closed. What stands in the system prompt is put between two marks with a number that nobody
can know beforehand: it is computed from the text itself, with a key of this process. Tool results have messages of
their own, in JSON, which their text cannot end; but servers that turn messages into one text for the model recognise
the marks between messages anywhere in it, so those marks are taken apart.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

_KEY = secrets.token_bytes(32)

#: Marks between messages in the templates of open models: ChatML, Llama, Mistral, Gemma, DeepSeek, Phi and others.
_MESSAGE_MARKS = re.compile(
    r"<(?=[|｜])|<(?=/?(?:s|bos|eos|unk|pad|start_of_turn|end_of_turn|think|tool_call|tool_response|function_calls?)>)"
    r"|(?<=[|｜])>|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\])|<(?=</?SYS>>)",
    re.IGNORECASE,
)


def fenced(label: str, text: str) -> str:
    """Give a text between two marks that it cannot hold itself."""
    number = hmac.new(_KEY, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:12]
    return f"<{label} {number}>\n{text}\n</{label} {number}>"


def without_message_marks(text: str) -> str:
    """Give a text in which no model's template finds the beginning or end of a message: a space is put into each."""
    return _MESSAGE_MARKS.sub(lambda found: f" {found[0]}" if found[0] == ">" else f"{found[0]} ", text)
