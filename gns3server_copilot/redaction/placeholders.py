"""What stands where a secret was: the same mark for the same secret, until the server stops."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

#: Of this process alone, so that a mark can neither be reversed nor be compared with one of another run.
_KEY = secrets.token_bytes(32)

#: Also as a model may spell it: in other brackets, with other signs between, without the digits.
_PLACEHOLDER = re.compile(r"[<\[({]\s*redacted\b|\bredacted\W{0,3}[0-9a-f]{8}\b", re.IGNORECASE)

OPENING = "<redacted:"


def placeholder(secret: str) -> str:
    """Give the mark for a secret."""
    digest = hmac.new(_KEY, secret.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    return f"{OPENING}{digest[:8]}>"


def holds_placeholder(line: str) -> bool:
    """Tell whether a line holds such a mark: it must not be sent to a device, which would take it for the secret."""
    return _PLACEHOLDER.search(line) is not None
