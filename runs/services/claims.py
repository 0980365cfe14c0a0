"""Beginning a run: whose turn it is in its concurrency_key, with which text it answers, and what it has read by then."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import Coalesce, Now, RowNumber

from common.database import is_database_away
from common.prepared_query import PreparedQuery
from runs.errors import LeaseLost, RunNotStartable
from runs.kinds import kind_of
from runs.models import ISOLATE_AFTER, Run, RunState

AT_WORK = (RunState.RUNNING, RunState.WAITING_CHILD)
ISOLATION_PATIENCE = 20.0
"""Seconds after which a process that was to take a run, and has not, is not waited for any longer."""
SWEEPER = 0x41_54_45_4C
"""The advisory lock of whoever sweeps: one at a time, in all of the installation."""


class Slots(Protocol):
    """What limits how many runs a process claims, and for whom."""

    def reserve(self, run: Run) -> bool:
        """Take a slot for a run that waits; false when it gets none now."""
        ...

    def release(self, run_id: UUID) -> None:
        """Free the slot of this run."""
        ...


class WaitingRun(NamedTuple):
    """A run that could begin. `turn` counts from 1, among those that wait for the same person in the same workspace."""

    id: UUID
    workspace_id: UUID
    person_id: UUID | None
    turn: int


def list_claimable_runs() -> QuerySet[Run]:
    """The runs that wait, may begin, and have a free concurrency key."""
    busy = Run.objects.filter(concurrency_key=OuterRef("concurrency_key"), state__in=AT_WORK)
    may_begin = Q(next_wake_at=None) | Q(next_wake_at__lte=Now())
    return Run.objects.filter(~Exists(busy), may_begin, state=RunState.QUEUED)


def _first_of(concurrency_key: QuerySet[Run, Any]) -> QuerySet[Run]:
    """What is asked before the chat is held: who works for whom never changes."""
    who = ("workspace_id", "agent__kind", "on_behalf_of__kind")
    return (
        concurrency_key.only("chat_id", "attempt", "crashes", "stamp", *who)
        .select_related("agent", "on_behalf_of")
        .order_by("pk")[:1]
    )


def _list_of_same_key(run_id: UUID) -> QuerySet[Run, Any]:
    return list_claimable_runs().filter(
        concurrency_key=Subquery(Run.objects.filter(pk=run_id, state=RunState.QUEUED).values("concurrency_key")[:1])
    )


_NEXT = PreparedQuery(
    lambda concurrency_key: _first_of(list_claimable_runs().filter(concurrency_key=concurrency_key)), str
)
_NEXT_BESIDE = PreparedQuery(lambda run_id: _first_of(_list_of_same_key(run_id)), UUID)


def claim_run(run_id: UUID, owner: str, *, isolated: bool = False, slots: Slots | None = None) -> Run | None:
    """Make a waiting run ours: the oldest of this run's concurrency key, so that a concurrency key keeps its order (RUN17).

    Nothing when none waits there, one is at work, or another worker was faster; when there is no slot for it; and when it
    is not for us: a suspect is for a process that is set `apart`, any other is not (ADR 0009). Opens its own transactions.
    A run that is returned keeps its slot, until the caller releases it. Raises `RunNotStartable`.
    """
    return _claim(partial(_NEXT_BESIDE.first, run_id), owner, isolated, slots)


def claim_next_run(
    concurrency_key: str, owner: str, *, isolated: bool = False, slots: Slots | None = None
) -> Run | None:
    """Make the next run of a concurrency key ours, as `claim` does."""
    return _claim(partial(_NEXT.first, concurrency_key), owner, isolated, slots)


def _claim(next_one: Callable[[], Run | None], owner: str, isolated: bool, slots: Slots | None) -> Run | None:
    """Those that need no work any more are ended on the way."""
    while waiting := next_one():
        if waiting.is_poison != isolated:
            return None
        if slots is not None and not slots.reserve(waiting):
            return None
        run = None
        try:
            with transaction.atomic():
                claimed = kind_of(waiting).claim(waiting, owner)
            run = claimed  # only once it is committed: a commit that fails must free the slot
        except LeaseLost:
            return None
        except DatabaseError as error:
            if _was_claimed_elsewhere(error):
                return None
            if is_database_away(error):
                raise
            raise RunNotStartable(waiting.pk) from error
        finally:
            if run is None and slots is not None:
                slots.release(waiting.pk)
        if run is not None:
            return run
    return None


def _was_claimed_elsewhere(error: DatabaseError) -> bool:
    """Whether another worker was faster."""
    cause: Any = error.__cause__
    return isinstance(error, IntegrityError) and cause.diag.constraint_name == "one_active_run_per_concurrency_key"


def list_waiting(limit: int, *, full: Sequence[UUID] = ()) -> list[WaitingRun]:
    """Return the runs that could start: first the oldest of each person, then the second of each. `full`: the workspaces and
    people whose runs are left out."""
    return [WaitingRun(*row) for row in _in_turns(list_claimable_runs(), full)[:limit]]


def _in_turns(waiting: QuerySet[Run], full: Sequence[UUID]) -> QuerySet[Run, tuple[UUID, UUID, UUID | None, int]]:
    waiting = waiting.filter(crashes__lt=ISOLATE_AFTER).exclude(workspace_id__in=full).exclude(on_behalf_of_id__in=full)
    turn = Window(RowNumber(), partition_by=[F("workspace_id"), F("on_behalf_of_id")], order_by="pk")
    rows = waiting.annotate(turn=turn).order_by("turn", "pk")
    return rows.values_list("pk", "workspace_id", "on_behalf_of_id", "turn")


def pick_undispatched_runs(seconds: float, limit: int = 200, *, full: Sequence[UUID] = ()) -> list[UUID]:
    """The runs that could begin and have waited for longer than this since the last hint, in turns; they count as hinted
    now. `full`: as for `list_waiting`."""
    with transaction.atomic():
        if not try_lock_sweep():
            return []
        since = Coalesce(F("dispatched_at"), F("created_at"))
        waiting = list_claimable_runs().annotate(since=since).filter(since__lt=Now() - timedelta(seconds=seconds))
        ids = [row[0] for row in _in_turns(waiting, full)[:limit]]
        # A row that is locked at this moment is being claimed.
        free = Run.objects.filter(pk__in=ids, state=RunState.QUEUED)
        locked = set(free.select_for_update(of=("self",), skip_locked=True, no_key=True).values_list("pk", flat=True))
        Run.objects.filter(pk__in=locked).update(dispatched_at=Now())
        return [id for id in ids if id in locked]


def try_lock_sweep() -> bool:
    """Whether this transaction is the one that sweeps now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [SWEEPER])
        return bool(cursor.fetchone()[0])


@transaction.atomic
def reserve_poison_runs(limit: int) -> list[UUID]:
    """As many of them as that, the oldest first; nobody else is given them for a while."""
    if not limit or not try_lock_sweep():
        return []
    free = Q(dispatched_at=None) | Q(dispatched_at__lt=Now() - timedelta(seconds=ISOLATION_PATIENCE))
    waiting = list_claimable_runs().filter(free, crashes__gte=ISOLATE_AFTER).order_by("pk")
    ids = list(
        waiting.select_for_update(of=("self",), skip_locked=True, no_key=True).values_list("pk", flat=True)[:limit]
    )
    Run.objects.filter(pk__in=ids).update(dispatched_at=Now())
    return ids
