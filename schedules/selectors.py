"""Reads of schedules."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from actors.models import Actor
from agents.permissions import AgentVerb, get_agent_for
from chats.models import Message
from chats.permissions import ChatVerb, compute_chat_verbs, list_readable_chats
from chats.selectors import load_titles
from events.rows import ScheduleRow
from runs.models import Run
from schedules.models import Schedule, ScheduledTime
from workspaces.models import Workspace


def list_schedules(actor: Actor, agent_id: UUID) -> list[ScheduleRow]:
    """Return the schedules of an agent in the chats that the actor may read, the oldest first. Raises `NotFound`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE)
    chats = {chat.pk: chat for chat in list_readable_chats(actor).filter(schedules__agent=agent).distinct()}
    found = Schedule.objects.filter(agent=agent, chat__in=chats).select_related("chat", "owner").order_by("pk")
    return build_rows(actor, list(found), [id for id, chat in chats.items() if can_change_schedules(chat)])


def find_schedule_of_run(run: Run) -> Schedule | None:
    """Return the schedule that has started a run, or null."""
    messages = Message.objects.filter(pk__in=run.list_message_ids(), type="AGENT_WOKEN")
    ids = [payload["schedule_id"] for payload in messages.values_list("payload", flat=True) if payload["schedule_id"]]
    return Schedule.objects.filter(pk__in=ids).select_related("agent").first() if ids else None


def can_change_schedules(chat: Any) -> bool:
    """Return whether the actor for whom the chat was fetched may change its schedules."""
    return ChatVerb.CHANGE_SCHEDULES in compute_chat_verbs(chat)


def build_rows(reader: Actor, schedules: Sequence[Schedule], changeable_chat_ids: Sequence[UUID]) -> list[ScheduleRow]:
    """Return the rows of schedules, with the last time of each, by one query, and two for titles."""
    load_titles(reader, [schedule.chat for schedule in schedules])
    times = ScheduledTime.objects.filter(schedule__in=[schedule.pk for schedule in schedules])
    last = {time.schedule_id: time for time in times.order_by("schedule_id", "-due_at").distinct("schedule_id")}
    return [
        schedule.to_row(last=last.get(schedule.pk), can_change=schedule.chat_id in changeable_chat_ids)
        for schedule in schedules
    ]


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return all schedules of a deleted workspace, to purge them. A listener of `collect_rows_to_purge`."""
    schedules = Schedule.objects.filter(workspace=workspace)
    return [ScheduledTime.objects.filter(schedule__in=schedules), schedules]
