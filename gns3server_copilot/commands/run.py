"""`gns3server-copilot run`: gns3-server with the copilot, for those who allow no start-up files in their Python."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from gns3server_copilot import autoload
from gns3server_copilot.errors import UnavailableError


def main(argv: Sequence[str]) -> int:
    """Run gns3-server with these arguments of its own, and the copilot in it."""
    autoload.arm()
    try:
        server = importlib.import_module("gns3server.main")
    except ModuleNotFoundError as error:
        raise UnavailableError(
            "gns3-server is not installed for this Python. Install it with pip, then try again."
        ) from error
    sys.argv = ["gns3server", *argv]  # where gns3-server reads its arguments
    server.main()
    return 0
