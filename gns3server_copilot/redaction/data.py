"""Takes secrets out of structured data, such as a tool's answer."""

from __future__ import annotations

import json
from typing import Any

from gns3server_copilot.redaction.placeholders import OPENING, placeholder
from gns3server_copilot.redaction.rules import SECRET_FIELD
from gns3server_copilot.redaction.text import redact, visible


def redacted(value: Any) -> Any:
    """Give a copy of JSON-like data with placeholders for secrets, in texts and in fields that are called so."""
    return _changed(value, secrets=True)


def made_visible(value: Any) -> Any:
    """Give a copy of JSON-like data whose texts hold no control and other invisible characters."""
    return _changed(value, secrets=False)


def _changed(value: Any, *, secrets: bool) -> Any:
    if isinstance(value, str):
        return _changed_text(value, secrets=secrets)
    if isinstance(value, dict):
        return {
            key: _hidden(member) if secrets and _is_secret(key, member) else _changed(member, secrets=secrets)
            for key, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [_changed(member, secrets=secrets) for member in value]
    return value


def _is_secret(key: Any, value: Any) -> bool:
    return isinstance(key, str) and isinstance(value, str) and value != "" and SECRET_FIELD.search(key) is not None


def _hidden(secret: str) -> str:
    return secret if secret.startswith(OPENING) else placeholder(secret)


def _changed_text(text: str, *, secrets: bool) -> str:
    # inside of JSON text line ends and quotes are escaped, and a secret would not end where it ends
    if text[:1] in ("{", "[") and text[-1:] in ("}", "]"):
        try:
            inner = json.loads(text)
            changed = _changed(inner, secrets=secrets)
        except (ValueError, RecursionError):
            pass
        else:
            return text if changed == inner else json.dumps(changed, ensure_ascii=False)
    return redact(visible(text)) if secrets else visible(text)
