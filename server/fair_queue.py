"""Decide which request gets a thread of the web process next, so that no caller occupies all threads."""

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from common.bounded import BoundedMap
from common.errors import LimitReached

MAX_WAITING_REQUESTS = 100
"""The most requests of one caller that wait; further ones are refused."""

MAX_REMEMBERED_CALLERS = 10_000
"""The number of callers whose CPU time is counted."""


class CpuBudget:
    """The CPU time that each caller may use: `per_second`, and a `burst` in seconds; 0 means no limit."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        # For each caller: when the budget is full again (`time.monotonic`).
        self._full_at: BoundedMap[Hashable, float] = BoundedMap(MAX_REMEMBERED_CALLERS)

    def charge(self, caller: Hashable, seconds: float) -> None:
        """Count the CPU time of a request."""
        if self._per_second:
            full_at = max(self._full_at.get(caller, 0.0), time.monotonic()) + seconds / self._per_second
            self._full_at.set(caller, full_at)

    def seconds_to_wait(self, caller: Hashable) -> float:
        """Return after how many seconds the caller is within the budget again; 0 when they are now."""
        if not self._per_second:
            return 0.0
        return max(0.0, self._full_at.get(caller, 0.0) - time.monotonic() - self._burst / self._per_second)


@dataclass(frozen=True, slots=True)
class HTTPCaller:
    """The originator of a request. Requests with the same `key` share `threads_per_caller` threads and a budget.

    `is_unidentified`: the key is not that of a person, but for example an IP address, which many people may have. Such
    a caller gets twice the threads, and no budget limits it.
    """

    key: Hashable
    is_unidentified: bool = False


class FairQueue:
    """Runs at most `threads_per_caller` requests of one caller at a time. Callers take turns, and a caller over the budget waits.

    All methods are called on one event loop.
    """

    def __init__(self, threads: int, *, threads_per_caller: int, budget: CpuBudget) -> None:
        self._free_threads = threads
        self._threads_per_caller = threads_per_caller
        self._budget = budget
        self._running: Counter[HTTPCaller] = Counter()
        self._waiting: OrderedDict[HTTPCaller, deque[asyncio.Future[None]]] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def wait_for_turn(self, caller: HTTPCaller) -> AsyncIterator[None]:
        """Wait for this caller's turn, and reserve a thread inside the block. Raises `LimitReached` when too many requests wait."""
        await self._enter(caller)
        try:
            yield
        finally:
            self._leave(caller)

    def charge(self, caller: HTTPCaller, seconds: float) -> None:
        """Count the CPU time of a request."""
        if not caller.is_unidentified:
            self._budget.charge(caller.key, seconds)

    async def _enter(self, caller: HTTPCaller) -> None:
        queue = self._waiting.setdefault(caller, deque())
        if len(queue) >= MAX_WAITING_REQUESTS:
            raise LimitReached(
                "Too many requests at once.", hints=["Wait for answers first."], data={"limit": "waiting", "seconds": 1}
            )
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._start_next_requests()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                queue.remove(turn)
                if not queue:
                    del self._waiting[caller]
            else:  # its turn had come
                self._leave(caller)
            raise

    def _leave(self, caller: HTTPCaller) -> None:
        self._free_threads += 1
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        self._start_next_requests()

    def _start_next_requests(self) -> None:
        """Start the requests that may run now. A caller that got a thread goes to the end of the order."""
        while self._free_threads and (caller := self._find_next_caller()) is not None:
            queue = self._waiting[caller]
            queue.popleft().set_result(None)
            self._free_threads -= 1
            self._running[caller] += 1
            if queue:
                self._waiting.move_to_end(caller)
            else:
                del self._waiting[caller]

    def _find_next_caller(self) -> HTTPCaller | None:
        """Return the first caller whose next request may run now. If there is none, set a timer for the earliest budget."""
        waits = []
        for caller in self._waiting:
            if self._running[caller] < self._threads_per_caller * (2 if caller.is_unidentified else 1):
                if not (wait := self._budget.seconds_to_wait(caller.key)):
                    return caller
                waits.append(wait)
        if waits:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(min(waits), self._start_next_requests)
        return None
