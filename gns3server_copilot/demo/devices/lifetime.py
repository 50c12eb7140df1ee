"""A process that gns3-server started must not outlive it, however the server ends."""

from __future__ import annotations

import os
import signal
import threading
import time

_LOOK_EVERY = 0.5


def live_with_parent() -> None:
    """Leave at once on SIGTERM, and soon after the parent has gone.

    The parent's process id changes when it dies, by SIGKILL too. (Linux's PR_SET_PDEATHSIG would do as well, but it
    needs ctypes, and it also fires when only the thread ends that forked.)
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_EVERY)
        os._exit(0)

    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    threading.Thread(target=watch, name="parent watch", daemon=True).start()
