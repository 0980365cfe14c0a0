"""Share the slots of this process, one for each run that it executes, between workspaces and people (FAIR1)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

from runs.models import Run


class WaitingRun(NamedTuple):
    """A run that could start. `turn`: its number, from 1, among the runs of the same person in the same workspace."""

    id: UUID
    workspace_id: UUID
    person_id: UUID | None
    turn: int


SlotOwner = tuple[UUID, UUID | None]
"""The workspace of the run that uses a slot, and the person it works for."""


class Capacity:
    """The slots of one process. All methods may be called from any thread.

    A workspace may use up to `RUNS_PER_WORKSPACE` slots and a person up to `RUNS_PER_PERSON`, and each gets another slot only
    while the number of free slots exceeds the number that it uses. So one workspace gets at most half of the slots, two that
    start together a third each, and only a workspace without a run gets the last free slot.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._slots: dict[UUID, SlotOwner] = {}
        self._running: Counter[UUID | None] = Counter()  # by the ids of workspaces and of people
        self.has_runs_without_slot = False
        """Whether a run got no slot since waiting runs were last claimed."""

    @property
    def free_slots(self) -> int:
        """How many more runs this process may execute."""
        total: int = settings.RUNS_PER_WORKER
        return max(0, total - len(self._slots))

    def reserve_slot(self, run: Run) -> bool:
        """Reserve a slot for this run. Return false when its workspace or its person may not use another, or when another task of
        this process is claiming the run."""
        slot_owner = (run.workspace_id, run.on_behalf_of_id)
        with self._lock:
            if run.pk in self._slots or not _has_slot(slot_owner, self._running, self.free_slots):
                self.has_runs_without_slot = True
                return False
            self._slots[run.pk] = slot_owner
            self._running.update(slot_owner)
            return True

    def release_slot(self, run_id: UUID) -> None:
        """Free the slot of this run, if it has one."""
        with self._lock:
            if slot_owner := self._slots.pop(run_id, None):
                self._running.subtract(slot_owner)

    def list_full_ids(self) -> list[UUID]:
        """Return the ids of the workspaces and people that get no further slot now."""
        with self._lock:
            running, free = Counter(self._running), self.free_slots
            slot_owners = set(self._slots.values())
        limits = {workspace_id: _get_limit(settings.RUNS_PER_WORKSPACE, free) for workspace_id, _ in slot_owners}
        limits |= {person_id: _get_limit(settings.RUNS_PER_PERSON, free) for _, person_id in slot_owners if person_id}
        return [id for id, limit in limits.items() if running[id] >= limit]

    def choose_runs(self, waiting: Iterable[WaitingRun]) -> list[UUID]:
        """Return the waiting runs that may start now. Workspaces with fewer runs go first; in each, people with fewer runs."""
        with self._lock:
            running, free = Counter(self._running), self.free_slots
        chosen: list[UUID] = []
        for run in _sort_by_turns(waiting, running):
            slot_owner = (run.workspace_id, run.person_id)
            if _has_slot(slot_owner, running, free):
                running.update(slot_owner)
                free -= 1
                chosen.append(run.id)
        return chosen


def _get_limit(most: int, free: int) -> int:
    return min(most, max(free, 1))


def _has_slot(slot_owner: SlotOwner, running: Counter[UUID | None], free: int) -> bool:
    workspace_id, person_id = slot_owner
    if not free or running[workspace_id] >= _get_limit(settings.RUNS_PER_WORKSPACE, free):
        return False
    return person_id is None or running[person_id] < _get_limit(settings.RUNS_PER_PERSON, free)


def _sort_by_turns(waiting: Iterable[WaitingRun], running: Counter[UUID | None]) -> Sequence[WaitingRun]:
    """Sort by how many runs of the workspace run already or wait before this one; in a workspace, by those of the person."""
    by_workspace: dict[UUID, list[WaitingRun]] = defaultdict(list)
    for run in waiting:
        by_workspace[run.workspace_id].append(run)
    ranked: list[tuple[int, UUID, WaitingRun]] = []
    for workspace_id, runs in by_workspace.items():
        runs.sort(key=lambda run: (running[run.person_id] + run.turn, run.id))
        ranked += [(running[workspace_id] + number, run.id, run) for number, run in enumerate(runs)]
    return [run for _, _, run in sorted(ranked, key=lambda entry: entry[:2])]
