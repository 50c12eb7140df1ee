"""TCP: refused and broken connections, handshakes that never end, losses, closed windows."""

from __future__ import annotations

from collections.abc import Iterator

from gns3server_copilot.packets.findings.base import Finding
from gns3server_copilot.packets.tcp import Stream, TcpTracker
from gns3server_copilot.packets.tcp_feed import end_text

#: A handshake that was still young when the capture ended may yet have been answered, in nanoseconds.
PATIENCE = 1_000_000_000
#: A connection that repeats so many of its segments has a problem, one that repeats fewer has a bad day.
SERIOUS_SHARE = 0.05


def find(tracker: TcpTracker, last: int) -> Iterator[Finding]:
    """Give what is wrong with the connections that a tracker has followed; `last` is the time of the last frame."""
    for stream in tracker.streams:
        yield from _opening(stream, last)
        yield from _losses(stream)


def _opening(stream: Stream, last: int) -> Iterator[Finding]:
    client, server = end_text(stream.client), end_text(stream.server)
    if stream.syns and not stream.syn_acks:
        if stream.resets:
            said = f"{server} refuses connections from {client.rpartition(':')[0]}: nothing listens there."
            yield Finding("tcp_refused", "tcp", "error", said, (*stream.syns, *stream.resets))
        elif last - stream.syn_time > PATIENCE or len(stream.syns) > 1:
            said = f"{client} tries to connect to {server}, and there is no answer."
            yield Finding("tcp_handshake_unanswered", "tcp", "error", said, tuple(stream.syns))
    elif stream.syn_acks and not stream.established:
        if last - stream.last_time > PATIENCE or len(stream.syn_acks) > 1:
            said = f"{server} answers {client}, but the handshake is not completed: the answer does not arrive there."
            yield Finding("tcp_handshake_incomplete", "tcp", "error", said, (*stream.syns, *stream.syn_acks))
    elif stream.resets:
        by = end_text(stream.reset_by)
        yield Finding(
            "tcp_reset",
            "tcp",
            "warning",
            f"{by} breaks its connection off ({client} to {server}).",
            tuple(stream.resets),
        )


def _losses(stream: Stream) -> Iterator[Finding]:
    client, server = end_text(stream.client), end_text(stream.server)
    repeated = [number for number in stream.retransmissions if number not in stream.syns]
    if repeated:
        frames = sum(half.frames for half in stream.halves.values())
        severity = "warning" if len(repeated) >= SERIOUS_SHARE * frames else "info"
        said = f"Between {client} and {server} data is sent again: segments or acknowledgements are lost."
        yield Finding("tcp_retransmission", "tcp", severity, said, tuple(repeated))
    if stream.zero_windows:
        said = f"Between {client} and {server} a receiver cannot take more (window 0)."
        yield Finding("tcp_zero_window", "tcp", "warning", said, tuple(stream.zero_windows))
