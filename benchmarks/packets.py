"""What reading a capture of 200,000 mixed frames costs: time, memory, and how long the server's loop stands still.

    python -m benchmarks.packets [--rounds N] [--write]

Makes the capture (the same each time), asks the worker about it as the tool does, and runs `tshark -q -z io,phs` on it
in turn where that is installed. Exits with 1 when a limit is passed: on a machine that does other things at the same
time, the processor time is what to go by.
"""

from __future__ import annotations

import asyncio
import random
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks import page
from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.schemas.protocol import Protocol
from gns3server_copilot.packets.question import Question
from gns3server_copilot.packets.worker import Analyses

FRAMES = 200_000
DIFFERENT = 4_000
LIMIT_FRAMES_A_SECOND = 100_000
LIMIT_PROTOCOL_SECONDS = 5.0
LIMIT_MB = 256.0
LIMIT_STALL_MS = {"p99": 20.0, "max": 100.0}
TICK = 0.005


@dataclass
class Runs:
    """The measured runs of one question."""

    name: str
    seconds: list[float] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)
    stalls: list[float] = field(default_factory=list)


def main() -> int:
    """Measure, print or write the table, and say whether the limits hold."""
    asked = page.options("Measure what reading a large capture costs.", rounds=5).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mixed.pcap"
        path.write_bytes(mixed_capture())
        runs, peak = asyncio.run(measure(path, asked.rounds))
        tshark = measure_tshark(path, asked.rounds)
    figures, within = table(runs, peak, tshark)
    heading = f"{asked.rounds} runs of each, in turn; medians (least–most). The start of each run's worker is counted."
    return page.report("packets", figures, heading=heading, within=within, write=asked.write)


def mixed_capture() -> bytes:
    """Give a capture as of a busy trunk: web and SSH traffic, routing protocols, DNS, ARP, pings, IPv6, VLANs."""
    from scapy.contrib.ospf import OSPF_Hdr, OSPF_Hello
    from scapy.layers.dns import DNS, DNSQR
    from scapy.layers.hsrp import HSRP
    from scapy.layers.inet import ICMP, IP, TCP, UDP
    from scapy.layers.inet6 import IPv6
    from scapy.layers.l2 import ARP, Dot1Q, Ether
    from scapy.packet import Raw

    chance = random.Random(1)
    frames = []
    for number in range(DIFFERENT):
        a, b = f"10.0.{number % 8}.{number % 200 + 1}", f"10.1.{number % 4}.{number % 100 + 1}"
        ethernet = Ether(src="02:00:00:00:00:0a", dst="02:00:00:00:00:0b")
        if number % 3 == 0:
            ethernet /= Dot1Q(vlan=10 * (number % 4 + 1))
        segment = TCP(sport=1024 + number % 400, dport=chance.choice([80, 443, 22, 5201, 179]), seq=number, flags="A")
        kinds = (
            IP(src=a, dst=b) / segment / Raw(chance.randbytes(chance.choice([0, 200, 1400]))),
            IP(src=b, dst=a) / TCP(sport=5201, dport=1024 + number % 400, seq=1, ack=number, flags="A"),
            IP(src=a, dst=b) / UDP(sport=1024 + number % 900, dport=53) / DNS(id=number, qd=DNSQR(qname="a.example")),
            IP(src=a, dst=b) / UDP(sport=4000, dport=5004) / Raw(bytes(160)),
            IP(src=a, dst=b) / ICMP(id=1, seq=number) / Raw(bytes(56)),
            ARP(psrc=a, pdst=b),
            IPv6(src="2001:db8::1", dst="2001:db8::2") / TCP(sport=1024 + number % 50, dport=443, flags="A"),
            IP(src=f"10.0.0.{number % 2 + 1}", dst="224.0.0.5", proto=89)
            / OSPF_Hdr(src=f"{number % 2 + 1}.1.1.1")
            / OSPF_Hello(mask="255.255.255.0"),
            IP(src=f"10.0.0.{number % 2 + 1}", dst="224.0.0.2")
            / UDP(sport=1985, dport=1985)
            / HSRP(state=16 if number % 2 else 8, virtualIP="10.0.0.254"),
        )
        weights = (30, 20, 8, 20, 5, 4, 8, 3, 2)
        frames.append(bytes(ethernet / chance.choices(kinds, weights)[0]))
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)]
    for number in range(FRAMES):
        frame = frames[number % DIFFERENT]
        parts.append(
            struct.pack("<IIII", 1_700_000_000 + number // 2000, number % 2000 * 500, len(frame), len(frame)) + frame
        )
    return b"".join(parts)


async def measure(path: Path, rounds: int) -> tuple[list[Runs], float]:
    """Ask each question so many times; give the runs, and the most memory that a worker had, in MB."""
    entries = packaged_knowledge().of(Protocol).entries
    definitions = {entry.key: entry.value.model_dump(mode="json", by_alias=True) for entry in entries}
    analyses = Analyses()
    runs = [Runs("summary"), Runs("ospf"), Runs("tcp"), Runs("dns")]
    peak = 0.0
    for _ in range(rounds):
        for one in runs:
            protocol = "" if one.name == "summary" else one.name
            question = Question(str(path), protocol=protocol, definitions=definitions)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begun = time.perf_counter()
            answer, memory = await watched(analyses.answer(question), one.stalls)
            peak = max(peak, memory)
            one.seconds.append(time.perf_counter() - begun)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            one.processor_seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            assert answer["frames"] == FRAMES, answer.get("notes")
    return runs, peak


async def watched(question: Any, stalls: list[float]) -> tuple[dict[str, Any], float]:
    """Wait for an answer; keep by how many milliseconds each tick of the loop comes too late meanwhile.

    Gives the answer, and the most memory that the worker was seen with, in MB.
    """
    asking = asyncio.ensure_future(question)
    peak = 0.0
    ticks = 0
    while not asking.done():
        begun = time.perf_counter()
        await asyncio.sleep(TICK)
        stalls.append((time.perf_counter() - begun - TICK) * 1000)
        ticks += 1
        if ticks % 20 == 0:
            peak = max([peak, *await asyncio.to_thread(children_mb)])
    return await asking, peak


def children_mb() -> list[float]:
    """The memory of the processes that we have started, those that have become another program, in MB."""
    own = psutil.Process()
    found = []
    for child in own.children():
        with suppress(psutil.Error):
            if child.cmdline() != own.cmdline():
                found.append(child.memory_info().rss / 2**20)
    return found


def measure_tshark(path: Path, rounds: int) -> Runs | None:
    """Have tshark sum the capture up so many times; None where it is not installed."""
    program = shutil.which("tshark")
    if program is None:
        return None
    runs = Runs("tshark -q -z io,phs")
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        command = [program, "-n", "-q", "-z", "io,phs", "-r", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        runs.seconds.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        runs.processor_seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return runs


def table(runs: list[Runs], peak: float, tshark: Runs | None) -> tuple[str, bool]:
    """Give the table, and whether all limits hold."""
    summary = runs[0]
    stalls = sorted(stall for one in runs for stall in one.stalls)
    late = {"p99": stalls[int(len(stalls) * 0.99)], "max": stalls[-1]}
    held = (
        FRAMES / min(statistics.median(summary.seconds), statistics.median(summary.processor_seconds))
        >= LIMIT_FRAMES_A_SECOND
    )
    held &= all(statistics.median(one.seconds) <= LIMIT_PROTOCOL_SECONDS for one in runs[1:]) and peak <= LIMIT_MB
    held &= all(late[name] <= limit for name, limit in LIMIT_STALL_MS.items())
    lines = [
        "| question | seconds | processor time | frames a second of it | limit |",
        "|---|--:|--:|--:|--:|",
    ]
    for one in [*runs, *([tshark] if tshark else [])]:
        rate = FRAMES / statistics.median(one.processor_seconds)
        limit = {"summary": "100,000 frames/s"}.get(one.name, "" if one is tshark else "5 s")
        seconds, processor = page.spread(one.seconds), page.spread(one.processor_seconds)
        lines.append(f"| {one.name} | {seconds} | {processor} | {rate:,.0f} | {limit} |")
    lines += [
        "",
        f"Memory of the largest worker: {peak:.0f} MB (limit {LIMIT_MB:.0f}). The loop that waits is late by "
        f"{late['p99']:.1f} ms (p99, limit 20) and {late['max']:.1f} ms (most, limit 100).",
    ]
    if tshark:
        ratio = statistics.median(tshark.processor_seconds) / statistics.median(summary.processor_seconds)
        lines.append(f"The summary takes 1/{ratio:.1f} of tshark's processor time.")
    return "\n".join(lines), held


if __name__ == "__main__":
    sys.exit(main())
