"""Imports the heavy packages of the first chat: a second or two, a quarter of which would be garbage collection.

What they make, 200,000 objects, stays for good. A full collection would look at all of it each time, and hold the event
loop for 0.1 to 0.3 s; so it is taken out of what is looked at.
"""

from __future__ import annotations

import gc
import importlib
import sys
import threading
from types import ModuleType

_lock = threading.Lock()


def import_quickly(name: str) -> ModuleType:
    """Import a module with the garbage collector off meanwhile: what an import makes stays. Blocks; one at a time.

    Cyclic garbage that is there at the end of an import stays, too: once for each package.
    """
    with _lock:
        if name in sys.modules:
            return importlib.import_module(name)
        collecting = gc.isenabled()
        gc.disable()
        try:
            module = importlib.import_module(name)
            gc.freeze()
            return module
        finally:
            if collecting:
                gc.enable()
