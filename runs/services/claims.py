"""Claim queued runs, and list those that wait for a worker."""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.db import Error, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce, Now

from chats import services as chats
from chats.models import Chat
from common.database import get_violated_constraint, is_database_unavailable
from runs.errors import LeaseLost, RunNotAllowed, RunStartFailed
from runs.kinds import get_kind
from runs.kinds.task import TaskRun
from runs.models import ISOLATE_AFTER, Run, RunState
from runs.prepared_queries import (
    NEXT_OF_KEY,
    NEXT_OF_SAME_KEY,
    NEXT_OF_SAME_KEY_TO_CLAIM,
    QUEUED_SIBLINGS,
    list_claimable_runs,
)
from runs.runtime.claimed_run import ClaimedRun
from runs.selectors import list_in_turns
from runs.services.capacity import Capacity, WaitingRun

logger = logging.getLogger(__name__)

ISOLATION_START_SECONDS = 20.0
"""Seconds within which an isolated process must claim the run that was reserved for it."""
SWEEP_LOCK = 0x41_54_45_4C
"""The advisory lock of the sweeper that picks runs: only one does so at a time, among all workers."""


def claim_run(run_id: UUID, owner: str, *, isolated: bool = False, slots: Capacity | None = None) -> ClaimedRun | None:
    """Claim the oldest queued run of this run's concurrency key, so that the runs of a key keep their order (RUN17).

    Return null if the key has no queued run or has an active one, if another worker was faster, or if there is no slot. An
    `isolated` process claims isolated runs only (ADR 0009). The caller releases the run's slot. Raises `RunStartFailed`.
    """
    return _claim(partial(NEXT_OF_SAME_KEY.first, run_id), owner, isolated, slots)


def claim_next_run(key: str, owner: str, *, isolated: bool = False, slots: Capacity | None = None) -> ClaimedRun | None:
    """Claim the oldest queued run of a concurrency key, as `claim_run` does."""
    return _claim(partial(NEXT_OF_KEY.first, key), owner, isolated, slots)


def claim_posted_run(
    run_id: UUID, owner: str, *, chat_id: UUID, isolated: bool = False, slots: Capacity | None = None
) -> ClaimedRun | None:
    """Claim the oldest queued run of this run's concurrency key, as `claim_run` does. The transaction that inserts this run may not
    have been committed yet: it has locked the chat, so the run is read when that lock is free.

    Return null also if that transaction was rolled back, or has not inserted the run.
    """
    run: Run | None = None

    def claim() -> ClaimedRun | None:
        nonlocal run
        chats.lock_chat(chat_id)
        run = NEXT_OF_SAME_KEY_TO_CLAIM.first(run_id)
        if run is None:
            raise LeaseLost(f"Run {run_id} cannot be claimed.")
        if run.chat_id != chat_id or not get_kind(run).is_dispatched_before_commit:
            return None  # it is in another chat, which must not be locked after the first one, or does a task
        if not _may_start(run, isolated, slots, undo):
            raise LeaseLost(f"Run {run.pk} cannot be started by this process.")
        return get_kind(run).claim_in_locked_chat(run, owner)

    with ExitStack() as undo:
        try:
            claimed = _run_claim(claim, lambda: run.pk if run else run_id)
        except (LeaseLost, Chat.DoesNotExist):
            return None
        if claimed is not None:
            undo.pop_all()
            return claimed
    return claim_run(run_id, owner, isolated=isolated, slots=slots)


def _claim(
    find_next: Callable[[], Run | None], owner: str, isolated: bool, slots: Capacity | None
) -> ClaimedRun | None:
    # `claim` may end the run instead of starting it (e.g. it was stopped), and then returns null: the next of the key is tried.
    while run := find_next():
        with ExitStack() as undo:
            if not _may_start(run, isolated, slots, undo):
                return None
            try:
                claimed = _run_claim(partial(get_kind(run).claim, run, owner), partial(getattr, run, "pk"))
            except LeaseLost:
                return None
            if claimed is not None:
                undo.pop_all()
                return claimed
    return None


def _run_claim(claim: Callable[[], ClaimedRun | None], get_run_id: Callable[[], UUID]) -> ClaimedRun | None:
    """Call `claim` in a transaction. Raises `LeaseLost` if another worker was faster, `RunStartFailed`, and the error of a database
    that is unavailable."""
    try:
        with transaction.atomic():
            return claim()
    except Error as error:
        if get_violated_constraint(error) == "one_active_run_per_concurrency_key":
            raise LeaseLost("Another worker was faster.") from error
        if is_database_unavailable(error):
            raise
        raise RunStartFailed(get_run_id()) from error


def _may_start(run: Run, isolated: bool, slots: Capacity | None, undo: ExitStack) -> bool:
    """Return whether this process may start the run, and reserve its slot, which `undo` releases."""
    if run.is_isolated != isolated:
        return False
    if slots is None:
        return True
    if not slots.reserve_slot(run):
        return False
    undo.callback(slots.release_slot, run.pk)
    return True


def claim_siblings(run_ids: Sequence[UUID], owner: str, *, slots: Capacity) -> list[ClaimedRun]:
    """Claim new runs of tasks of one kind and group (`TaskRun.get_group`) in one transaction, and return those that were claimed.

    Those that get no slot are left out. If one cannot be started, none is: the caller then calls `claim_run` for each.
    """
    waiting = [run for run in QUEUED_SIBLINGS.all(run_ids) if slots.reserve_slot(run)]
    committed: list[ClaimedRun] = []
    try:
        with transaction.atomic():
            kind = get_kind(waiting[0]) if waiting else None
            started = kind.claim_siblings(waiting, owner) if isinstance(kind, TaskRun) else []
        committed = started  # After the commit: if that fails, the slots are released.
    except (LeaseLost, RunNotAllowed) as error:
        logger.info("Runs of tasks are claimed one by one: %s", error)
    finally:
        for run in waiting if not committed else ():
            slots.release_slot(run.pk)
    return committed


def list_waiting(limit: int, *, excluded: Sequence[UUID] = ()) -> list[WaitingRun]:
    """Return the runs that could start, in turns between people. `excluded`: ids of workspaces and people to leave out."""
    return [WaitingRun(*row) for row in list_in_turns(list_claimable_runs(), excluded)[:limit]]


@transaction.atomic
def pick_runs_to_dispatch_again(seconds: float, limit: int = 200, *, excluded: Sequence[UUID] = ()) -> list[UUID]:
    """Return runs in the order of `list_in_turns` that were sent to the workers more than `seconds` ago; set them to dispatched
    now."""
    if not try_lock_sweep():
        return []
    since = Coalesce(F("dispatched_at"), F("created_at"))
    waiting = list_claimable_runs().annotate(since=since).filter(since__lt=Now() - timedelta(seconds=seconds))
    ids = [row[0] for row in list_in_turns(waiting, excluded)[:limit]]
    dispatched = set(_dispatch_now(Run.objects.filter(pk__in=ids, state=RunState.QUEUED)))
    return [id for id in ids if id in dispatched]


@transaction.atomic
def reserve_isolated_runs(limit: int) -> list[UUID]:
    """Return up to `limit` queued isolated runs, the oldest first. They are reserved (`dispatched_at`) for some seconds."""
    if not limit or not try_lock_sweep():
        return []
    is_unreserved = Q(dispatched_at=None) | Q(dispatched_at__lt=Now() - timedelta(seconds=ISOLATION_START_SECONDS))
    waiting = list_claimable_runs().filter(is_unreserved, crashes__gte=ISOLATE_AFTER).order_by("pk")
    return _dispatch_now(waiting, limit)


def _dispatch_now(runs: QuerySet[Run], limit: int | None = None) -> list[UUID]:
    """Set these runs to dispatched now and return their ids. Locked rows are left out: they are being claimed."""
    locked = runs.select_for_update(of=("self",), skip_locked=True, no_key=True)
    ids = list(locked.values_list("pk", flat=True)[:limit])
    Run.objects.filter(pk__in=ids).update(dispatched_at=Now())
    return ids


def try_lock_sweep() -> bool:
    """Take the lock of the sweeper until the end of the transaction. Return false when another process has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [SWEEP_LOCK])
        return bool(cursor.fetchone()[0])
