"""Who works on a run: keeping it, giving it back, and taking it from those who died (guarantees §2.3).

PostgreSQL's clock alone says when a lease is over. Every write of a run that is at work names its attempt and its
owner; who finds the row changed has lost it (B3). What changes a run in a chat takes the chat first, as everything does.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import BooleanField, DateTimeField, ExpressionWrapper, F, Func, Q
from django.db.models.expressions import Combinable
from django.db.models.functions import Now
from django.db.models.lookups import GreaterThan

from agents.errors import LeaseLost
from agents.models import Run, RunState
from agents.services.hints import hint_lane
from agents.services.places import place_of
from common.clock import now
from common.ids import new_id

MAX_CRASHES = 3


def lease_end() -> Combinable:
    """When a lease that begins now is over, by PostgreSQL's clock."""
    return _in(settings.RUN_LEASE)


@lru_cache(maxsize=8)
def _in(seconds: float) -> Combinable:
    return Now() + timedelta(seconds=seconds)


def taken(run: Run, owner: str) -> Run:
    """A run that is ours from now on, not yet written. Its time and its message's id are those of its first beginning."""
    return run.set(
        state=RunState.RUNNING, attempt=run.attempt + 1, lease_owner=owner, lease_until=lease_end(),
        started_at=run.started_at or now(), message_id=run.message_id or new_id(),
    )  # fmt: skip


# --- keeping and giving back ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """A run that is ours: its attempt, and whether it is to stop."""

    attempt: int
    stop: bool


def extend(owner: str, run_ids: Sequence[UUID]) -> dict[UUID, Held]:
    """Keep these runs; says which of them are still ours, and which are to stop.

    Only what the caller names is kept: a run that it has dropped runs out, and others take it over. A row that is being
    written at this moment is skipped: its writer extends it.
    """
    with transaction.atomic():
        mine = Run.objects.filter(pk__in=run_ids, lease_owner=owner, state=RunState.RUNNING)
        free = list(mine.order_by("pk").select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True))
        Run.objects.filter(pk__in=free).update(lease_until=lease_end())
        rows = mine.values_list("pk", "attempt", "stop_requested_at")
        return {pk: Held(attempt, stop is not None) for pk, attempt, stop in rows}


def give_back(run: Run) -> None:
    """The process ends in order: the run waits again at once, others are told, and this is no crash (B6).

    Raises `LeaseLost`.
    """
    with transaction.atomic():
        hint_lane(run.lane)
        _requeue(run.pk, {"attempt": run.attempt, "lease_owner": run.lease_owner})


def fail(run: Run, code: str, text: str) -> None:
    """A run that was claimed and cannot be worked on ends visibly. Raises `LeaseLost`."""
    with transaction.atomic():
        place = place_of(run)
        place.hold(run)
        run.only_if(state=RunState.RUNNING, attempt=run.attempt, lease_owner=run.lease_owner)
        place.end(run, RunState.FAILED, code=code, text=text)


# --- taking from the dead -------------------------------------------------------------------------------------


def take_over(stale: Run) -> bool:
    """The run's owner died: it waits again, or fails when that happened three times. False when others were faster."""
    try:
        with transaction.atomic():
            _requeue(stale.pk, {"attempt": stale.attempt, "lease_owner": stale.lease_owner}, crashed=True)
    except LeaseLost:
        return False
    return True


def _requeue(run_id: UUID, conditions: dict[str, object], *, crashed: bool = False) -> None:
    run = Run.objects.select_related("agent").get(pk=run_id)
    place = place_of(run)
    place.hold(run)
    run.refresh_from_db()
    run.only_if(state=RunState.RUNNING, **conditions)
    run.set(crashes=run.crashes + 1 if crashed else run.crashes, hinted_at=None)
    if run.stop_requested_at is not None:
        place.end(run, RunState.STOPPED, by=run.stopped_by)
    elif run.crashes >= MAX_CRASHES:
        text = f"The worker died {run.crashes} times while it was at this."
        place.end(run, RunState.FAILED, code="crash_loop", text=text)
    else:
        place.write(run.set(state=RunState.QUEUED, lease_owner="", lease_until=None))


class PostgresStart(Func):
    """When this PostgreSQL was started."""

    function = "pg_postmaster_start_time"
    template = "%(function)s()"
    output_field = DateTimeField()


def expired() -> list[Run]:
    """The runs whose lease is over. After a start of PostgreSQL their owners first get the time of one lease to say that
    they live: that it was away is not their death (B7)."""
    over = Run.objects.filter(state=RunState.RUNNING, lease_until__lt=Now())
    return list(over.filter(GreaterThan(Now() - timedelta(seconds=settings.RUN_LEASE), PostgresStart()))[:100])


def adrift(owner: str, carried: Collection[UUID]) -> list[tuple[Run, bool]]:
    """The runs that are ours by their row, and that nobody here carries, because one could not be begun or stored; each with
    whether PostgreSQL was started since. Half its lease has passed, so that it is not one that is just being begun."""
    half = Now() + timedelta(seconds=settings.RUN_LEASE / 2)
    ours = Run.objects.filter(state=RunState.RUNNING, lease_owner=owner, lease_until__lt=half).exclude(pk__in=carried)
    kept = F("lease_until") - timedelta(seconds=settings.RUN_LEASE)
    was_away = ExpressionWrapper(Q(GreaterThan(PostgresStart(), kept)), BooleanField())
    return [(run, run.was_away) for run in ours.annotate(was_away=was_away)[:1000]]


def owned_here(host: str) -> list[Run]:
    """The runs that processes of this host hold."""
    return list(Run.objects.filter(state=RunState.RUNNING, lease_owner__startswith=f"{host}:")[:1000])
