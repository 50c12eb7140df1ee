"""Token counts without a network."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gns3server_copilot.llm import tokens
from gns3server_copilot.llm.tokens import TABLE, TABLE_SHA256, count_tokens, table_status

CONFIGURATION = "interface GigabitEthernet0/0\n ip address 10.0.0.1 255.255.255.0\n no shutdown\n"


def test_the_table_is_the_published_one() -> None:
    assert hashlib.sha256(TABLE.read_bytes()).hexdigest() == TABLE_SHA256
    assert TABLE_SHA256 == "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
    assert table_status() is None


async def test_counts_are_those_of_cl100k_base() -> None:
    known = {
        "": 0,
        "hello world": 2,
        "tiktoken is great!": 6,
        "antidisestablishmentarianism": 6,
        "2 + 2 = 4": 7,
        "お誕生日おめでとう": 9,
        "<|endoftext|>": 7,
    }
    assert await count_tokens(list(known)) == list(known.values())


def test_the_words_are_cut_as_tiktoken_does() -> None:
    import inspect

    from tiktoken_ext import openai_public

    assert f'r"""{tokens.WORDS}"""' in inspect.getsource(openai_public.cl100k_base)


async def test_long_texts_without_spaces_are_counted_in_time() -> None:
    begun = time.perf_counter()
    pieces = ["a", "=", " ", "\n", "0123456789abcdef", "\u200b", "的"]
    counts = await count_tokens([piece * (200_000 // len(piece)) for piece in pieces])
    assert time.perf_counter() - begun < 10
    assert all(counts)


@settings(deadline=None)
@given(st.text() | st.text(st.characters(categories=["Cs", "Lo", "So"])))
def test_every_text_can_be_counted(text: str) -> None:
    [count] = tokens.token_counts([text])
    assert 0 <= count <= 4 * len(text)


async def test_the_loop_goes_on_while_texts_are_counted() -> None:
    longest = 0.0
    counting = asyncio.create_task(count_tokens(["show ip route and then some more words " * 20_000]))
    while not counting.done():
        begun = time.perf_counter()
        await asyncio.sleep(0.005)
        longest = max(longest, time.perf_counter() - begun)
    assert longest < 0.25


def test_without_a_table_counts_are_high_estimates_and_the_log_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    texts = ["hello world, this is a sentence", CONFIGURATION, "お誕生日おめでとう", ""]
    right = tokens.token_counts(texts)
    damaged = tmp_path / "cl100k_base.tiktoken"
    damaged.write_bytes(TABLE.read_bytes()[:-1])
    monkeypatch.setattr(tokens, "TABLE", damaged)
    tokens._build_encoding.cache_clear()
    try:
        for _ in range(3):
            assert all(estimate >= count for estimate, count in zip(tokens.token_counts(texts), right, strict=True))
        # pytest may see the same record at more than one logger
        assert len({id(one) for one in caplog.records if "only estimated" in one.getMessage()}) == 1
        assert "checksum" in (table_status() or "")
        damaged.unlink()
        assert "Install" in (table_status() or "")
    finally:
        tokens._build_encoding.cache_clear()


def test_counting_needs_no_network_no_home_and_no_cache(tmp_path: Path) -> None:
    program = """
import asyncio, socket, sys
def refuse(*_, **__): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
import gns3server_copilot.llm.tokens as tokens
assert "tiktoken" not in sys.modules
assert asyncio.run(tokens.count_tokens(["hello world"])) == [2]
assert "requests" not in sys.modules
"""
    cache = tmp_path / "cache"
    environment = {
        "PYTHONPATH": str(TABLE.parents[3]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TIKTOKEN_CACHE_DIR": str(cache),
        "TMPDIR": str(tmp_path),
    }
    subprocess.run([sys.executable, "-c", program], env=environment, cwd=tmp_path, check=True, timeout=60)
    assert list(tmp_path.iterdir()) == []
