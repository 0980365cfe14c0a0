"""Bring the chats and the users of a public agent up to date with its new version, its new name or description, or its takedown.

A public agent may be in thousands of chats. They are not locked together: a service changes the agent, and a task updates its
chats and notifies people afterwards, in batches, each chat in a transaction of its own. A `PendingUpdate` stores how far it has
come, so that another worker continues where one has died.
"""

import logging
from datetime import timedelta
from uuid import UUID, uuid5

from django.db import DatabaseError, transaction
from django.db.models import Q

from actors.models import Actor
from agents.models import AgentSpec
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from common.clock import now
from common.database import is_database_unavailable
from common.tasks import send_task_now
from common.writing import RowUpdate
from publishing.hooks import agent_published, agent_taken_down
from publishing.models import Listing, PendingUpdate
from publishing.selectors import list_concerned_people, list_concerned_workspaces
from runs.models import NOT_ENDED
from runs.services.runs import build_changes_that_stop_agent, list_runs_of_agent

logger = logging.getLogger(__name__)

UPDATE_TASK = "publishing.tasks.continue_update"
CHATS_PER_BATCH = 100
WORKSPACES_PER_BATCH = 100
"""Workspaces whose people are notified together."""
RESUME_AFTER = timedelta(minutes=5)
"""How long after the last batch the sweeper sends the task again."""
RETRY_AFTER = timedelta(hours=1)
"""How long after the last batch all chats are tried again, if some could not be updated."""
GIVE_UP_AFTER = timedelta(days=2)


def start_update(agent: Actor, version: AgentSpec | None = None) -> None:
    """Send the task that brings the chats and users of a public agent up to date, on commit. `version`: the new one; null for a
    new profile and for a takedown."""
    update = PendingUpdate.objects.create(agent=agent, version=version, resume_at=now() + RESUME_AFTER)
    transaction.on_commit(lambda: send_task_now(UPDATE_TASK, [str(update.id)]), robust=True)


def continue_update(update_id: UUID) -> bool:
    """Bring the next chats and people up to date with a public agent. Return whether there are more.

    Each chat gets the row of the agent as it is now and, for a new version or a takedown, a system message.
    After a takedown, the agent's runs in the chat are stopped. A new version concerns only the chats that the agent was in before.
    A message is posted once, and a person notified once, however often this is called.
    """
    update = PendingUpdate.objects.select_related("agent", "version__author").filter(pk=update_id).first()
    if update is None:
        return False
    has_more_chats = _update_next_chats(update)
    has_more_people = _notify_next_people(update)
    # Another worker may have deleted the row meanwhile.
    row = PendingUpdate.objects.filter(pk=update_id)
    if has_more_chats or has_more_people:
        row.update(resume_at=now() + RESUME_AFTER)
        return True
    if update.has_failed_chats:
        row.update(after_chat=None, has_failed_chats=False, resume_at=now() + RETRY_AFTER)
    else:
        row.delete()
    return False


def resume_updates() -> None:
    """Send again the tasks of updates whose workers have died, or that could not update some chats. Delete updates that are older
    than `GIVE_UP_AFTER`. Raises `Unavailable`."""
    time = now()
    abandoned = PendingUpdate.objects.filter(created_at__lt=time - GIVE_UP_AFTER)
    for update in abandoned.select_related("agent"):
        logger.error("Not all chats were brought up to date with public agent %s", update.agent_id)
        update.delete()
    due = PendingUpdate.objects.filter(resume_at__lte=time)
    for id in due.order_by("pk").values_list("pk", flat=True):
        # Several workers do this at the same time. One of them sends the task.
        if due.filter(pk=id).update(resume_at=time + RESUME_AFTER):
            send_task_now(UPDATE_TASK, [str(id)])


def _update_next_chats(update: PendingUpdate) -> bool:
    """Bring the next chats up to date, in the order of their ids. Return whether there are more."""
    agent, version, note = update.agent, update.version, ""
    participants = ChatActor.objects.filter(actor=agent, ended_at=None)
    is_taken_down = agent.taken_down_at is not None
    if is_taken_down:
        version, note = None, Listing.objects.get(agent=agent).takedown_reason
    elif version is not None:
        participants = participants.filter(joined_at__lt=update.created_at)
        note = version.message

    later = Q() if update.after_chat is None else Q(chat__gt=update.after_chat)
    found = participants.filter(later).values_list("chat_id", flat=True)
    if is_taken_down:
        # Other agents may have called it in chats that it was never in.
        active = list_runs_of_agent(agent.id).filter(later, state__in=NOT_ENDED)
        found = found.union(active.values_list("chat_id", flat=True))
    ids = list(found.order_by("chat_id")[:CHATS_PER_BATCH])

    messages: dict[UUID, Message] = {}
    if is_taken_down or version is not None:
        messages = {id: _build_system_message(id, agent, version, note) for id in ids}
    message_ids = [message.id for message in messages.values()]
    posted = set(Message.objects.filter(pk__in=message_ids).values_list("chat", flat=True))
    for id in ids:
        if id in posted:
            continue
        try:
            _update_chat(id, agent, messages.get(id))
        except DatabaseError as error:
            if is_database_unavailable(error):
                raise
            logger.exception("Chat %s was not brought up to date with public agent %s", id, agent.id)
            update.has_failed_chats = True
    if ids:
        PendingUpdate.objects.filter(pk=update.pk).update(after_chat=ids[-1], has_failed_chats=update.has_failed_chats)
    return len(ids) == CHATS_PER_BATCH


def _build_system_message(chat_id: UUID, agent: Actor, version: AgentSpec | None, note: str) -> Message:
    """Return the system message for a chat. Its id follows from the agent, the chat and the version, so that it is posted once."""
    if version is None:
        message = chats.build_system_message(chat_id, "AGENT_TAKEN_DOWN", target=agent, note=note)
    else:
        message = chats.build_system_message(
            chat_id, "AGENT_PUBLISHED", target=agent, version=version.version, note=note[:400]
        )
    message.id = uuid5(agent.id, f"{chat_id} {message.type} {version.version if version else None}")
    return message


@transaction.atomic
def _update_chat(chat_id: UUID, agent: Actor, message: Message | None) -> None:
    """Bring one chat up to date. Post the message only if the agent is a participant. After a takedown, stop the agent's runs in
    the chat, also if another agent has only called it there."""
    try:
        chat = chats.lock_chat(chat_id)
    except Chat.DoesNotExist:
        return
    if message is not None and Message.objects.filter(pk=message.id).exists():
        return
    changes: list[chats.RowChange] = (
        build_changes_that_stop_agent(chat, agent) if agent.taken_down_at is not None else []
    )
    # The agent is read again: it may have been taken down meanwhile, and that update may have been faster.
    participant = chat.participants.select_related("actor").filter(actor=agent, ended_at=None).first()
    if participant is not None:
        # The update changes no field: the row is sent again, with the agent as it is now.
        changes = [*([message] if message else []), RowUpdate(participant), *changes]
    if changes:
        chats.save_changes(chat_id, changes)


@transaction.atomic
def _notify_next_people(update: PendingUpdate) -> bool:
    """Notify the people of the next workspaces whom a version or a takedown concerns. The publisher comes first: a person is
    notified in one workspace only, and only the publisher's people are told who published it or took it down. The other
    workspaces follow in the order of their ids. Return whether there are more."""
    agent, version = update.agent, update.version
    is_taken_down = agent.taken_down_at is not None
    # An agent that comes with the release has no listing; nobody is notified of a new profile.
    listing = Listing.objects.select_related("taken_down_by").filter(agent=agent).first()
    if listing is None or (version is None and not is_taken_down):
        return False
    listing.agent = agent
    others = list_concerned_workspaces(agent, before=update.created_at)
    if update.after_workspace is None:
        ids = [agent.published_by_workspace_id, *others[:WORKSPACES_PER_BATCH]]
    else:
        ids = list(others.filter(pk__gt=update.after_workspace)[:WORKSPACES_PER_BATCH])
    if not ids:
        return False
    people = list_concerned_people(agent, ids, before=update.created_at)
    if is_taken_down:
        agent_taken_down.call(listing, people)
    elif version is not None:
        agent_published.call(listing, version, people)
    PendingUpdate.objects.filter(pk=update.pk).update(after_workspace=ids[-1])
    return len(ids) >= WORKSPACES_PER_BATCH
