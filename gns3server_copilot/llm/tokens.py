"""Counts tokens with tiktoken's cl100k_base, whose table is in the package: no network, no cache, no environment.

tiktoken itself would download the table, without a time limit, on the first use.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import hashlib
import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

log = logging.getLogger(__name__)

TABLE = Path(__file__).with_name("data") / "cl100k_base.tiktoken"
TABLE_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"

#: How cl100k_base cuts a text into words before it looks them up; part of the encoding, as the table is.
WORDS = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)

#: Without the table: UTF-8 bytes for each token. Prose has 4, device configurations 2.5.
BYTES_PER_TOKEN = 2

_loading = threading.Lock()


async def count_tokens(texts: Sequence[str]) -> list[int]:
    """Count the tokens of each text. Different models count differently; this is right to about a quarter.

    Without the table the numbers are estimates, mostly too high, and the log says so once.
    """
    return await asyncio.to_thread(token_counts, texts)


def table_status() -> str | None:
    """Give None when the table is whole, else what is wrong with it."""
    try:
        _read_table()
    except (OSError, ValueError) as error:
        return f"{TABLE.name} cannot be used ({error}). Install gns3server-copilot again."
    return None


def token_counts(texts: Sequence[str]) -> list[int]:
    """Count as `count_tokens` does, in the calling thread: 0.1 s for each MB, the interpreter's lock released."""
    encoding = _encoding()
    if encoding is None:
        return [-(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN) for text in texts]
    return [len(encoding.encode_ordinary(text)) for text in texts]


def _encoding() -> Encoding | None:
    with _loading:
        return _build_encoding()


@functools.cache
def _build_encoding() -> Encoding | None:
    try:
        from tiktoken import Encoding

        return Encoding("cl100k_base", pat_str=WORDS, mergeable_ranks=_read_table(), special_tokens={})
    except (ImportError, OSError, ValueError) as error:
        log.warning("Tokens are only estimated: %s", error)
        return None


def _read_table() -> dict[bytes, int]:
    content = TABLE.read_bytes()
    if hashlib.sha256(content).hexdigest() != TABLE_SHA256:
        raise ValueError("its checksum is wrong")
    ranks = {}
    for line in content.splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    return ranks
