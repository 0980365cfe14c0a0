"""Wake the agents of schedules that are due. The sweeper of each worker calls `fire_due_schedules`, which needs no Redis."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from itertools import islice, takewhile
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from actors.models import Actor
from chats import services as chats
from chats.models import Chat
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.database import is_database_unavailable
from common.errors import Conflict, Forbidden, NotFound
from common.ids import get_lowest_id_at, new_id
from common.writing import delete_in_batches
from events.publish import publish_workspace_list_changed
from events.rows import PauseReason
from schedules.expressions import find_last_time, iterate_times
from schedules.hooks import schedule_failed, schedule_paused
from schedules.models import Schedule, ScheduledTime
from waking.services.by_hand import get_wakeable_participant, prepare_wake
from waking.services.wake import find_budget_refusal

logger = logging.getLogger(__name__)

MAX_PER_SWEEP = 100
"""Schedules that one sweep fires. The others follow with the next one."""
MAX_MISSED = 1_000
"""Missed times that are counted. If there are more, the last one is found all the same."""
RETRY_AFTER = timedelta(minutes=5)
"""How long a schedule that could not be fired because of an error is left alone. It stays due."""


def fire_due_schedules() -> int:
    """Fire the schedules that are due, the oldest first. Return how many this process has fired or paused; several processes may
    do so at once. If a schedule raises an error, it is logged; the schedule stays due, and is fired again after `RETRY_AFTER`."""
    fired = 0
    for id in _filter_due().order_by("next_at").values_list("pk", flat=True)[:MAX_PER_SWEEP]:
        try:
            fired += fire_schedule(id)
        except MemoryError:
            raise
        except Exception as error:
            if is_database_unavailable(error):
                raise
            logger.exception("Schedule %s could not be fired.", id)
            _postpone(id)
    return fired


@transaction.atomic
def _postpone(schedule_id: UUID) -> None:
    schedules = Schedule.objects.filter(pk=schedule_id)
    if schedules.update(retry_at=now() + RETRY_AFTER):
        schedule_failed.call(schedules.select_related("agent").get())


def _filter_due() -> QuerySet[Schedule]:
    is_free = Q(retry_at=None) | Q(retry_at__lte=now())
    return Schedule.objects.filter(is_free, next_at__lte=now(), workspace__deleted_at=None)


@transaction.atomic
def fire_schedule(schedule_id: UUID) -> bool:
    """Fire a schedule that is due. The row of `ScheduledTime`, the message and the run are written in one transaction. Return false
    if another process has fired it, or does so now.

    If several times have passed since the schedule last fired, they are made up for by one run, or by none if the last of them is
    older than `grace_seconds`. A schedule whose agent cannot be woken for its owner is paused. While a budget is used up, its times
    are stored as missed, and the first one at which the budget has room again wakes the agent.
    """
    chat_id = Schedule.objects.filter(pk=schedule_id).values_list("chat", flat=True).first()
    if chat_id is None:
        return False
    chat = chats.lock_chat(chat_id)  # before the schedule, as everywhere
    due = _filter_due().filter(pk=schedule_id).select_related("owner", "agent")
    schedule = due.select_for_update(of=("self",), skip_locked=True).first()
    if schedule is None or schedule.next_at is None:
        return False
    moment, first = now(), schedule.next_at
    later = takewhile(lambda time: time <= moment, iterate_times(schedule.expression, schedule.time_zone, after=first))
    times = [first, *islice(later, MAX_MISSED)]
    if len(times) > MAX_MISSED:
        times[-1] = find_last_time(schedule.expression, schedule.time_zone, until=moment) or times[-1]
    reason, earlier_reason = _find_pause_reason(chat, schedule), schedule.paused_reason
    schedule.paused_reason, schedule.next_at, schedule.retry_at = reason or "", None, None
    if reason is None or reason == PauseReason.BUDGET_USED_UP:
        schedule.next_at = next(iterate_times(schedule.expression, schedule.time_zone, after=moment), None)
        _store_time_and_wake(chat, schedule, times)
    if reason is not None and reason != earlier_reason:
        schedule_paused.call(schedule, None)
    schedule.save(update_fields=["paused_reason", "next_at", "retry_at"])
    publish_workspace_list_changed(schedule.workspace_id, "schedules")
    return True


def delete_old_times() -> None:
    """Delete the times of schedules that are older than `WAKE_DAYS`, but the last one of each. Called by the sweeper."""
    later = ScheduledTime.objects.filter(schedule=OuterRef("schedule"), pk__gt=OuterRef("pk"))
    old = ScheduledTime.objects.filter(
        Exists(later), pk__lt=get_lowest_id_at(now() - timedelta(days=settings.WAKE_DAYS))
    )
    delete_in_batches(old)


def _store_time_and_wake(chat: Chat, schedule: Schedule, times: Sequence[Any]) -> None:
    """Store the last of these times, and wake the agent unless it is too late for that or a budget is used up."""
    due_at = times[-1]
    scheduled_time = ScheduledTime(schedule=schedule, due_at=due_at)
    if schedule.paused_reason or now() - due_at > timedelta(seconds=schedule.grace_seconds):
        scheduled_time.state, scheduled_time.missed = "missed", len(times)
    else:
        scheduled_time.missed = len(times) - 1
        participant = get_wakeable_participant(chat, schedule.agent_id)
        scheduled_time.message_id = new_id()
        rows = prepare_wake(
            chat,
            participant,
            schedule.owner,
            reason="schedule",
            name=schedule.name,
            instructions=schedule.instructions,
            schedule_id=schedule.pk,
            due_at=due_at,
            missed=scheduled_time.missed or None,
            id=scheduled_time.message_id,
        )
        chats.save_changes(chat.id, rows)
    scheduled_time.save(force_insert=True)


def _find_pause_reason(chat: Chat, schedule: Schedule) -> PauseReason | None:
    """Return why this schedule cannot wake its agent for its owner, or null."""
    try:
        get_chat_for(schedule.owner, chat.id, ChatVerb.POST)
    except (NotFound, Forbidden):
        return PauseReason.OWNER_LEFT
    try:
        agent = get_wakeable_participant(chat, schedule.agent_id).actor
    except (NotFound, Conflict):
        return PauseReason.AGENT_REMOVED
    if agent.runs_outside:
        return None  # its program asks no model
    # For a model without a known price the run fails, and the chat says why: no time will come at which it would answer.
    reason = find_budget_refusal(chat, schedule.owner, agent)
    return PauseReason.BUDGET_USED_UP if reason == "budget_used_up" else None


def pause_schedules_of_leaver(chat: Chat, actor: Actor, remover: Actor) -> list[Any]:
    """Pause the schedules of an owner or an agent that leaves a chat. A listener of `actor_left`; the chat is locked."""
    is_going_on = Q(paused_reason__in=["", PauseReason.BUDGET_USED_UP])
    going_on = Schedule.objects.filter(is_going_on, Q(owner=actor) | Q(agent=actor), chat=chat).select_related("agent")
    schedules = list(going_on.order_by("pk"))
    reason = PauseReason.AGENT_REMOVED if actor.is_agent else PauseReason.OWNER_LEFT
    if Schedule.objects.filter(pk__in=[schedule.pk for schedule in schedules]).update(
        paused_reason=reason, next_at=None
    ):
        publish_workspace_list_changed(chat.workspace_id, "schedules")
    for schedule in schedules:
        if schedule.is_enabled:
            schedule_paused.call(schedule, remover)
    return []
