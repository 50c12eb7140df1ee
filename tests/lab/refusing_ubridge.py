"""The stand-in for ubridge, but it refuses to corrupt packets: a compute on which one type of filter does not work.

As the genuine ubridge does, it keeps a refused filter in its list, half set up; here such a filter drops everything.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from gns3server_copilot.demo import ubridge
from gns3server_copilot.demo.hypervisor import filters


class Refused:
    """Never set up, and in the way all the same."""

    def set_up(self, arguments: list[str]) -> bool:
        return False

    def drops(self, frame: bytearray) -> bool:
        return True


filters.FILTERS["corrupt"] = Refused

if __name__ == "__main__":
    sys.exit(ubridge.main(sys.argv[1:]))
