"""One pass over a capture: every frame counted by its layers, and shown to those who watch for its protocols."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from gns3server_copilot.packets.budget import INTERVAL, Budget
from gns3server_copilot.packets.conversations import Conversations, Ends, conversation_of
from gns3server_copilot.packets.flows import Flow, flow_key
from gns3server_copilot.packets.link_types import ETHERNET, link_type_name
from gns3server_copilot.packets.reader import Capture
from gns3server_copilot.packets.records import SECOND, Record
from gns3server_copilot.packets.tcp import UNUSUAL, TcpTracker
from gns3server_copilot.packets.tcp_feed import SEGMENT, feed
from gns3server_copilot.packets.walk.frame import Frame, Walker

#: More flows than this are a scan or a flood; what comes later is counted with what has the same layers.
MOST_FLOWS = 60_000

#: What to watch for to be shown every fragment.
FRAGMENTS = "fragments"

#: Shown each frame of a protocol that somebody watches; says whether it wants to see more.
Watcher = Callable[[Frame], bool]


@dataclass
class Survey:
    """What a capture holds, after `run`. Times are in nanoseconds."""

    watchers: dict[str, list[Watcher]] = field(default_factory=dict)
    frames: int = 0
    octets: int = 0
    #: of the capture's first frame, from which times are counted
    start: int = 0
    first: int = 0
    last: int = 0
    malformed: int = 0
    cut: int = 0
    fragments: int = 0
    #: shown every TCP segment
    tracker: TcpTracker | None = None
    #: asked before a watched frame that need not be walked through again; says that nobody has to see this one
    passes_over: Callable[[], bool] | None = None
    #: says which frames count; all where there is none
    accepts: Callable[[Frame], bool] | None = None
    _flows: dict[object, Flow] = field(default_factory=dict)
    _walker: Walker = field(default_factory=Walker)

    def watch(self, protocol: str, watcher: Watcher) -> None:
        """Have `watcher` called with every frame that holds `protocol`, in order."""
        self.watchers.setdefault(protocol, []).append(watcher)

    def run(self, capture: Capture, budget: Budget) -> None:
        """Read the capture as far as the budget goes."""
        if self.accepts is not None:
            self._run_choosing(capture, budget, self.accepts)
            return
        flows = self._flows
        segment = self._segment
        passes_over = self.passes_over
        number = cut = 0
        last = 0
        for record in capture.records():
            if not number % INTERVAL and not budget.allows(number):
                break
            number += 1
            time, length, data, link_type = record
            if number == 1:
                self.start = self.first = last = time
            key = None
            if link_type == ETHERNET:
                # contextlib.suppress would cost as much as the key itself
                try:  # noqa: SIM105
                    key = flow_key(data)
                except IndexError:
                    pass
            flow = flows.get(key) if key is not None else None
            if flow is None or (flow.watched and not (passes_over is not None and passes_over())):
                flow = self._walk(number, record, key)
            elif flow.tcp_at:
                segment(number, record, flow)
            flow.frames += 1
            flow.octets += length
            flow.last = time
            if len(data) < length:
                cut += 1
            if time > last:
                last = time
        self.frames, self.cut, self.last = number, cut, last
        self.octets = sum(flow.octets for flow in flows.values())

    def _run_choosing(self, capture: Capture, budget: Budget, accepts: Callable[[Frame], bool]) -> None:
        """Read as `run` does, but count only the frames that are accepted; each has to be walked through for that."""
        for number, record in enumerate(capture.records()):
            if not number % INTERVAL and not budget.allows(number):
                break
            if number == 0:
                self.start = record.time
            frame = self._walker.frame(number + 1, record)
            if not accepts(frame):
                continue
            flow = self._take(frame, record, None)
            flow.frames += 1
            flow.octets += record.length
            flow.last = record.time
            self.first = self.first or record.time
            self.last = max(self.last, record.time)
            self.frames += 1
            self.cut += frame.cut
        self.octets = sum(flow.octets for flow in self._flows.values())

    def _walk(self, number: int, record: Record, key: bytes | None) -> Flow:
        """Walk through a frame, show it to who watches for it, and give its flow."""
        return self._take(self._walker.frame(number, record), record, key)

    def _take(self, frame: Frame, record: Record, key: bytes | None) -> Flow:
        self.malformed += frame.malformed
        self.fragments += frame.fragment
        watched = bool(self.watchers) and self._show(frame)
        if self.tracker is not None:
            feed(self.tracker, frame)
        names = tuple([layer.protocol for layer in frame.layers])
        ends = None
        place: object = key
        if key is None or frame.peeked:
            ends = conversation_of(record.data, frame.layers)
            place = (names, ends, record.link_type)
        flow = self._flows.get(place)
        if flow is None:
            ends = ends or conversation_of(record.data, frame.layers)
            flow = self._new_flow(place, names, ends, record)
            if self.tracker is not None and place is key and ends is not None and ends[0] == "tcp":
                flow.follow(frame.layers)
        flow.watched = watched
        return flow

    def _show(self, frame: Frame) -> bool:
        """Show a frame to those who watch for its protocols; say whether one of them wants to see more such frames."""
        wanted = False
        for name in dict.fromkeys([layer.protocol for layer in frame.layers]):
            for watcher in self.watchers.get(name, ()):
                wanted |= watcher(frame)
        if frame.fragment:
            for watcher in self.watchers.get(FRAGMENTS, ()):
                watcher(frame)
        return wanted

    def _new_flow(self, place: object, names: tuple[str, ...], ends: Ends | None, record: Record) -> Flow:
        if len(self._flows) >= MOST_FLOWS:
            place, ends = (names, None, record.link_type), None
            known = self._flows.get(place)
            if known is not None:
                return known
        protocol, source, destination = ends or ("", b"", b"")
        flow = self._flows[place] = Flow(names, record.link_type, protocol, source, destination, record.time)
        return flow

    def _segment(self, number: int, record: Record, flow: Flow) -> None:
        """Show the tracker a segment of a flow that need not be walked through again."""
        time, _, data, _ = record
        _, _, seq, ack, offset, flags, window = SEGMENT.unpack_from(data, flow.tcp_at)
        length_at = flow.length_at
        payload = (data[length_at] << 8 | data[length_at + 1]) - flow.length_of_headers - (offset >> 4 << 2)
        tracker, stream = self.tracker, flow.stream
        assert tracker is not None
        if stream is None or stream.replaced:
            stream = flow.stream = tracker.between(flow.source, flow.destination)
            if stream is not None:
                flow.half, flow.other = stream.halves[flow.source], stream.halves[flow.destination]
        if (
            stream is not None
            and not flags & UNUSUAL
            and flow.half is not None
            and flow.other is not None
            and tracker.usual(stream, flow.half, flow.other, time, seq, ack, window, payload)
        ):
            return
        tracker.segment(number, time, flow.source, flow.destination, seq, ack, flags, window, payload)

    @property
    def conversations(self) -> Conversations:
        """Who talks with whom."""
        return Conversations(flow for flow in self._flows.values() if flow.source)

    def protocols(self) -> dict[str, int]:
        """Give the number of frames that hold each protocol, most first."""
        counts: Counter[str] = Counter()
        for flow in self._flows.values():
            for name in dict.fromkeys(flow.layers):
                counts[name] += flow.frames
        return dict(counts.most_common())

    @property
    def seconds(self) -> float:
        """Time between the first and the last frame."""
        return (self.last - self.first) / SECOND

    @property
    def link_type(self) -> str:
        """Names of the link types, most frames first."""
        counts: Counter[int] = Counter()
        for flow in self._flows.values():
            counts[flow.link_type] += flow.frames
        return ", ".join(link_type_name(number) for number, _ in counts.most_common())
