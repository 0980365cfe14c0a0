"""Who works on a run: keeping it, giving it back, and taking it from those who died.

PostgreSQL's clock alone says when a lease is over. Every write of a run that is at work names its attempt and its
owner; who finds the row changed has lost it (RUN3). What changes a run in a chat takes the chat first, as everything does.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import DateTimeField, F, Func
from django.db.models.functions import Now
from django.db.models.lookups import GreaterThan

from common.clock import now
from common.database import is_database_away
from runs.errors import LeaseLost
from runs.kinds import kind_of
from runs.kinds.transitions import build_run_update, get_lease_end
from runs.models import ACTIVE, Run, RunState
from runs.services.dispatch import dispatch_next_run

logger = logging.getLogger(__name__)

MAX_CRASHES = 3
UNSTORED = "It could not be stored."


# --- keeping and giving back ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lease:
    """A run that is ours: its attempt, and whether it is to stop."""

    attempt: int
    stop: bool


def extend_leases(owner: str, run_ids: Sequence[UUID]) -> dict[UUID, Lease]:
    """Keep these runs; says which of them are still ours, and which are to stop.

    Only what the caller names is kept: a run that it has dropped runs out, and others take it over. A row that is being
    written at this moment is skipped: its writer extends it.
    """
    with transaction.atomic():
        mine = Run.objects.filter(pk__in=run_ids, lease_owner=owner, state=RunState.RUNNING)
        free = list(mine.order_by("pk").select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True))
        Run.objects.filter(pk__in=free).update(lease_until=get_lease_end())
        rows = mine.values_list("pk", "attempt", "stop_requested_at")
        return {pk: Lease(attempt, stop is not None) for pk, attempt, stop in rows}


def requeue_run(run: Run) -> None:
    """The process ends in order: the run waits again at once, others are told, and this is no crash (RUN6).

    Raises `LeaseLost`.
    """
    with transaction.atomic():
        dispatch_next_run(run.concurrency_key)
        _requeue(run.pk, {"attempt": run.attempt, "lease_owner": run.lease_owner})


def fail_run(run: Run, code: str, text: str) -> None:
    """A run that was claimed and cannot be worked on ends visibly. Raises `LeaseLost`."""
    with transaction.atomic():
        kind = kind_of(run)
        kind.lock(run)
        update = build_run_update(run, state=RunState.RUNNING, attempt=run.attempt, lease_owner=run.lease_owner)
        kind.close(update, RunState.FAILED, code=code, text=text)


def fail_unstorable_run(run_id: UUID, **conditions: object) -> None:
    """End a run that can be neither started nor stored, if it waits or is at work and these `conditions` hold: with a line in its
    chat or, when that cannot be stored either, by its row alone. Raises `LeaseLost`."""
    run = Run.objects.select_related("agent").get(pk=run_id)
    if run.state not in (RunState.QUEUED, RunState.RUNNING):
        raise LeaseLost(f"Run {run_id} is over.")
    conditions = {"state": run.state, "attempt": run.attempt} | conditions
    try:
        with transaction.atomic():
            kind = kind_of(run)
            kind.lock(run)
            kind.close(build_run_update(run, **conditions), RunState.FAILED, code="internal", text=UNSTORED)
    except DatabaseError as error:
        if is_database_away(error):
            raise
        logger.exception("Run %s ends by its row alone.", run_id)
        Run.objects.filter(pk=run_id, **conditions).update(
            state=RunState.FAILED,
            ended_at=now(),
            lease_owner="",
            lease_until=None,
            error_code="internal",
            error=UNSTORED,
        )


# --- taking from the dead -------------------------------------------------------------------------------------


class Owner(Enum):
    """What is known of the process that had a run."""

    ALIVE = "alive"
    """It was slow, or had no database: its runs did not cause that."""
    DEAD = "dead"
    PRESUMED_DEAD = "presumed dead"
    """It has not renewed its lease, and this host cannot see it. If it lives, it takes the crashes back (`withdraw_crashes`)."""


def reclaim_run(stale: Run, was: Owner) -> bool:
    """Let the run wait again; it fails when its owner is the third that died. False when others were faster."""
    try:
        with transaction.atomic():
            _requeue(stale.pk, {"attempt": stale.attempt, "lease_owner": stale.lease_owner}, was)
    except LeaseLost:
        return False
    return True


def withdraw_crashes(owner: str) -> int:
    """Take back the crashes that were counted because this process was presumed dead. Return how many."""
    blamed = Run.objects.filter(presumed_dead=owner, state__in=ACTIVE, crashes__gt=0)
    return blamed.update(crashes=F("crashes") - 1, presumed_dead="")


def _requeue(run_id: UUID, conditions: dict[str, object], was: Owner = Owner.ALIVE) -> None:
    run = Run.objects.select_related("agent").get(pk=run_id)
    kind = kind_of(run)
    kind.lock(run)
    run.refresh_from_db()
    update = build_run_update(run, state=RunState.RUNNING, **conditions).set(dispatched_at=None)
    if was != Owner.ALIVE:
        update.set(crashes=run.crashes + 1, presumed_dead=run.lease_owner if was == Owner.PRESUMED_DEAD else "")
    if run.stop_requested_at is not None:
        kind.close(update, RunState.STOPPED, by=run.stopped_by)
    elif run.crashes >= MAX_CRASHES:
        text = f"The worker died {run.crashes} times while it was at this."
        kind.close(update, RunState.FAILED, code="crash_loop", text=text)
    else:
        kind.save(update.set(state=RunState.QUEUED, lease_owner="", lease_until=None))


class PostgresStart(Func):
    """When this PostgreSQL was started."""

    function = "pg_postmaster_start_time"
    template = "%(function)s()"
    output_field = DateTimeField()


def list_expired_runs() -> list[Run]:
    """The runs whose lease is over. After a start of PostgreSQL their owners first get the time of one lease to say that
    they live: that it was away is not their death (RUN7)."""
    over = Run.objects.filter(state=RunState.RUNNING, lease_until__lt=Now())
    return list(over.filter(GreaterThan(Now() - timedelta(seconds=settings.RUN_LEASE), PostgresStart()))[:100])


def list_orphaned_runs(owner: str, executing: Collection[UUID]) -> list[Run]:
    """The runs that are ours by their row, and that nobody here carries, because one could not be begun or stored. Half its
    lease has passed, so that it is not one that is just being begun."""
    half = Now() + timedelta(seconds=settings.RUN_LEASE / 2)
    ours = Run.objects.filter(state=RunState.RUNNING, lease_owner=owner, lease_until__lt=half).exclude(pk__in=executing)
    return list(ours[:1000])


def list_runs_of_host(host: str) -> list[Run]:
    """The runs that processes of this host hold."""
    return list(Run.objects.filter(state=RunState.RUNNING, lease_owner__startswith=f"{host}:")[:1000])
