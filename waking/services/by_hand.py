"""Waking an agent by a system message: by hand, and for a schedule."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from actors.models import Actor
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict, Forbidden, NotFound, build_duplicate_id_error
from common.ids import new_id
from events import audit
from runs.hooks import agents_woken_outside
from runs.models import Run, build_concurrency_key
from runs.prepared_queries import AGENTS_OF_CHAT
from waking.services.wake import find_reason_not_to_wake


@transaction.atomic
def wake_agent(actor: Actor, chat_id: UUID, agent_id: UUID, *, id: UUID | None = None) -> tuple[Message, bool]:
    """Wake an agent by hand, so that it looks at the chat again. Return the system message, and whether it was created: the same
    `id` again returns the first one. Editors may also wake the agents of a chat between agents. If the agent has a queued run here,
    that run reads the message, and no run is added. An active run reads the message at its next step; if it has no further step,
    the new run begins after it. If an outside program answers for the agent, the program is notified.

    Raises `NotFound`, `Forbidden` for an agent as actor, and `Conflict` when the agent is suspended or taken down (`agent_refused`)
    or another message has this id (`id_taken`).
    """
    id = id or new_id()
    chat = get_chat_for(actor, chat_id, ChatVerb.WAKE_AGENT, lock=True)
    if actor.is_agent:
        raise Forbidden("Only a person wakes an agent by hand.", hints=["Mention the agent in a message."])
    if stored := Message.objects.filter(pk=id).first():
        is_same = stored.chat_id == chat.id and stored.type == "AGENT_WOKEN"
        if not is_same or (stored.payload["target_id"], stored.payload["actor_id"]) != (str(agent_id), str(actor.id)):
            raise build_duplicate_id_error("message")
        return stored, False
    rows = prepare_wake(chat, get_wakeable_participant(chat, agent_id), actor, id=id, reason="hand")
    try:
        with transaction.atomic():
            chats.save_changes(chat.id, rows)
    except IntegrityError:
        raise build_duplicate_id_error("message") from None
    audit.record(actor, "agent.woken", workspace_id=chat.workspace_id, object_id=agent_id)
    return Message.objects.get(pk=id), True


def get_wakeable_participant(chat: Chat, agent_id: UUID) -> ChatActor:
    """Return the participant that is this agent, if it can be woken, with the annotation `memory_scope` of `AGENTS_OF_CHAT`.

    Raises `NotFound`, `Conflict`."""
    participant = next((found for found in AGENTS_OF_CHAT.all(chat.id) if found.actor_id == agent_id), None)
    if participant is None:
        raise NotFound("There is no such agent in this chat.")
    agent = participant.actor
    if refusal := find_reason_not_to_wake(agent):
        raise Conflict(
            f"{agent.name} cannot be woken.",
            code=Code.AGENT_REFUSED,
            data={"reason": refusal},
            hints=["It was taken down." if refusal == "taken_down" else "It is suspended. An operator can resume it."],
        )
    return participant


def prepare_wake(
    chat: Chat,
    participant: Any,
    person: Actor,
    *,
    id: UUID | None = None,
    reason: str,
    name: str | None = None,
    instructions: str | None = None,
    schedule_id: UUID | None = None,
    due_at: datetime | None = None,
    missed: int | None = None,
) -> list[chats.RowChange]:
    """Return the system message that wakes the agent, and the queued run of the agent, which works for the person.

    `participant`: from `get_wakeable_participant`, with its annotation `memory_scope`. The caller has locked the chat and saves the
    rows by `save_changes`, which leaves out the run if the agent has a queued one in this chat (`Run.ignores_conflicts`): that one
    will read the message. An agent whose program runs outside has no run: its program is notified.

    `name`, `instructions`, `schedule_id` and `due_at` are those of the schedule that wakes the agent; `missed` is the number of its
    earlier times that this wake makes up for.
    """
    agent = participant.actor
    message = chats.build_system_message(
        chat.id,
        "AGENT_WOKEN",
        actor=person,
        target=agent,
        reason=reason,
        name=name,
        text=instructions,
        schedule_id=schedule_id,
        due_at=due_at,
        missed=missed,
    )
    message.id = id or new_id()
    if agent.runs_outside:
        agents_woken_outside.call(chat, message, [(agent, reason)])
        return [message]
    run = Run(
        workspace_id=chat.workspace_id,
        chat=chat,
        agent=agent,
        origin="wake",
        concurrency_key=build_concurrency_key(agent.id, chat.id, participant.memory_scope),
        trigger_id=message.id,
        woken_by=person,
        payer_id=chat.workspace_id,
        on_behalf_of=person,
        triggered_by=person,
        dispatched_at=now(),
    )
    run.trigger = message
    return [message, run]
