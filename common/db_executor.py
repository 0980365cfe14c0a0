"""Run database work of an event loop in threads.

Django has no asynchronous transactions. So the work is an ordinary function, and its connection returns to the pool when the
function ends: no connection is held while a model answers or a socket waits.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import connections

from common.shared_slots import SharedThreads

P = ParamSpec("P")
T = TypeVar("T")


class DatabaseExecutor:
    """A thread pool for database work. `threads` is also the largest number of connections that it uses.

    `on_memory_error` is called in the thread that ran out of memory, because its caller may have been cancelled.
    """

    def __init__(self, threads: int, name: str, *, on_memory_error: Callable[[], None] | None = None) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._on_memory_error = on_memory_error

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in a thread and return its result. Cancelling the caller does not interrupt work that has begun."""
        return await self._submit(partial(self._run, work, *args, **kwargs))

    async def _submit(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        except MemoryError:
            if self._on_memory_error is not None:
                self._on_memory_error()
            raise
        finally:
            connections.close_all()


class SharedDatabaseExecutor(DatabaseExecutor):
    """A thread pool for database work whose amount tenants decide. They share its threads (`SharedThreads`)."""

    def __init__(
        self,
        threads: int,
        name: str,
        *,
        share: int | None = None,
        on_memory_error: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(threads, name, on_memory_error=on_memory_error)
        self._shared_threads = SharedThreads(threads, name, share=share, pool=self._threads)

    async def _submit(self, work: Callable[[], T]) -> T:
        return await self._shared_threads.run(work)
