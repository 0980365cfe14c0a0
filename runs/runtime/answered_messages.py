"""Which messages a run answers: those that address its agent, and that it has read. No other run of the agent answers them,
except a retry. If an outside program answers for the agent, these messages wake the program."""

from typing import Any
from uuid import UUID

from actors.models import Actor, Kind
from chats.addressing import is_addressed
from chats.models import ChatActor, Message
from common.writing import RowUpdate
from runs.hooks import agents_woken_outside
from runs.models import Run
from runs.prepared_queries import SPOKEN_MESSAGES

MAX_ANSWERED = 100
"""The newest messages that are listed as answered."""


def add_answered_messages(update: RowUpdate[Run], since: int) -> None:
    """Add the messages after `since` that address the agent of the run to those that it answers. The chat is locked, and its newest
    version is `read_to`.

    It makes no query if nothing has changed since the message that woke the agent. If that message is one of those that the run
    answers (a wake by hand is not), and others follow it, it sets `replies_to_trigger`: the answer is shown as a reply to it.
    """
    run = update.row
    if run.read_to == run.trigger_seq:
        return
    rows: list[Any] = SPOKEN_MESSAGES.all(run.get_chat_id(), since)
    if found := _find_addressing(run, rows):
        update.set(answered_ids=[*run.answered_ids, *(row.id for row in found)][-MAX_ANSWERED:])
    if run.trigger_id in run.answered_ids and any(row.seq > run.trigger_seq for row in rows):
        update.set(replies_to_trigger=True)


def replace_trigger(update: RowUpdate[Run]) -> bool:
    """Make the next message that addresses the agent of a queued run its trigger, because the present one is deleted. That message
    has started no run. Return whether there is one. The chat is locked."""
    run = update.row
    rows: list[Any] = SPOKEN_MESSAGES.all(run.get_chat_id(), run.trigger_seq)
    following = [row for row in _find_addressing(run, rows) if row.id != run.trigger_id]
    if not following:
        return False
    trigger = Message.objects.select_related("author").get(pk=following[0].id)
    author = trigger.author
    # As for a run that this message would have started: it does not work for whom the deleted message was from.
    cause_id = trigger.run_id or trigger.payload.get("sent_by_run_id")
    cause = Run.objects.filter(pk=cause_id).first() if cause_id else None
    person_id = author.id if author is not None and author.is_human else None
    update.set(
        trigger_id=trigger.id,
        trigger_seq=trigger.seq,
        answered_ids=[trigger.id],
        woken_by=author,
        root_id=cause.tree_id if cause else None,
        agent_hops=cause.agent_hops + 1 if cause else int(person_id is None),
        on_behalf_of_id=person_id or (cause.on_behalf_of_id if cause else None),
        triggered_by_id=person_id or (cause.triggered_by_id if cause else None),
    )
    return True


def _find_addressing(run: Run, rows: list[Any]) -> list[Any]:
    """Return those of the `SPOKEN_MESSAGES` that address the agent of the run and are not among its `answered_ids`, the oldest
    first."""
    mode = (
        ChatActor.objects.filter(chat=run.chat_id, actor=run.agent_id).values_list("response", flat=True).first() or ""
    )
    found: list[Any] = []
    for row in reversed(rows):
        if row.author_id == run.agent_id or row.wake == "nobody" or row.id in run.answered_ids:
            continue
        is_like_person = row.kind == Kind.HUMAN or run.get_chat().is_between_agents
        mentioned = [UUID(id) for id in row.mentions or ()]
        replied = row.replied_author_id
        if is_addressed(
            run.agent_id, mode, is_like_person=is_like_person, mentioned=mentioned, replied_author_id=replied
        ):
            found.append(row)
    return found


def wake_program(run: Run, since: int) -> None:
    """Wake the outside program of the agent for the messages that this queued run would have answered. It is called if the agent
    was set to be answered by a program after the run was queued. The chat is locked."""
    run.read_to = run.get_chat().version
    add_answered_messages(RowUpdate(run), since)  # sets `run.answered_ids` and saves nothing
    for message in Message.objects.filter(pk__in=run.list_message_ids()).select_related("reply_to").order_by("seq"):
        agents_woken_outside.call(run.get_chat(), message, [(run.agent, find_wake_cause(message, run.agent))])


def find_wake_cause(message: Message, agent: Actor) -> str:
    """Return why a message wakes an agent, as one of `WakeCause`. The `reason` of a message that wakes by hand or by a
    schedule is one of them."""
    if message.type == "AGENT_WOKEN":
        return str(message.payload["reason"])
    if str(agent.id) in map(str, message.payload.get("mentions", ())):
        return "mention"
    return "reply" if message.reply_to is not None and message.reply_to.author_id == agent.id else "always"
