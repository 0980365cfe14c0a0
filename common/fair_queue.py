"""A queue for slots of a process: those who wait take turns, and nobody occupies all slots (FAIR1)."""

import asyncio
from collections import Counter, deque
from collections.abc import Hashable, Sequence
from contextlib import suppress
from itertools import count

Path = tuple[Hashable, ...]
"""Whom a slot is for, from the largest group to the person: for example (workspace, person)."""

Level = tuple[int, Hashable]
"""A group or a person: its position in the path, and its value there."""


class FairQueue:
    """Gives `slots` to those who wait. `limits`: the most slots of one group or person, for each level of the paths.

    On each level, from the first on, those with fewer slots go first, then those who joined or had a turn longer ago. A person
    counts once, also if they wait in several groups. All methods are called on one event loop.
    """

    def __init__(self, slots: int, limits: Sequence[int]) -> None:
        self.free_slots = slots
        self._limits = limits
        self._waiting: dict[Path, deque[asyncio.Future[None]]] = {}
        self._used: Counter[Level] = Counter()
        """How many slots each group and person has."""
        self._asked: Counter[Level] = Counter()
        """How many requests of each group and person have a slot or wait for one."""
        self._turns: dict[Level, int] = {}
        """When each group and person joined or had a turn, as a number that rises."""
        self._numbers = count()

    async def acquire(self, path: Path) -> None:
        """Wait for a slot. If the task is cancelled meanwhile, it gets none."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(path, deque()).append(turn)
        for level in enumerate(path):
            self._asked[level] += 1
            self._turns.setdefault(level, next(self._numbers))
        self._start_next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._remove(path, turn)
            else:  # its turn had come
                self.release(path)
            raise

    def release(self, path: Path) -> None:
        """Give back a slot."""
        self.free_slots += 1
        self._used.subtract(enumerate(path))
        self._forget(path)
        self._start_next()

    @property
    def is_idle(self) -> bool:
        """Whether nobody has a slot or waits for one."""
        return not (self._waiting or self._asked or self._used or self._turns)

    def count_waiting(self, level: Level) -> int:
        """Return how many requests of a group or a person wait."""
        return self._asked[level] - self._used[level]

    def is_allowed(self, path: Path) -> bool:
        """Return whether this group and this person may have another slot now."""
        return all(self._used[level] < limit for level, limit in zip(enumerate(path), self._limits, strict=True))

    def _start_next(self) -> None:
        while self.free_slots > 0:
            allowed = [path for path in self._waiting if self.is_allowed(path)]
            if not allowed:
                return
            path = min(allowed, key=self._get_rank)
            turn = self._waiting[path].popleft()
            if not self._waiting[path]:
                del self._waiting[path]
            if turn.cancelled():  # its task has not run since
                continue
            self.free_slots -= 1
            for level in enumerate(path):
                self._used[level] += 1
                self._turns[level] = next(self._numbers)
            turn.set_result(None)

    def _get_rank(self, path: Path) -> list[tuple[int, int]]:
        return [(self._used[level], self._turns[level]) for level in enumerate(path)]

    def _remove(self, path: Path, turn: asyncio.Future[None]) -> None:
        queue = self._waiting.get(path, deque())
        with suppress(ValueError):  # `_start_next` has removed it
            queue.remove(turn)
        if not queue:
            self._waiting.pop(path, None)
        self._forget(path)

    def _forget(self, path: Path) -> None:
        """Count one request less, and forget the groups and the person that have none left."""
        for level in enumerate(path):
            self._asked[level] -= 1
            if not self._asked[level]:
                del self._asked[level], self._used[level], self._turns[level]
