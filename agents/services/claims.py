"""Beginning a run: whose turn it is in its lane, with which text it answers, and what it has read by then."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now

from agents.errors import CannotGoOn, LeaseLost
from agents.models import AgentSpec, Draft, Run, RunState
from agents.models.runs import ALONE_AFTER
from agents.permissions import hold_chat_of
from agents.services.endings import ending
from agents.services.jobs import begun_job
from agents.services.leases import taken
from chats import services as chats
from chats.models import Chat, ChatActor, InChat
from common.clock import now
from common.compiled import Compiled
from events.rows import Stamp

AT_WORK = (RunState.RUNNING, RunState.WAITING_CHILD)
NO_VERSION = CannotGoOn("no_version", "The agent has no saved version.")
SWEEPER = 0x41_54_45_4C
"""The advisory lock of whoever sweeps: one at a time, in all of the installation."""


def due() -> QuerySet[Run]:
    """The runs that wait, may begin, and have a free lane."""
    busy = Run.objects.filter(lane=OuterRef("lane"), state__in=AT_WORK)
    may_begin = Q(next_wake_at=None) | Q(next_wake_at__lte=Now())
    return Run.objects.filter(~Exists(busy), may_begin, state=RunState.QUEUED)


def _first_of(lane: QuerySet[Run, Any]) -> QuerySet[Run]:
    """What is asked before the chat is held: who works for whom never changes."""
    who = ("agent__kind", "on_behalf_of__kind")
    return lane.only("chat_id", "attempt", "crashes", *who).select_related("agent", "on_behalf_of").order_by("pk")[:1]


def _lane_of(run_id: UUID) -> QuerySet[Run, Any]:
    return due().filter(lane__in=Run.objects.filter(pk=run_id, state=RunState.QUEUED).values("lane"))


def _whole(run_id: UUID) -> QuerySet[Run]:
    """A run with its agent, the text in production, its person, and `seen`: how far its agent has read the room."""
    places = ChatActor.objects.filter(chat=OuterRef("chat"), actor=OuterRef("agent"))
    run = Run.objects.filter(pk=run_id).select_related("agent__current_spec", "on_behalf_of")
    return run.annotate(seen=Subquery(places.values("last_read_seq")[:1]))


def _applied(chat_id: UUID, agent_id: UUID) -> QuerySet[Draft]:
    drafts = Draft.objects.filter(chat_id=chat_id, agent_id=agent_id, ended_at=None, applied__isnull=False)
    return drafts.select_related("applied__author")


def _answered_by(lane: str, chat_id: UUID, read_to: int) -> QuerySet[Run]:
    wakes = Run.objects.filter(lane=lane, origin="wake", state=RunState.QUEUED, attempt=0)
    return wakes.filter(chat_id=chat_id, trigger_seq__lte=read_to)


_OF_LANE = Compiled(lambda lane: _first_of(due().filter(lane=lane)), str)
_OF_LANE_OF = Compiled(lambda run_id: _first_of(_lane_of(run_id)), UUID)
_WHOLE = Compiled(_whole, UUID)
_APPLIED = Compiled(_applied, UUID, UUID)
_ANSWERED_BY = Compiled(_answered_by, str, UUID, int)


def claim(run_id: UUID, owner: str, *, apart: bool = False) -> Run | None:
    """Make a waiting run ours: the oldest of this run's lane, so that a lane keeps its order (B17).

    Nothing when none waits there, one is at work, or another worker was faster; and when it is not for us: a suspect
    is for a process that is set `apart`, any other is not (ADR 0009). Opens its own transactions.
    """
    return _claim(partial(_OF_LANE_OF.first, run_id), owner, apart)


def claim_next(lane: str, owner: str, *, apart: bool = False) -> Run | None:
    """Make the next run of a lane ours, as `claim` does."""
    return _claim(partial(_OF_LANE.first, lane), owner, apart)


def _claim(next_one: Callable[[], Run | None], owner: str, apart: bool) -> Run | None:
    """Those that need no work any more are ended on the way."""
    while waiting := next_one():
        if waiting.is_suspect != apart:
            return None
        try:
            with transaction.atomic():
                run = _begun(waiting, owner) if waiting.chat_id else begun_job(waiting, owner)
        except (IntegrityError, LeaseLost):
            return None
        if run is not None:
            return run
    return None


def _begun(waiting: Run, owner: str) -> Run | None:
    """The run, begun; nothing when it has ended instead. Raises `LeaseLost` when it does not wait any more, and
    `IntegrityError` when its lane is not free."""
    chat, hindrance = _held(waiting)
    run = _WHOLE.first(waiting.pk)
    if run is None:
        raise LeaseLost(f"Run {waiting.pk} is gone.")
    run.only_if(state=RunState.QUEUED, attempt=waiting.attempt)
    run.chat = chat
    spec, stamp = (run.spec, run.stamp) if run.spec_id else _spec_for(run)
    if rows := _needless(run, hindrance or (None if spec else NO_VERSION)):
        chats.changed(run.room_id, rows=rows)
        return None
    assert spec is not None
    # The first claim fixes the text that answers; later ones find it fixed.
    taken(run, owner).set(spec=spec, stamp=stamp, limits=spec.limits, read_to=chat.version)
    chats.changed(run.room_id, rows=[run, *take_in(run)])
    return run


def _held(run: Run) -> tuple[Chat, CannotGoOn | None]:
    """The chat of a run, held, and why the run may not work there. What may not work ends there, too."""
    try:
        return hold_chat_of(run), None
    except CannotGoOn as error:
        # The chat alone: a lock on its workspace would come after it, where those who remove a member take it before.
        held = Chat.objects.select_for_update(of=("self",), no_key=True)
        return held.select_related("workspace").get(pk=run.room_id), error


def _needless(run: Run, hindrance: CannotGoOn | None) -> list[InChat]:
    """The rows of its end, when there is nothing to do, or it may not be done; nothing when the run is to begin."""
    if run.stop_requested_at is not None:
        return ending(run, RunState.STOPPED, agent=run.agent, by=run.stopped_by)
    if _has_been_read(run):
        return [run.set(state=RunState.COMPLETED, ended_at=now())]
    if hindrance is not None:
        return ending(run, RunState.FAILED, agent=run.agent, code=hindrance.code, text=hindrance.text)
    return []


def _has_been_read(run: Any) -> bool:
    """A wake whose message an earlier run has taken in already: it needs no answer of its own. `run` is from `_whole`."""
    return run.origin == "wake" and not run.attempt and (run.seen or 0) >= run.trigger_seq


def _spec_for(run: Run) -> tuple[AgentSpec | None, dict[str, Any] | None]:
    """What answers here: the text applied in this chat, else the production version (S0.6); and its stamp as JSON."""
    draft = _APPLIED.first(run.room_id, run.agent_id)
    if draft is not None and draft.applied is not None:
        spec = draft.applied
        stamp = Stamp(spec_id=spec.id, draft_apply=draft.apply_count, draft_by=spec.author.name)
    elif run.agent.current_spec is not None:
        spec = run.agent.current_spec
        stamp = Stamp(spec_id=spec.id, version=spec.number)
    else:
        return None, None
    return spec, stamp.model_dump(mode="json")


def take_in(run: Run) -> list[InChat]:
    """The run has read the room up to `read_to`: its agent's cursor moves, and wakes that this answers end with it.

    The caller holds the chat; so a message is either read by now, or finds no wake left to join. Who is compared reads one
    message, and answers no other.
    """
    if run.is_compared:
        return []
    chats.read_up_to(run.room_id, run.agent_id, run.read_to)
    read = [one for one in _ANSWERED_BY.all(run.lane, run.room_id, run.read_to) if one.pk != run.pk]
    return [one.set(state=RunState.COMPLETED, ended_at=now()).only_if(state=RunState.QUEUED) for one in read]


def waiting_ids(limit: int) -> list[UUID]:
    """The runs that could begin, the oldest first."""
    return list(due().filter(crashes__lt=ALONE_AFTER).order_by("pk").values_list("pk", flat=True)[:limit])


def forgotten(seconds: float, limit: int = 200) -> list[UUID]:
    """The runs that could begin and have waited for longer than this since the last hint; they count as hinted now."""
    with transaction.atomic():
        if not is_only_sweeper():
            return []
        since = Coalesce(F("hinted_at"), F("created_at"))
        waiting = due().filter(crashes__lt=ALONE_AFTER).annotate(since=since)
        waiting = waiting.filter(since__lt=Now() - timedelta(seconds=seconds)).order_by("pk")
        ids = list(
            waiting.select_for_update(of=("self",), skip_locked=True, no_key=True).values_list("pk", flat=True)[:limit]
        )
        Run.objects.filter(pk__in=ids).update(hinted_at=Now())
        return ids


def is_only_sweeper() -> bool:
    """Whether this transaction is the one that sweeps now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [SWEEPER])
        return bool(cursor.fetchone()[0])
