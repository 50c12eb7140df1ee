"""Follows TCP connections segment by segment: set-up, end, losses, as the two ends would see them.

What counts as what is as Wireshark documents its "TCP Analysis", so that numbers can be compared. Kept lean: it looks
at every TCP segment of a capture.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
UNUSUAL = FIN | SYN | RST
HALF = 0x80000000
MASK = 0xFFFFFFFF
#: A segment that comes late by less was overtaken, not lost (while the round trip is not known).
OVERTAKEN = 3_000_000
#: A repetition so soon after repeated acknowledgements is one that those have asked for.
FAST = 20_000_000
#: Connections that are followed; of a flood the others are only counted.
MOST_STREAMS = 20_000
#: Packet numbers kept for each finding.
MOST_NUMBERS = 20


class Half:
    """What one end has sent."""

    __slots__ = (
        "ack",
        "duplicates",
        "fin",
        "frames",
        "keepalive",
        "last_duplicate",
        "next",
        "next_time",
        "payload",
        "started",
        "window",
    )

    def __init__(self) -> None:
        self.started = False
        self.next = 0
        self.next_time = 0
        self.ack = -1
        self.window = -1
        self.duplicates = 0
        self.last_duplicate = 0
        self.keepalive = False
        self.frames = 0
        self.payload = 0
        self.fin = False


@dataclass(slots=True)
class Stream:
    """One connection. `client` is the end that opened it, or the first that was seen."""

    client: bytes
    server: bytes
    halves: dict[bytes, Half]
    first_seq: int = -1
    round_trip: int = 0
    syn_time: int = 0
    first_number: int = 0
    syns: list[int] = field(default_factory=list)
    syn_acks: list[int] = field(default_factory=list)
    established: bool = False
    resets: list[int] = field(default_factory=list)
    reset_by: bytes = b""
    retransmissions: list[int] = field(default_factory=list)
    zero_windows: list[int] = field(default_factory=list)
    last_time: int = 0
    #: whether the same ends have opened another connection since
    replaced: bool = False


@dataclass
class Counts:
    """What all connections had together, in segments."""

    frames: int = 0
    streams: int = 0
    full_handshakes: int = 0
    syn: int = 0
    syn_ack: int = 0
    fin: int = 0
    rst: int = 0
    retransmissions: int = 0
    fast_retransmissions: int = 0
    spurious_retransmissions: int = 0
    out_of_order: int = 0
    lost_segments: int = 0
    duplicate_acks: int = 0
    zero_windows: int = 0
    keepalives: int = 0
    server_ports: set[int] = field(default_factory=set)


class TcpTracker:
    """Shown every segment in order. Ends are addresses with two bytes of port behind them."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.streams: list[Stream] = []
        self._by_ends: dict[bytes, Stream] = {}

    def between(self, source: bytes, destination: bytes) -> Stream | None:
        """Give the connection that runs between two ends now."""
        return self._by_ends.get(source + destination)

    def usual(
        self, stream: Stream, half: Half, other: Half, time: int, seq: int, ack: int, window: int, payload: int
    ) -> bool:
        """Take in a segment without SYN, FIN and RST if there is nothing special to it; say whether that was so.

        Most segments are like that, and this is several times as fast as `segment`.
        """
        if not half.started or not window or half.keepalive or other.keepalive:
            return False
        if stream.syns and not stream.established:
            return False
        if seq != half.next:
            if payload < 2:
                return False
            if (seq - half.next) & MASK < HALF:
                self.counts.lost_segments += 1
            elif len(stream.retransmissions) < MOST_NUMBERS or not 0 <= ((half.next - seq - payload) & MASK) < HALF:
                return False
            else:
                # it has been told often enough; of which kind each further one is makes no difference
                self.counts.retransmissions += 1
                self.counts.frames += 1
                half.frames += 1
                return True
        if payload:
            half.next = (seq + payload) & MASK
            half.next_time = time
            half.payload += payload
        elif ack == half.ack and window == half.window:
            self.counts.duplicate_acks += 1
            half.duplicates += 1
            half.last_duplicate = time
        if ack != half.ack:
            half.ack = ack
            half.duplicates = 0
        half.window = window
        half.frames += 1
        stream.last_time = time
        self.counts.frames += 1
        return True

    def segment(
        self,
        number: int,
        time: int,
        source: bytes,
        destination: bytes,
        seq: int,
        ack: int,
        flags: int,
        window: int,
        payload: int,
    ) -> None:
        """Take one segment in. `time` is in nanoseconds."""
        counts = self.counts
        counts.frames += 1
        opening = flags & SYN
        if opening:
            port = destination if not flags & ACK else source
            counts.server_ports.add(port[-2] << 8 | port[-1])
        stream = self._by_ends.get(source + destination)
        if stream is None or (opening and not flags & ACK and self._is_new(stream, source, seq)):
            stream = self._open(source, destination)
            if stream is None:
                return
            stream.first_number = number
        half, other = stream.halves[source], stream.halves[destination]
        half.frames += 1
        stream.last_time = time
        if flags & (SYN | FIN | RST):
            self._note_flags(stream, number, time, source, seq, flags)
        elif not stream.established and flags & ACK and stream.syns and stream.syn_acks and source == stream.client:
            stream.established = True
            counts.full_handshakes += 1
            stream.round_trip = time - stream.syn_time
        length = payload + (1 if flags & (SYN | FIN) else 0)
        ahead = (seq - half.next) & MASK if half.started else 0
        probe = half.started and payload <= 1 and ahead == MASK and not flags & (SYN | FIN | RST)
        if probe:
            counts.keepalives += 1
        elif half.started and ahead:
            if ahead < HALF:
                if not flags & RST:
                    counts.lost_segments += 1
            elif length:
                self._repeated(stream, half, other, number, time, seq, payload, length)
        elif half.started and payload == 0 and not flags & (SYN | FIN | RST):
            if window == half.window and window and ack == half.ack and not other.keepalive:
                counts.duplicate_acks += 1
                half.duplicates += 1
                half.last_duplicate = time
            elif ack != half.ack:
                half.duplicates = 0
        half.keepalive = probe
        if window == 0 and not flags & (SYN | FIN | RST):
            counts.zero_windows += 1
            if len(stream.zero_windows) < MOST_NUMBERS:
                stream.zero_windows.append(number)
        end = (seq + length) & MASK
        if not half.started:
            half.started = True
            half.next, half.next_time = end, time
        elif not probe and (ahead < HALF or ((end - half.next) & MASK) < HALF) and length:
            if end != half.next:
                half.next = end
            half.next_time = time
        if flags & ACK:
            half.ack = ack
        half.window = window
        half.payload += payload

    def _is_new(self, stream: Stream, source: bytes, seq: int) -> bool:
        """Whether a SYN opens another connection between the same ends, not the same one again."""
        return source != stream.client or (stream.first_seq >= 0 and stream.first_seq != seq) or stream.first_seq < 0

    def _open(self, source: bytes, destination: bytes) -> Stream | None:
        self.counts.streams += 1
        if len(self.streams) >= MOST_STREAMS:
            return None
        before = self._by_ends.get(source + destination)
        if before is not None:
            before.replaced = True
        stream = Stream(source, destination, {source: Half(), destination: Half()})
        self.streams.append(stream)
        self._by_ends[source + destination] = self._by_ends[destination + source] = stream
        return stream

    def _note_flags(self, stream: Stream, number: int, time: int, source: bytes, seq: int, flags: int) -> None:
        counts = self.counts
        if flags & SYN and flags & ACK:
            counts.syn_ack += 1
            if source == stream.client:
                stream.client, stream.server = stream.server, stream.client
            stream.syn_acks.append(number)
        elif flags & SYN:
            counts.syn += 1
            stream.first_seq = seq
            if not stream.syns:
                stream.syn_time = time
            stream.syns.append(number)
        if flags & FIN:
            counts.fin += 1
            stream.halves[source].fin = True
        if flags & RST:
            counts.rst += 1
            stream.reset_by = source
            if len(stream.resets) < MOST_NUMBERS:
                stream.resets.append(number)

    def _repeated(
        self, stream: Stream, half: Half, other: Half, number: int, time: int, seq: int, payload: int, length: int
    ) -> None:
        """Tell apart why a segment begins before what has been sent already."""
        counts = self.counts
        end = (seq + length) & MASK
        if payload and other.ack >= 0 and ((other.ack - ((seq + payload) & MASK)) & MASK) < HALF:
            counts.spurious_retransmissions += 1
        elif other.duplicates >= 2 and other.ack == seq and time - other.last_duplicate < FAST:
            counts.fast_retransmissions += 1
        elif time - half.next_time < (stream.round_trip or OVERTAKEN) and end != half.next:
            counts.out_of_order += 1
            return
        counts.retransmissions += 1
        if len(stream.retransmissions) < MOST_NUMBERS:
            stream.retransmissions.append(number)
