"""Extend the leases of runs, put runs in the queue again, and reclaim the runs of processes that died.

Leases are compared with PostgreSQL's clock only. Every write of a running run has its attempt and its owner as a condition,
and raises `LeaseLost` when they have changed (RUN3).
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from uuid import UUID

from django.conf import settings
from django.db import Error, transaction
from django.db.models import DateTimeField, Exists, F, Func, OuterRef
from django.db.models.functions import Now
from django.db.models.lookups import GreaterThan

from common.clock import now
from common.database import is_database_unavailable
from common.sql_constant import SqlConstant
from llm.protocol import LLMError
from llm.sent_requests import RequestRecorder
from runs.errors import LeaseLost
from runs.kinds import get_kind
from runs.kinds.base import build_run_update, get_lease_end
from runs.models import NOT_ENDED, Run, RunState
from runs.runtime.dispatch import dispatch_next_run
from runs.runtime.ledger import record_llm_call
from runs.runtime.steps import LoopEnded
from usage import services as usage
from usage.models import Reservation
from usage.owners import ResolvedModel

logger = logging.getLogger(__name__)

MAX_CRASHES = 3
UNSTORED = "It could not be stored."


@transaction.atomic
def extend_leases(owner: str, run_ids: Sequence[UUID]) -> dict[UUID, Run]:
    """Extend the leases of these runs. Return those that this owner still has, with `attempt` and `stop_requested_at`.

    A run that is not in `run_ids` loses its lease in time, and another worker reclaims it. A row that another transaction has
    locked is returned, but not extended here: that transaction does it.
    """
    mine = Run.objects.filter(pk__in=run_ids, lease_owner=owner, state=RunState.RUNNING)
    unlocked = mine.order_by("pk").select_for_update(skip_locked=True, no_key=True)
    Run.objects.filter(pk__in=list(unlocked.values_list("pk", flat=True))).update(lease_until=get_lease_end())
    return mine.only("attempt", "stop_requested_at").in_bulk()


@dataclass(frozen=True)
class UnfinishedRequest:
    """A request to a model whose answer is not stored. `error` has its usage, and `recorder`, that of its run, its content."""

    model: ResolvedModel
    error: LLMError
    recorder: RequestRecorder | None


@transaction.atomic
def requeue_run(run: Run, request: UnfinishedRequest | None = None) -> None:
    """Put a run of this process in the queue again and dispatch it, or end it if a stop was requested; no crash is counted
    (RUN6). `request`: the one under way, which gets an entry in the ledger. Raises `LeaseLost`."""
    dispatch_next_run(run.concurrency_key)
    _requeue_or_end(run, request=request)


@transaction.atomic
def fail_run(run: Run, code: str, text: str) -> None:
    """End a claimed run that cannot be executed. Raises `LeaseLost`."""
    kind = get_kind(run)
    kind.lock(run)
    update = build_run_update(run, state=RunState.RUNNING, attempt=run.attempt, lease_owner=run.lease_owner)
    kind.close(update, LoopEnded("failed", code, text), claimed=None)


def fail_unstorable_run(run_id: UUID, **conditions: object) -> None:
    """Fail a queued or running run that cannot be started or stored, with a message in its chat if that can be stored. Raises
    `LeaseLost` unless its row matches the conditions."""
    run = Run.objects.select_related("agent").get(pk=run_id)
    if run.state not in (RunState.QUEUED, RunState.RUNNING):
        raise LeaseLost(f"Run {run_id} is over.")
    conditions = {"state": run.state, "attempt": run.attempt} | conditions
    try:
        with transaction.atomic():
            kind = get_kind(run)
            kind.lock(run)
            end = LoopEnded("failed", "internal", UNSTORED)
            kind.close(build_run_update(run, **conditions), end, claimed=None)
    except Error as error:
        if is_database_unavailable(error):
            raise
        logger.exception("Run %s fails without a message in its chat.", run_id)
        final = {"state": RunState.FAILED, "ended_at": now(), "error_code": "internal", "error": UNSTORED}
        Run.objects.filter(pk=run_id, **conditions).update(**final, lease_owner="", lease_until=None)


class LeaseOwnerState(Enum):
    """What this host can find out about the process that has a lease."""

    ALIVE = "alive"
    """It was slow, or could not reach the database: no crash is counted."""
    DEAD = "dead"
    PRESUMED_DEAD = "presumed dead"
    """It runs on another host and did not extend its lease. If it lives, it calls `subtract_presumed_crashes`."""


def reclaim_run(expired_run: Run, owner_state: LeaseOwnerState) -> bool:
    """Put a run back into the queue, because its owner is dead or late. End it if a stop was requested, or after `MAX_CRASHES`
    crashes of dead owners. Return false when another worker was faster."""
    try:
        with transaction.atomic():
            _requeue_or_end(expired_run, owner_state)
    except LeaseLost:
        return False
    return True


def subtract_presumed_crashes(owner: str) -> int:
    """Subtract the crashes that were counted because this process, which is alive, was presumed dead. Return how many."""
    counted = Run.objects.filter(presumed_dead=owner, state__in=NOT_ENDED, crashes__gt=0)
    return counted.update(crashes=F("crashes") - 1, presumed_dead="")


def _requeue_or_end(
    old_run: Run,
    owner_state: LeaseOwnerState = LeaseOwnerState.ALIVE,
    *,
    request: UnfinishedRequest | None = None,
) -> None:
    """Put a run back into the queue, or end it if a stop was requested or after `MAX_CRASHES` crashes. An owner that is `ALIVE`
    counts as no crash. `request`: the one under way, for the ledger. Raises `LeaseLost`."""
    run = Run.objects.select_related("agent").get(pk=old_run.pk)
    kind = get_kind(run)
    kind.lock(run)
    run.refresh_from_db()
    update = build_run_update(run, state=RunState.RUNNING, attempt=old_run.attempt, lease_owner=old_run.lease_owner)
    if request is not None:
        record_llm_call(update, request.model, request.error, request.recorder)
    update.set(dispatched_at=None)
    if owner_state != LeaseOwnerState.ALIVE:
        is_presumed = owner_state == LeaseOwnerState.PRESUMED_DEAD
        update.set(crashes=run.crashes + 1, presumed_dead=run.lease_owner if is_presumed else "")
    if run.stop_requested_at is not None:
        kind.close(update, LoopEnded("stopped"), claimed=None)
    elif run.crashes >= MAX_CRASHES:
        text = f"The worker died {run.crashes} times while it executed this run."
        kind.close(update, LoopEnded("failed", "crash_loop", text), claimed=None)
    else:
        kind.save(update.set(state=RunState.QUEUED, lease_owner="", lease_until=None))


def list_expired_runs() -> list[Run]:
    """Return the runs whose lease has expired; none during the first `RUN_LEASE` seconds after a start of PostgreSQL, in which
    their owners can extend their leases (RUN7)."""
    expired = Run.objects.filter(state=SqlConstant(RunState.RUNNING), lease_until__lt=Now())
    started_at = Func(function="pg_postmaster_start_time", output_field=DateTimeField())
    return list(expired.filter(GreaterThan(Now() - timedelta(seconds=settings.RUN_LEASE), started_at))[:100])


def list_orphaned_runs(owner: str, executing: Collection[UUID]) -> list[Run]:
    """Return the runs that this process owns and does not execute, because they could not be started or stored. A run that was
    claimed less than half a lease ago is left out: it may be starting."""
    half = Now() + timedelta(seconds=settings.RUN_LEASE / 2)
    ours = Run.objects.filter(state=SqlConstant(RunState.RUNNING), lease_owner=owner, lease_until__lt=half)
    return list(ours.exclude(pk__in=executing)[:1000])


def list_runs_of_host(host: str) -> list[Run]:
    """Return the runs that processes of this host own."""
    running = Run.objects.filter(state=SqlConstant(RunState.RUNNING))
    return list(running.filter(lease_owner__startswith=f"{host}:")[:1000])


def release_dead_reservations() -> None:
    """Release what was reserved for requests to models in attempts that are over, and what has expired."""
    alive = Run.objects.filter(pk=OuterRef("holder_id"), attempt=OuterRef("attempt"), state=RunState.RUNNING)
    dead = Reservation.objects.filter(~Exists(alive), attempt__gt=0).values_list("pk", flat=True)  # 0: of no run
    usage.release_reservations([*dead, *usage.list_expired_reservations()])
