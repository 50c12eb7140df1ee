"""Keeps the frames that a question needs: all of them, or a sample of blocks spread over the capture."""

from __future__ import annotations

from gns3server_copilot.packets.walk.frame import Frame

#: Frames that scapy's layers take apart for one answer (2,000 to 3,000 a second).
MOST_FRAMES = 5_000
MOST_BYTES = 48 << 20
#: Frames that follow each other stay together, so that questions keep their answers.
BLOCK = 100


class Sample:
    """Every matching frame is offered; what is kept is every first, second, fourth, … block of them.

    `matching` counts all that were offered.
    """

    def __init__(self, most: int = MOST_FRAMES) -> None:
        self.matching = 0
        self._most = most
        self._stride = 1
        self._blocks: dict[int, list[Frame]] = {}
        self._bytes = 0
        self._kept = 0

    @property
    def whole(self) -> bool:
        """Whether every frame has been kept."""
        return self._kept == self.matching

    @property
    def frames(self) -> list[Frame]:
        """The kept frames in their order."""
        return [frame for block in self._blocks.values() for frame in block]

    def pass_over(self) -> bool:
        """Whether the next frame will not be kept, whatever it is; it is counted then, and need not be offered."""
        if not self.matching // BLOCK % self._stride:
            return False
        self.matching += 1
        return True

    def offer(self, frame: Frame) -> None:
        """Count a frame, and keep it if it is in a block that is kept."""
        block = self.matching // BLOCK
        self.matching += 1
        if block % self._stride:
            return
        self._blocks.setdefault(block, []).append(frame)
        self._bytes += len(frame.data)
        self._kept += 1
        while (self._kept > self._most or self._bytes > MOST_BYTES) and len(self._blocks) > 1:
            self._thin()

    def _thin(self) -> None:
        self._stride *= 2
        self._blocks = {number: block for number, block in self._blocks.items() if not number % self._stride}
        self._kept = sum(len(block) for block in self._blocks.values())
        self._bytes = sum(len(frame.data) for block in self._blocks.values() for frame in block)
