"""The worker process: its answers, its end, and what captures can do to it."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from gns3server_copilot.errors import ToolError
from gns3server_copilot.packets.question import Question
from gns3server_copilot.packets.worker import Analyses
from tests.ground.captures import hosts, routing, services, switching
from tests.ground.captures.ask import definitions
from tests.ground.captures.build import A, B, pcap, udp, write
from tests.ground.captures.pcapng import pcapng
from tests.ground.waiting import until

CASES = [*routing.CASES, *switching.CASES, *hosts.CASES, *services.CASES]
#: Seconds of the usual run, and of each of the four that are marked slow: no test may take five minutes.
SHORT, LONG = 4.0, 150.0


def workers() -> list[psutil.Process]:
    """Our children that read captures."""
    found = []
    for child in psutil.Process().children(recursive=True):
        # one that has just ended has no command line any more
        with suppress(psutil.Error):
            if any("worker_main" in part for part in child.cmdline()):
                found.append(child)
    return found


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A capture that takes more than a moment."""
    frame = udp(A, B, 53, bytes(40), 1024)
    at = len(frame) - 48
    frames = [frame[:at] + (1024 + number % 60_000).to_bytes(2) + frame[at + 2 :] for number in range(150_000)]
    return write(tmp_path / "large.pcap", frames)


async def test_it_answers_as_plain_data(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pcap", routing.AGREED)
    answer = await Analyses().answer(Question(str(path), protocol="ospf", definitions=definitions()))
    assert answer["facts"]["message_counts"] == {"Hello": 4}


async def test_what_cannot_be_read_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "no.pcap").write_bytes(b"GIF89a" * 20)
    for path, words in ((tmp_path / "no.pcap", "not a packet capture"), (tmp_path / "none.pcap", "not there")):
        with pytest.raises(ToolError, match=words):
            await Analyses().answer(Question(str(path)))


async def test_a_caller_that_leaves_ends_the_worker_within_a_second(large: Path) -> None:
    asking = asyncio.create_task(Analyses().answer(Question(str(large), definitions=definitions())))

    async def running() -> bool:
        return bool(workers())

    await until(running)
    begun = time.monotonic()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    async def gone() -> bool:
        return not workers()

    await until(gone)
    assert time.monotonic() - begun < 1


async def test_a_worker_that_dies_is_only_a_failed_answer(large: Path) -> None:
    asking = asyncio.create_task(Analyses().answer(Question(str(large), definitions=definitions())))

    async def killed() -> bool:
        for worker in workers():
            worker.kill()
            return True
        return False

    await until(killed)
    with pytest.raises(ToolError, match="ended without an answer"):
        await asking


async def test_one_that_takes_too_long_is_stopped(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gns3server_copilot.packets.worker.GRACE_SECONDS", 0.05)
    with pytest.raises(ToolError, match=r"longer than 0\.01 seconds"):
        await Analyses().answer(Question(str(large), max_seconds=0.01))


async def test_no_more_than_two_run_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pcap", routing.AGREED)
    analyses = Analyses()
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, len(workers()))
            await asyncio.sleep(0.02)

    watching = asyncio.create_task(watch())
    answers = await asyncio.gather(*(analyses.answer(Question(str(path))) for _ in range(6)))
    watching.cancel()
    assert [answer["frames"] for answer in answers] == [4] * 6
    assert 1 <= most <= 2


async def fuzz(seconds: float, tmp_path: Path, seed: int = 0) -> int:
    """Ask about mutated captures for so long; give how many were asked about. Nothing but ToolError may come of it."""
    chance = random.Random(seed)
    ends = time.monotonic() + seconds
    analyses = Analyses()
    asked = 0
    while time.monotonic() < ends:
        cases = chance.sample(CASES, 20)
        link_type = chance.choice([1, 1, 1, 9, 104, 107, 113, 276, 101, 0])
        frames = [
            frame if isinstance(frame, bytes) else frame[1] for case in cases for frame in (*case.bad, *case.good)
        ]
        made = chance.choice([pcap, pcapng])
        raw = bytearray(made([mutated(frame, chance) for frame in frames * 20], link_type))
        if chance.random() < 0.3:
            for _ in range(chance.randrange(1, 20)):
                raw[chance.randrange(len(raw))] = chance.randrange(256)
        path = tmp_path / "fuzz.pcap"
        path.write_bytes(raw)
        protocol = chance.choice(["", *(case.protocol for case in cases)])
        try:
            answer = await analyses.answer(Question(str(path), protocol=protocol, definitions=definitions()))
            assert answer["frames"] >= 0
        except ToolError as error:
            assert "ended without" not in error.message, error.message
        asked += 1
    return asked


def mutated(frame: bytes, chance: random.Random) -> bytes:
    """A frame with some bytes changed, cut off, repeated or put in."""
    raw = bytearray(frame)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(raw)) if raw else 0
        way = chance.randrange(5)
        if way == 0:
            raw[at : at + 1] = bytes([chance.randrange(256)])
        elif way == 1:
            raw[at : at + 2] = chance.choice([b"\xff\xff", b"\0\0", b"\x7f\xff", b"\x80\0"])
        elif way == 2:
            del raw[at:]
        elif way == 3:
            raw[at:at] = raw[at : at + chance.randrange(64)] * chance.randrange(4)
        else:
            raw[at:at] = chance.randbytes(chance.randrange(64))
    return bytes(raw[:60_000])


async def test_mutated_captures_end_in_an_answer(tmp_path: Path) -> None:
    assert await fuzz(SHORT, tmp_path) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
async def test_mutated_captures_end_in_an_answer_for_ten_minutes(seed: int, tmp_path: Path) -> None:
    assert await fuzz(LONG, tmp_path, seed) > 20
