"""Imports the heavy packages of the first chat: a second or two, a quarter of which would be garbage collection."""

from __future__ import annotations

import gc
import importlib
import threading
from types import ModuleType

_lock = threading.Lock()


def import_quickly(name: str) -> ModuleType:
    """Import a module with the garbage collector off meanwhile: what an import makes stays. Blocks; one at a time."""
    with _lock:
        collecting = gc.isenabled()
        gc.disable()
        try:
            return importlib.import_module(name)
        finally:
            if collecting:
                gc.enable()
