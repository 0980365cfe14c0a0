"""Run database work of an event loop in threads.

Django has no asynchronous transactions. So the work is an ordinary function, and its connection returns to the pool when the
function ends: no connection is held while a model answers or a socket waits.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

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


_Queue = deque[tuple[Future[Any], Callable[[], Any]]]


class PriorityDatabaseExecutor(DatabaseExecutor):
    """A thread pool for database work of two priorities: a free thread takes the work of `call_first` before all other work that
    waits. Work of one priority starts in order of arrival.

    The other work waits as long as there is work of `call_first`. So that it does not wait for ever, the caller must limit the work
    of `call_first` that can come before some of the other work is done.
    """

    def __init__(self, threads: int, name: str, *, on_memory_error: Callable[[], None] | None = None) -> None:
        super().__init__(threads, name, on_memory_error=on_memory_error)
        self._lock = threading.Lock()
        self._first: _Queue = deque()
        self._others: _Queue = deque()

    async def call_first(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` as a call of this object does, but before all such calls that wait."""
        return await self._add(self._first, partial(self._run, work, *args, **kwargs))

    async def _submit(self, work: Callable[[], T]) -> T:
        return await self._add(self._others, work)

    def _add(self, queue: _Queue, work: Callable[[], T]) -> asyncio.Future[T]:
        future: Future[T] = Future()
        queue.append((future, work))
        # Which work a thread does is decided when it is free.
        self._threads.submit(self._run_next)
        return asyncio.wrap_future(future)

    def _run_next(self) -> None:
        with self._lock:
            future, work = (self._first or self._others).popleft()
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 -- the caller gets it
            future.set_exception(error)
            del future  # the traceback of the error refers to this frame
        else:
            future.set_result(result)


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
