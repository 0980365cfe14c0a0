"""Whom a message wakes: one rule, asked when it is posted and, by the composer, before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from actors.models import Actor, AgentStatus, Kind
from chats import services as chats
from chats.models import Chat, ChatActor, Message, Wake
from common.clock import now
from common.prepared_query import PreparedQuery
from runs.models import Run, RunState
from runs.services.dispatch import dispatch_run

MAX_HOPS = 4
"""How often agents may wake each other in a row, counted from what a person said."""

_AGENTS_OF: PreparedQuery[ChatActor] = PreparedQuery(
    lambda chat_id: (
        ChatActor.objects.filter(chat_id=chat_id, ended_at=None, actor__kind=Kind.AGENT)
        .select_related("actor")
        .order_by("joined_at", "pk")
    ),
    UUID,
)


@dataclass(frozen=True)
class WakeEffect:
    """What a message does to one agent: wakes it, is read by its run that is at work, or cannot reach it."""

    agent_id: UUID
    effect: Literal["wakes", "steers", "cannot"]
    reason: Literal["suspended", "taken_down", "too_many_hops"] | None = None


@dataclass(frozen=True)
class _Addressed:
    agent: Actor
    reason: Literal["suspended", "taken_down", "too_many_hops"] | None


def build_concurrency_key(agent_id: UUID, chat_id: UUID) -> str:
    """Where at most one run is at work at a time."""
    return f"{agent_id}:{chat_id}"


def wake_agents(chat: Chat, message: Message) -> list[Run]:
    """The runs that a message starts, one for each agent that it addresses, not yet written.

    Where one waits in the concurrency key already, writing joins it: that one will read this message, too.
    """
    if not _speaks(message):
        return []
    assert message.author is not None
    mentioned = [UUID(str(id)) for id in message.payload.get("mentions", [])]
    if message.author.is_agent and not mentioned:
        return []  # an agent's word wakes by mention only: most of what agents say is asked no further
    cause = Run.objects.filter(pk=message.run_id).first() if message.run_id else None
    hops = cause.hops + 1 if cause else int(message.author.is_agent)
    addressed = _addressed(chat, message.author, mentioned, message.reply_to, hops)
    return [_run(chat, one.agent, message, cause, hops) for one in addressed if one.reason is None]


def preview_wakes(*, chat: Chat, author: Actor, text: str, reply_to: UUID | None = None) -> list[WakeEffect]:
    """What this message would do, in the order of the room."""
    answered = Message.objects.filter(pk=reply_to, chat=chat).first() if reply_to else None
    addressed = _addressed(chat, author, chats.mentions_in(chat, text), answered, hops=int(author.is_agent))
    at_work = _at_work(chat, [one.agent.id for one in addressed])
    return [
        WakeEffect(one.agent.id, "cannot", one.reason)
        if one.reason
        else WakeEffect(one.agent.id, "steers" if one.agent.id in at_work else "wakes")
        for one in addressed
    ]


def _speaks(message: Message) -> bool:
    """Does it wake anybody at all? Errors, events, greetings and what was broken off do not."""
    payload = message.payload
    silent = payload.get("wake") == "nobody" or payload.get("incomplete") or payload.get("greeting")
    return message.type == "TEXT_MESSAGE" and message.author is not None and not silent


def _addressed(
    chat: Chat, author: Actor, mentioned: Sequence[UUID], answered: Message | None, hops: int
) -> list[_Addressed]:
    """A person's message: those mentioned, answered, or set to `always` (`chats.services.waking` says who is at first).

    An agent's message: those it mentions, and nobody beyond `MAX_HOPS`.
    """
    agents = [participant for participant in _AGENTS_OF.all(chat.id) if participant.actor_id != author.id]
    answered_id = answered.author_id if answered else None
    if author.is_agent:
        chosen = [participant for participant in agents if participant.actor_id in mentioned]
    else:
        chosen = [
            participant
            for participant in agents
            if participant.actor_id in mentioned
            or participant.actor_id == answered_id
            or participant.wake == Wake.ALWAYS
        ]
    return [_Addressed(participant.actor, _hindrance(participant.actor, hops)) for participant in chosen]


def _hindrance(agent: Actor, hops: int) -> Literal["suspended", "taken_down", "too_many_hops"] | None:
    if agent.taken_down_at is not None:
        return "taken_down"
    if agent.status != AgentStatus.READY:
        return "suspended"
    return "too_many_hops" if hops > MAX_HOPS else None


def _run(chat: Chat, agent: Actor, message: Message, cause: Run | None, hops: int) -> Run:
    """Build the run of a woken agent. It works for the person who spoke, else for whom the agent that spoke (`cause`)
    worked; who set it off is found the same way."""
    author = message.author
    assert author is not None
    person_id = author.id if author.is_human else None
    run = Run(
        workspace_id=chat.workspace_id,
        chat=chat,
        agent=agent,
        origin="wake",
        concurrency_key=build_concurrency_key(agent.id, chat.id),
        trigger_id=message.id,
        hops=hops,
        root_id=cause.tree_id if cause else None,
        payer_id=chat.workspace_id,
        on_behalf_of_id=person_id or (cause.on_behalf_of_id if cause else None),
        triggered_by_id=person_id or (cause.triggered_by_id if cause else None),
        dispatched_at=now(),
    )
    run.trigger = message
    dispatch_run(run)
    return run


def _at_work(chat: Chat, agent_ids: Sequence[UUID]) -> set[UUID]:
    concurrency_keys = [build_concurrency_key(agent_id, chat.id) for agent_id in agent_ids]
    runs = Run.objects.filter(concurrency_key__in=concurrency_keys, state__in=[RunState.RUNNING, RunState.QUEUED])
    return set(runs.values_list("agent_id", flat=True))
