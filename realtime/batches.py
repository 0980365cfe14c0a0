"""Batched lookups: concurrent calls for single keys become one call for many keys."""

import asyncio
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError

from realtime.db_executor import run_in_db_thread

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Failure:
    """The error that `work` raised for one key."""

    error: Exception


class Batched(Generic[Key, Value]):
    """Calls `work` with many keys at once. Keys that are requested while it runs are gathered for the next call.

    So a thousand sockets that connect at the same time cost a few queries (MSG6), and a value is never older than the request
    for its key (MSG5, SEC5).

    If `work` raises an error, it is called again with each half of the keys, so that only the key with the error fails (FAIR7).
    An `OperationalError` or `InterfaceError` of the database is raised for all keys.
    """

    def __init__(self, work: Callable[[Collection[Key]], Mapping[Key, Value]]) -> None:
        self._work = work
        self._keys: set[Key] = set()
        self._next: asyncio.Task[Mapping[Key, Value | Failure]] | None = None
        self._running: asyncio.Task[Mapping[Key, Value | Failure]] | None = None

    async def __call__(self, key: Key) -> Value | None:
        """Return the value of the key, or None. Raise the error that `work` raised for this key."""
        if self._next is None:
            self._next = asyncio.create_task(self._run(self._running), name="batch")
        self._keys.add(key)
        value = (await asyncio.shield(self._next)).get(key)
        if isinstance(value, Failure):
            raise value.error
        return value

    async def _run(self, before: "asyncio.Task[Mapping[Key, Value | Failure]] | None") -> Mapping[Key, Value | Failure]:
        if before is not None:
            await asyncio.wait([before])
        keys, self._keys = self._keys, set()
        self._running, self._next = self._next, None
        return await run_in_db_thread(self._look_up, list(keys))

    def _look_up(self, keys: Sequence[Key]) -> dict[Key, Value | Failure]:
        try:
            return dict(self._work(keys))
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:  # noqa: BLE001 -- raised in the caller
            if len(keys) == 1:
                return {keys[0]: Failure(error)}
        middle = len(keys) // 2
        return self._look_up(keys[:middle]) | self._look_up(keys[middle:])
