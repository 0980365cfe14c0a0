"""A map and a counter of bounded size, for data that a process keeps about many people."""

from collections import OrderedDict
from collections.abc import Callable
from threading import RLock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedMap(Generic[Key, Value]):
    """A map for several threads. When it has more than `size` entries, it drops the one that was set longest ago.

    Acquire `lock` around several calls that must be atomic.
    """

    def __init__(self, size: int) -> None:
        self.lock = RLock()
        self._size = size
        self._entries: OrderedDict[Key, Value] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key, default: Value) -> Value:
        """Return the value of `key`, or `default`."""
        with self.lock:
            return self._entries.get(key, default)

    def set(self, key: Key, value: Value) -> None:
        """Set the value of `key`."""
        with self.lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def get_or_set(self, key: Key, build: Callable[[], Value]) -> Value:
        """Return the value of `key`; set it to `build()` first if there is none."""
        with self.lock:
            if key not in self._entries:
                self.set(key, build())
            return self._entries[key]


class BoundedCounter(Generic[Key]):
    """Counts per key, for the newest `size` keys. May be used from any thread."""

    def __init__(self, size: int) -> None:
        self._counts: BoundedMap[Key, int] = BoundedMap(size)

    def add(self, key: Key) -> int:
        """Increase the count of `key` by one and return it."""
        with self._counts.lock:
            count = self._counts.get(key, 0) + 1
            self._counts.set(key, count)
        return count
