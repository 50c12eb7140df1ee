"""Keeps the answers of listing tools whole: a shorter answer beats one whose middle is cut out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

#: Below the limit of `tools.response.to_text`, so that totals and metadata still fit.
MAX_ITEMS_BYTES = 30_000
#: A text that stands for all items; names are mostly ASCII.
MAX_TEXT_CHARS = 28_000


def too_long(items: Sequence[dict[str, Any]]) -> bool:
    """Whether `items` would lose their middle on the way to the model."""
    return len(json.dumps(items, ensure_ascii=False).encode()) > MAX_ITEMS_BYTES
