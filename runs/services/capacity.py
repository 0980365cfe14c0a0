"""How many runs this process executes at once, and how they are shared between workspaces and people (FAIR1)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

from runs.models import Run


class WaitingRun(NamedTuple):
    """A run that could start. `turn` counts from 1, among the runs of the same person in the same workspace."""

    id: UUID
    workspace_id: UUID
    person_id: UUID | None
    turn: int


Share = tuple[UUID, UUID | None]
"""Who uses a slot: the workspace that the run belongs to, and the person it works for."""


class Capacity:
    """The slots of one process. All methods may be called from any thread.

    A workspace gets a slot while it has fewer than `RUNS_PER_WORKSPACE`, a person while they have fewer than
    `RUNS_PER_PERSON`, and both only while they have fewer than are free. So one workspace never takes more than half of
    the slots, two never more than a third each, and a workspace without a run finds a free one.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._slots: dict[UUID, Share] = {}
        self._running: Counter[UUID | None] = Counter()
        self._has_refused = False

    @property
    def free(self) -> int:
        """How many more runs this process may execute."""
        total: int = settings.RUNS_PER_WORKER
        return max(0, total - len(self._slots))

    def reserve(self, run: Run) -> bool:
        """Take a slot for this run. Return false when there is none for its workspace or its person, or when it has one, because
        another task of this process is claiming it."""
        share = (run.workspace_id, run.on_behalf_of_id)
        with self._lock:
            if run.pk in self._slots or not _fits(share, self._running, self.free):
                self._has_refused = True
                return False
            self._slots[run.pk] = share
            self._running.update(share)
            return True

    def release(self, run_id: UUID) -> None:
        """Free the slot of this run, if it has one."""
        with self._lock:
            if share := self._slots.pop(run_id, None):
                self._running.subtract(share)

    def refuse(self) -> None:
        """Remember that a run was not even tried, so that the next free slot is offered."""
        self._has_refused = True

    def reset_refused(self) -> bool:
        """Return whether a run was refused since the last call."""
        refused, self._has_refused = self._has_refused, False
        return refused

    def list_full(self) -> list[UUID]:
        """Return the ids of the workspaces and people that get no further slot now."""
        with self._lock:
            running, free = Counter(self._running), self.free
            shares = set(self._slots.values())
        limits = {workspace_id: _limit(settings.RUNS_PER_WORKSPACE, free) for workspace_id, _ in shares}
        limits |= {person_id: _limit(settings.RUNS_PER_PERSON, free) for _, person_id in shares if person_id}
        return [id for id, limit in limits.items() if running[id] >= limit]

    def choose(self, waiting: Iterable[WaitingRun]) -> list[UUID]:
        """Return the runs that may start now. Workspaces take turns, those with the fewest runs first; so do their people."""
        with self._lock:
            running, free = Counter(self._running), self.free
        chosen: list[UUID] = []
        for run in _in_turns(waiting, running):
            share = (run.workspace_id, run.person_id)
            if _fits(share, running, free):
                running.update(share)
                free -= 1
                chosen.append(run.id)
        return chosen


def _limit(most: int, free: int) -> int:
    return min(most, max(free, 1))


def _fits(share: Share, running: Counter[UUID | None], free: int) -> bool:
    workspace_id, person_id = share
    if not free or running[workspace_id] >= _limit(settings.RUNS_PER_WORKSPACE, free):
        return False
    return person_id is None or running[person_id] < _limit(settings.RUNS_PER_PERSON, free)


def _in_turns(waiting: Iterable[WaitingRun], running: Counter[UUID | None]) -> Sequence[WaitingRun]:
    by_workspace: dict[UUID, list[WaitingRun]] = defaultdict(list)
    for run in waiting:
        by_workspace[run.workspace_id].append(run)
    turns: list[tuple[int, UUID, WaitingRun]] = []
    for workspace_id, runs in by_workspace.items():
        runs.sort(key=lambda run: (running[run.person_id] + run.turn, run.id))
        turns += [(running[workspace_id] + number, run.id, run) for number, run in enumerate(runs)]
    return [run for _, _, run in sorted(turns, key=lambda turn: turn[:2])]
