"""Database work asked for from an event loop: short synchronous sections on a few threads (architecture §6).

There is no async transaction in Django; so each section is one ordinary function that does a whole piece of work, and
its connection goes back to the pool when it ends: none is held while a model talks or a socket waits.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
T = TypeVar("T")


class Sections:
    """A few threads for database work; `threads` bounds how many connections it may hold.

    `on_memory_error` is called in the thread whose work ran out of memory: its caller may have been cancelled meanwhile.
    """

    def __init__(self, threads: int, name: str, *, on_memory_error: Callable[[], None] | None = None) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._on_memory_error = on_memory_error

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work` in a thread; returns what it returns. Cancelling the caller does not break off work under way."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(self._section, work, *args, **kwargs))

    def _section(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        except MemoryError:
            if self._on_memory_error is not None:
                self._on_memory_error()
            raise
        finally:
            connections.close_all()
