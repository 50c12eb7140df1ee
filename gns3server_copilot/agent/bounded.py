"""A mapping that forgets what has not been used for longest. Used from several threads at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Bounded(Generic[Key, Value]):
    """Keeps at most so many entries."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """Give the entries of those keys that have one."""
        with self._lock:
            found = {key: self._entries[key] for key in keys if key in self._entries}
            for key in found:
                self._entries.move_to_end(key)
        return found

    def add(self, entries: Mapping[Key, Value]) -> None:
        """Keep these entries, and forget the oldest ones beyond the limit."""
        with self._lock:
            for key, value in entries.items():
                self._entries[key] = value
                self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
