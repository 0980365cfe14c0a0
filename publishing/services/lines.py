"""The lines in the chats of a public agent about its new versions and its takedown.

A public agent may be in thousands of chats. They are not locked together: a service changes the agent, and a task brings its
chats up to date afterwards, each in a transaction of its own.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid5

from django.db import DatabaseError, transaction
from django.db.models import Q

from actors.models import Actor
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from common.clock import now
from common.tasks import send_task_now
from common.writing import RowUpdate
from publishing.models import Listing
from runs.models import ACTIVE
from runs.services.runs import list_runs_of_agent, stop_runs_of_agent

logger = logging.getLogger(__name__)

TASK = "publishing.tasks.update_chats"
BATCH = 100
"""Chats that one task brings up to date."""
FINISH_WITHIN = timedelta(days=2)
"""How long after a takedown its lines are looked for, and posted where a task was lost."""


def send_update_of_chats(agent_id: UUID, version: int | None) -> None:
    """Send the task that brings the chats of a public agent up to date, on commit."""
    arguments = [str(agent_id), version]
    transaction.on_commit(lambda: send_task_now(TASK, arguments), robust=True)


def update_chats(agent_id: UUID, version: int | None = None, after: UUID | None = None) -> UUID | None:
    """Bring a batch of the chats of a public agent up to date: publish its row, and post the line about its version or, if it was
    taken down, the line about that, and stop its runs. Return the chat after which the next batch begins, or null.

    `version`: the new one; null if there is none. Only chats that the agent was in before get a line about it. A line is posted
    once, however often this is called.
    """
    agent = Actor.objects.get(pk=agent_id)
    is_down = agent.taken_down_at is not None
    note, participants = "", ChatActor.objects.filter(actor=agent, ended_at=None)
    if is_down:
        version, note = None, Listing.objects.get(agent=agent).takedown_reason
    elif version is not None:
        spec = agent.specs.get(number=version)
        note, participants = spec.message, participants.filter(joined_at__lt=spec.created_at)
    later = Q() if after is None else Q(chat__gt=after)
    found = participants.filter(later).values_list("chat_id", flat=True)
    if is_down:
        # Other agents may have called it in chats that it was never in.
        active = list_runs_of_agent(agent.id).filter(later, state__in=ACTIVE)
        found = found.union(active.values_list("chat_id", flat=True))
    ids = list(found.order_by("chat_id")[:BATCH])
    lines: Sequence[Message] = []
    if is_down or version is not None:
        lines = [_build_line(id, agent, version, note) for id in ids]
    posted = set(Message.objects.filter(pk__in=[line.id for line in lines]).values_list("chat", flat=True))
    by_chat = {line.chat_id: line for line in lines}
    for id in ids:
        if id in posted:
            continue
        try:
            _update_chat(id, agent, by_chat.get(id))
        except DatabaseError:
            logger.exception("Chat %s was not brought up to date with public agent %s", id, agent_id)
    return ids[-1] if len(ids) == BATCH else None


def finish_takedowns() -> None:
    """Send the task of each recent takedown again, because a task is lost when its worker ends. Raises `Unavailable`."""
    recent = Actor.objects.filter(is_public=True, taken_down_at__gte=now() - FINISH_WITHIN)
    for id in recent.values_list("pk", flat=True):
        send_task_now(TASK, [str(id), None])


def _build_line(chat_id: UUID, agent: Actor, version: int | None, note: str) -> Message:
    """Return the line for a chat. Its id is always the same, so that it is posted once."""
    if version is None:
        line = chats.build_system_message(chat_id, "AGENT_TAKEN_DOWN", target=agent, note=note)
    else:
        line = chats.build_system_message(chat_id, "AGENT_PUBLISHED", target=agent, version=version, note=note[:400])
    line.id = uuid5(agent.id, f"{chat_id} {line.type} {version}")
    return line


@transaction.atomic
def _update_chat(chat_id: UUID, agent: Actor, line: Message | None) -> None:
    """Bring one chat up to date. It gets the line only if the agent takes part. Where it was only called, its runs are stopped."""
    try:
        chat = chats.lock_chat(chat_id)
    except Chat.DoesNotExist:
        return
    if line is not None and Message.objects.filter(pk=line.id).exists():
        return
    changes: list[chats.RowChange] = stop_runs_of_agent(chat, agent) if agent.taken_down_at is not None else []
    if participant := chat.participants.filter(actor=agent, ended_at=None).first():
        # Without a changed field: the row is sent again, with the agent as it is now.
        participant.actor = agent
        changes = [*([line] if line else []), RowUpdate(participant), *changes]
    if changes:
        chats.save_changes(chat_id, changes)
