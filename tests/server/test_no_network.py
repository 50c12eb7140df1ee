"""Without a network, with an empty home and a package that nobody may write to: everything works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tiktoken import Encoding
from tiktoken_ext import openai_public

from gns3server_copilot.llm.tokens import TABLE

ROOT = Path(__file__).parents[2]

#: No route, only a loopback; packages that cannot be written to.
ALONE = """
ip link set lo up
for folder in "$SITE_PACKAGES" "$SOURCE"; do
    mount --bind "$folder" "$folder" && mount -o remount,bind,ro "$folder"
done
exec "$@"
"""

COUNT = """
import asyncio, json, socket, sys
from pathlib import Path
try:
    socket.create_connection(("192.0.2.1", 443), timeout=1)
except OSError:
    pass
else:
    raise SystemExit("there is a network")
import gns3server_copilot
try:
    Path(gns3server_copilot.__file__).with_name("written").touch()
except OSError:
    pass
else:
    raise SystemExit("the package can be written to")
from gns3server_copilot.llm.tokens import count_tokens
print(json.dumps(asyncio.run(count_tokens(json.load(sys.stdin)))))
"""

CORPUS = [
    "",
    "What is wrong with the adjacency between R1 and R2?",
    "Interface              IP-Address      OK? Method Status                Protocol\n" * 20,
    "O    10.1.0.0/16 [110/2] via 10.0.0.2, 00:01:13, GigabitEthernet0/1\n" * 50,
    "interface GigabitEthernet0/0\n ip address 10.0.0.1 255.255.255.0\n no shutdown\n!\n" * 50,
    '{"nodes": [{"name": "R1", "ports": ["g0/0", "g0/1"]}]}',
    "为什么 R1 和 R2 之间没有 OSPF 邻居？",
    "\x1b[31m%LINK-3-UPDOWN\x1b[0m \r\n \t\t --More-- \x08\x08",
    "<|endoftext|> <|im_start|>",
    "😀🐙 ́é ﷽",
    *(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("docs/**/*.md"))),
]


@pytest.fixture
def alone(tmp_path: Path) -> list[str]:
    """Give the words that run a program alone; skipped where namespaces cannot be made."""
    words = ["unshare", "--net", "--mount", "sh", "-ec", ALONE, "alone"]
    if os.geteuid() != 0 or not all(shutil.which(one) for one in ("unshare", "ip", "mount")):
        pytest.skip("network namespaces need root, unshare, ip and mount")
    if subprocess.run([*words, "true"], env=environment(tmp_path), capture_output=True, check=False).returncode:
        pytest.skip("namespaces cannot be made here")
    return words


def environment(folder: Path) -> dict[str, str]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "SITE_PACKAGES": sysconfig.get_path("purelib"),
        "SOURCE": str(ROOT / "gns3server_copilot"),
        # nothing can be made there, not even by root
        "TIKTOKEN_CACHE_DIR": "/proc/tiktoken",
    }


def test_counts_are_those_of_the_stock_encoding(
    alone: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.run(
        [*alone, sys.executable, "-c", COUNT],
        input=json.dumps(CORPUS),
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # the stock definition, with the table read from the file instead of the network
    load = openai_public.load_tiktoken_bpe
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda _, **options: load(str(TABLE), **options))
    stock = Encoding(**openai_public.cl100k_base())
    assert json.loads(done.stdout) == [len(stock.encode_ordinary(text)) for text in CORPUS]
    assert list((tmp_path / "home").iterdir()) == []


def test_a_server_starts_and_answers(alone: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [*alone, sys.executable, "-m", "gns3server_copilot.cli", "demo", "--once", "/topology"],
        env=environment(tmp_path) | {"TMPDIR": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "R1" in done.stdout.partition("is in my lab?")[2]
