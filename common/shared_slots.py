"""What the tenants of a process share, by shares of workspaces and people (FAIR1, FAIR2; ADR 0028).

Every limit of a worker on what is done at the same time is one of these classes. Waiting for a slot does not count as time of a
tool (`limit_working_time`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import TypeVar
from weakref import WeakKeyDictionary

from common.fair_queue import FairQueue
from common.tenants import get_current_tenant

T = TypeVar("T")

_time_limit: ContextVar[tuple[asyncio.Task[object] | None, asyncio.Timeout] | None] = ContextVar(
    "time_limit", default=None
)
"""The time limit of the innermost `limit_working_time`, and its task."""


@asynccontextmanager
async def limit_working_time(seconds: float) -> AsyncIterator[None]:
    """Raise `TimeoutError` when the block takes longer than `seconds`. Waiting for shared slots does not count."""
    async with asyncio.timeout(seconds) as limit:
        token = _time_limit.set((asyncio.current_task(), limit))
        try:
            yield
        finally:
            _time_limit.reset(token)


@contextmanager
def _pause_time_limit() -> Iterator[None]:
    """Stop the clock of the time limit in this block, unless the block is in another task, which may outlive it."""
    task, limit = _time_limit.get() or (None, None)
    ends_at = None if limit is None or limit.expired() or task is not asyncio.current_task() else limit.when()
    if limit is None or ends_at is None:
        yield
        return
    loop = asyncio.get_running_loop()
    began = loop.time()
    limit.reschedule(None)
    try:
        yield
    finally:
        limit.reschedule(ends_at + loop.time() - began)


class SharedSlots:
    """Slots that the tenants of a process share: a quarter of them is for one workspace at most, an eighth for one person.

    Each event loop has slots of its own. `slots` is called when a loop first uses them. `share`: the most slots of one workspace
    and of one person, instead of a quarter and an eighth.
    """

    instances: list["SharedSlots"] = []

    def __init__(self, name: str, slots: Callable[[], int], *, share: int | None = None) -> None:
        self.name = name
        self._slots = slots
        self._share = share
        self._holder: ContextVar[asyncio.Task[object] | None] = ContextVar(f"holder of {name}", default=None)
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, FairQueue] = WeakKeyDictionary()
        SharedSlots.instances.append(self)

    @asynccontextmanager
    async def reserve(self, seconds: float | None = None) -> AsyncIterator[None]:
        """Wait for a slot for the current tenant, and keep it in this block. A task that has a slot already gets no second one.

        Raises `TimeoutError` if it must wait for longer than `seconds`.
        """
        task = asyncio.current_task()
        if self._holder.get() is task:
            yield
            return
        async with asyncio.timeout(seconds):
            release = await self.acquire()
        token = self._holder.set(task)
        try:
            yield
        finally:
            self._holder.reset(token)
            release()

    async def acquire(self) -> Callable[[], None]:
        """Wait for a slot for the current tenant. Return the function that gives it back, which is called on this event loop."""
        queue, tenant = self.get_queue(), get_current_tenant()
        with _pause_time_limit():
            await queue.acquire(tenant)
        return lambda: queue.release(tenant)

    def get_queue(self) -> FairQueue:
        """Return the queue of this event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._queues:
            slots = self._slots()
            self._queues[loop] = FairQueue(
                slots, [self._share or max(1, slots // 4), self._share or max(1, slots // 8)]
            )
        return self._queues[loop]


class SharedThreads:
    """Threads that the tenants of a process share, for work that cannot be interrupted.

    A thread counts for its tenant until its work has ended, also if the caller has been cancelled. `pool`: the threads, if they
    exist already.
    """

    def __init__(
        self, threads: int, name: str, *, share: int | None = None, pool: ThreadPoolExecutor | None = None
    ) -> None:
        self.slots = SharedSlots(name, lambda: threads, share=share)
        self._threads = pool or ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, which a thread runs when it is the turn of the current tenant."""
        loop = asyncio.get_running_loop()
        release = await self.slots.acquire()

        def release_slot(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(release)

        future = self._threads.submit(work)
        future.add_done_callback(release_slot)
        return await asyncio.wrap_future(future)
