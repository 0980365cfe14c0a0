"""Decide which request gets a thread of the web process next, so that no caller and no workspace occupies all threads."""

import asyncio
import time
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from common.bounded import BoundedMap
from common.errors import LimitReached
from common.fair_queue import FairQueue, Path

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
    """The originator of a request. Requests with the same `key` share the threads and the budget of a person.

    `is_unidentified`: the key is not that of a person, but for example an IP address, which many people may have. Such
    a caller gets twice the threads, and no budget limits it.

    `workspace` is shared by the people of a workspace. `group` is shared by workspaces which may have been made to get more
    threads; otherwise it is the workspace. Without them a caller is a workspace of their own.
    """

    key: Hashable
    is_unidentified: bool = False
    workspace: Hashable = field(default=None, compare=False)
    group: Hashable = field(default=None, compare=False)

    @property
    def path(self) -> "CallerPath":
        """The group, the workspace and the caller."""
        workspace = self if self.workspace is None else self.workspace
        return (workspace if self.group is None else self.group, workspace, self)


CallerPath = tuple[Hashable, Hashable, HTTPCaller]


class RequestQueue(FairQueue):
    """Lets requests be executed in `threads` threads: first groups, then workspaces, then callers take turns.

    A caller gets a quarter of the threads at most, a workspace half, a group three quarters. A caller over the `budget` waits. A
    workspace over the `workspace_budget` gets no more threads than a caller, and a group over it one more: so a workspace that
    keeps the process busy does not slow the others down, and is not stopped itself.
    """

    def __init__(
        self, threads: int, *, budget: CpuBudget, workspace_budget: CpuBudget, max_waiting_of_group: int
    ) -> None:
        self._of_caller = max(1, threads // 4)
        super().__init__(threads, [max(1, threads * 3 // 4), max(1, threads // 2), 2 * self._of_caller])
        self._budget = budget
        self._workspace_budget = workspace_budget
        self._max_waiting_of_group = max_waiting_of_group
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def wait_for_turn(self, caller: HTTPCaller) -> AsyncIterator[None]:
        """Wait for this caller's turn, and reserve a thread inside the block. Raises `LimitReached` when too many requests of the
        caller or of the group wait."""
        path = caller.path
        waiting_of_group, waiting = self.count_waiting((0, path[0])), self.count_waiting((2, caller))
        if waiting >= MAX_WAITING_REQUESTS or waiting_of_group >= self._max_waiting_of_group:
            raise LimitReached(
                "Too many requests at once.", hints=["Wait for answers first."], data={"limit": "waiting", "seconds": 1}
            )
        await self.acquire(path)
        try:
            yield
        finally:
            self.release(path)

    def charge(self, caller: HTTPCaller, seconds: float) -> None:
        """Count the CPU time of a request."""
        if not caller.is_unidentified:
            self._budget.charge(caller.key, seconds)
            for key in set(caller.path[:2]):
                self._workspace_budget.charge(key, seconds)

    def is_allowed(self, path: Path) -> bool:
        """Return whether the next request of this path may run now. If only its budget forbids it, try again later."""
        group, workspace, caller = path
        if not isinstance(caller, HTTPCaller):
            raise TypeError("The path of a request ends with its caller.")
        if not super().is_allowed(path):
            return False
        if not caller.is_unidentified and (
            self._used[2, caller] >= self._of_caller
            or self._is_over(group, self._used[0, group], self._of_caller + 1)
            or self._is_over(workspace, self._used[1, workspace], self._of_caller)
        ):
            return False
        if wait := self._budget.seconds_to_wait(caller.key):
            self._start_next_after(wait)
        return not wait

    def _is_over(self, key: Hashable, used: int, limit: int) -> bool:
        return used >= limit and self._workspace_budget.seconds_to_wait(key) > 0

    def _start_next_after(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        if self._timer is None or self._timer.when() > loop.time() + seconds or self._timer.when() <= loop.time():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_later(seconds, self._start_next)
