"""Beginning a run: whose turn it is in its lane, with which text it answers, and what it has read by then."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce, Now

from agents.errors import LeaseLost
from agents.models import AgentSpec, Draft, Run, RunState
from agents.services.endings import ending
from agents.services.leases import lease_end
from chats import services as chats
from chats.models import Chat, ChatActor, InChat
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import AppError
from common.ids import new_id
from events.rows import Stamp

AT_WORK = (RunState.RUNNING, RunState.WAITING_CHILD)
SWEEPER = 0x41_54_45_4C
"""The advisory lock of whoever sweeps: one at a time, in all of the installation."""


def due() -> QuerySet[Run]:
    """The runs that wait, may begin, and have a free lane."""
    busy = Run.objects.filter(lane=OuterRef("lane"), state__in=AT_WORK)
    may_begin = Q(next_wake_at=None) | Q(next_wake_at__lte=Now())
    return Run.objects.filter(~Exists(busy), may_begin, state=RunState.QUEUED)


def claim(run_id: UUID, owner: str, *, apart: bool = False) -> Run | None:
    """Make a waiting run ours: the oldest of this run's lane, so that a lane keeps its order (B17).

    Nothing when none waits there, one is at work, or another worker was faster; and when it is not for us: a run whose
    process died is for a process that is set `apart`, any other is not (ADR 0009). Opens its own transactions.
    """
    return _claim(Run.objects.filter(pk=run_id, state=RunState.QUEUED).values("lane"), owner, apart)


def claim_next(lane: str, owner: str, *, apart: bool = False) -> Run | None:
    """Make the next run of a lane ours, as `claim` does."""
    return _claim([lane], owner, apart)


def _claim(lanes: Sequence[str] | QuerySet[Run, Any], owner: str, apart: bool) -> Run | None:
    """Those that need no work any more are ended on the way."""
    while waiting := due().filter(lane__in=lanes).only("chat_id", "attempt", "crashes").order_by("pk").first():
        if waiting.is_suspect != apart:
            return None
        try:
            with transaction.atomic():
                run = _begun(waiting, owner)
        except (IntegrityError, LeaseLost):
            return None
        if run is not None:
            return run
    return None


def _begun(waiting: Run, owner: str) -> Run | None:
    """The run, begun; nothing when it has ended instead. Raises `LeaseLost` when it does not wait any more, and
    `IntegrityError` when its lane is not free."""
    # The chat alone: a lock on its workspace would come after it, where those who remove a member take it before.
    held = Chat.objects.select_for_update(of=("self",), no_key=True)
    chat = held.select_related("workspace").get(pk=waiting.room_id)
    related = Run.objects.select_related("agent__current_spec", "on_behalf_of")
    run = related.get(pk=waiting.pk).only_if(state=RunState.QUEUED, attempt=waiting.attempt)
    run.chat = chat
    spec, stamp = (run.spec, run.stamp) if run.spec_id else _spec_for(run)
    if rows := _needless(run, spec):
        chats.changed(run.room_id, rows=rows)
        return None
    assert spec is not None
    # The first claim fixes the text that answers; later ones find it fixed.
    run.set(
        spec=spec, stamp=stamp, limits=spec.limits, state=RunState.RUNNING, attempt=run.attempt + 1,
        lease_owner=owner, lease_until=lease_end(), started_at=run.started_at or now(),
        message_id=run.message_id or new_id(), read_to=chat.version,
    )  # fmt: skip
    chats.changed(run.room_id, rows=[run, *take_in(run)])
    return run


def _needless(run: Run, spec: AgentSpec | None) -> list[InChat]:
    """The rows of its end, when there is nothing to do, or it may not be done; nothing when the run is to begin."""
    if run.stop_requested_at is not None:
        return ending(run, RunState.STOPPED, agent=run.agent, by=run.stopped_by)
    if _has_been_read(run):
        return [run.set(state=RunState.COMPLETED, ended_at=now())]
    if refusal := _refusal(run, spec):
        return ending(run, RunState.FAILED, agent=run.agent, code=refusal.code, text=refusal.message)
    return []


def _has_been_read(run: Run) -> bool:
    """A wake whose message an earlier run has taken in already: it needs no answer of its own."""
    if run.origin != "wake" or run.attempt:
        return False
    place = ChatActor.objects.filter(chat_id=run.room_id, actor_id=run.agent_id, last_read_seq__gte=run.trigger_seq)
    return place.exists()


def _refusal(run: Run, spec: AgentSpec | None) -> AppError | None:
    """Rights are asked again whenever a run begins, never frozen at the time it was asked for."""
    if spec is None:
        return AppError("The agent has no saved version.")
    try:
        get_chat_for(run.agent, run.room_id, ChatVerb.POST, on_behalf_of=run.on_behalf_of)
    except AppError as error:
        return error
    return None


def _spec_for(run: Run) -> tuple[AgentSpec | None, dict[str, Any] | None]:
    """What answers here: the text applied in this chat, else the production version (S0.6); and its stamp as JSON."""
    drafts = Draft.objects.filter(chat_id=run.room_id, agent_id=run.agent_id, ended_at=None, applied__isnull=False)
    draft = drafts.select_related("applied__author").first()
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

    The caller holds the chat; so a message is either read by now, or finds no wake left to join.
    """
    places = ChatActor.objects.filter(chat_id=run.room_id, actor_id=run.agent_id, last_read_seq__lt=run.read_to)
    places.update(last_read_seq=run.read_to)
    waiting = Run.objects.filter(lane=run.lane, origin="wake", state=RunState.QUEUED, attempt=0).exclude(pk=run.pk)
    read = waiting.filter(chat_id=run.room_id, trigger_seq__lte=run.read_to)
    return [one.set(state=RunState.COMPLETED, ended_at=now()).only_if(state=RunState.QUEUED) for one in read]


def waiting_ids(limit: int) -> list[UUID]:
    """The runs that could begin, the oldest first."""
    return list(due().filter(crashes=0).order_by("pk").values_list("pk", flat=True)[:limit])


def forgotten(seconds: float, limit: int = 200) -> list[UUID]:
    """The runs that could begin and have waited for longer than this since the last hint; they count as hinted now."""
    with transaction.atomic():
        if not is_only_sweeper():
            return []
        since = Coalesce(F("hinted_at"), F("created_at"))
        clean = due().filter(crashes=0).annotate(since=since)
        waiting = clean.filter(since__lt=Now() - timedelta(seconds=seconds)).order_by("pk")
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
