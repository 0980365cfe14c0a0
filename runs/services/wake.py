"""Find the agents that a message wakes, when it is posted and, as a preview for the composer, before that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from actors.models import Actor, AgentStatus
from agents.models import AgentSpec
from chats import services as chats
from chats.models import SPOKEN_TYPES, Chat, Message, Response
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Invalid
from common.ids import new_id
from llm.endpoints import build_keyless_endpoint, choose_model, find_usable_model
from llm.messages import Request
from runs.hot_queries import AGENTS_OF_CHAT
from runs.models import Run, RunState
from runs.runtime.dispatch import dispatch_run
from usage.callers import Caller, ResolvedModel
from usage.rules import read_rules, resolve_model
from usage.selectors import compute_free_amounts
from usage.services.reservations import estimate_max_cost

MAX_AGENT_HOPS = 4
"""How many messages of agents in a row may wake an agent, counted from the message of a person (RUN18)."""

Effect = Literal["wakes", "joins", "refused"]
Reason = Literal["suspended", "taken_down", "never_answers", "too_many_hops", "budget_used_up"]


@dataclass(frozen=True)
class WakeEffect:
    """What a message does to one agent: it wakes the agent, joins (is read by) the active run of the agent, or cannot reach it.

    `reason`: why it cannot reach the agent; or `budget_used_up` if it wakes the agent, whose run will stop before it asks a model.
    """

    agent_id: UUID
    effect: Effect
    reason: Reason | None = None


def build_concurrency_key(agent_id: UUID, chat_id: UUID, reach: str = "chat") -> str:
    """Return the key of an agent's runs in a chat. At most one run of a key is active at a time: an agent whose memory reaches over
    all its chats (`reach`) has one key for all of them."""
    return f"{agent_id}" if reach == "agent" else f"{agent_id}:{chat_id}"


def wake_agents(chat: Chat, message: Message) -> list[Run]:
    """Return the queued runs of a new message, one for each agent that it wakes. The caller inserts them with the message.

    A listener of `message_posted`. A run is not inserted when its concurrency key has a queued run, which will read the message.
    Errors, events, greetings and incomplete messages wake no agent.
    """
    payload, author = message.payload, message.author
    is_silent = payload.get("wake") == "nobody" or payload.get("incomplete") or payload.get("greeting")
    if message.type not in SPOKEN_TYPES or author is None or is_silent:
        return []
    mentioned = [UUID(str(id)) for id in payload.get("mentions", [])]
    if author.is_agent and not mentioned and not chat.is_between_agents:
        return []  # no query for most messages of agents
    cause = Run.objects.filter(pk=message.run_id).first() if message.run_id else None
    agent_hops = cause.agent_hops + 1 if cause else int(author.is_agent)
    addressed = _find_addressed_agents(chat, author, mentioned, message.reply_to, agent_hops)
    runs = [
        _build_run(chat, agent, reach, message, author, cause, agent_hops)
        for agent, reach, refusal in addressed
        if refusal is None
    ]
    for run in runs:
        dispatch_run(run)
    return runs


def preview_wakes(actor: Actor, chat_id: UUID, *, text: str, reply_to: UUID | None = None) -> list[WakeEffect]:
    """Return the effect of a message on each agent that it addresses, in the order of joining. Raises `NotFound`, `Forbidden`."""
    chat = get_chat_for(actor, chat_id, ChatVerb.POST)
    answered = Message.objects.filter(pk=reply_to, chat=chat).first() if reply_to else None
    addressed = _find_addressed_agents(
        chat, actor, chats.find_mentions(chat, text), answered, agent_hops=int(actor.is_agent)
    )
    keys = [build_concurrency_key(agent.id, chat.id, reach) for agent, reach, _ in addressed]
    active = Run.objects.filter(
        chat=chat, concurrency_key__in=keys, state__in=[RunState.RUNNING, RunState.WAITING_CHILD, RunState.QUEUED]
    )
    active_ids = set(active.values_list("agent_id", flat=True))
    waking = [agent for agent, _, refusal in addressed if refusal is None and agent.id not in active_ids]
    limited_ids = _find_agents_without_budget(chat, actor, waking) if waking else set()
    effects: list[WakeEffect] = []
    for agent, _, refusal in addressed:
        reached: Effect = "joins" if agent.id in active_ids else "wakes"
        reason: Reason | None = refusal or ("budget_used_up" if agent.id in limited_ids else None)
        effects.append(WakeEffect(agent.id, "refused" if refusal else reached, reason))
    return effects


def _find_addressed_agents(
    chat: Chat, author: Actor, mentioned: Sequence[UUID], answered: Message | None, agent_hops: int
) -> list[tuple[Actor, str, Reason | None]]:
    """Return the agents that a message addresses, each with the reach of its memory, and the reason why it cannot be woken, or
    null.

    A person's message addresses the agents that it mentions or answers and those set to `always`; an agent's message those that it
    mentions. In a chat between agents a message of one addresses the other as a person's would.
    """
    answered_id = answered.author_id if answered else None
    found: list[tuple[Actor, str, Reason | None]] = []
    participants: list[Any] = AGENTS_OF_CHAT.all(chat.id)
    for participant in participants:
        agent = participant.actor
        is_addressed = agent.id in mentioned
        if not author.is_agent or chat.is_between_agents:
            is_addressed = is_addressed or agent.id == answered_id or participant.response == Response.ALWAYS
        if agent.id == author.id or not is_addressed:
            continue
        refusal: Reason | None = None
        if agent.taken_down_at is not None:
            refusal = "taken_down"
        elif agent.status != AgentStatus.READY:
            refusal = "suspended"
        elif participant.response == Response.NEVER:
            refusal = "never_answers"
        elif agent_hops > MAX_AGENT_HOPS:
            refusal = "too_many_hops"
        found.append((agent, participant.reach, refusal))
    return found


def _find_agents_without_budget(chat: Chat, author: Actor, agents: Sequence[Actor]) -> set[UUID]:
    """Return the agents whose next request for the author is refused by a budget, however short the request is.

    It is a preview by the newest versions: nothing is reserved, and the text of an applied draft may name another model.
    """
    rules = read_rules(chat.workspace_id)
    if not rules["budgets"]:
        return set()
    specs = AgentSpec.objects.in_bulk([agent.current_spec_id for agent in agents if agent.current_spec_id])
    person = author if author.is_human else None
    models: dict[UUID, ResolvedModel] = {}
    needed: dict[UUID, int] = {}
    for agent in agents:
        spec = specs.get(agent.current_spec_id)
        if spec is None:
            continue
        try:
            # Of a public agent the default model answers if its own cannot be had here.
            named = find_usable_model(chat.workspace, spec.model, person) if agent.is_public else spec.model
            choice = choose_model(chat.workspace, named, person)
        except Invalid:
            continue  # the run fails for this reason before it reaches a budget
        caller = Caller(chat.workspace_id, author.id, tree_id=new_id(), agent_id=agent.id)
        models[agent.id] = resolve_model(build_keyless_endpoint(choice), choice.model, caller, rules)
        needed[agent.id] = estimate_max_cost(models[agent.id], Request(choice.model, [], parameters=spec.parameters))
    free = compute_free_amounts({budget for model in models.values() for budget in model.budgets})
    return {
        agent_id
        for agent_id, model in models.items()
        if any(free.get(budget, needed[agent_id]) < max(needed[agent_id], 1) for budget in model.budgets)
    }


def _build_run(
    chat: Chat, agent: Actor, reach: str, message: Message, author: Actor, cause: Run | None, agent_hops: int
) -> Run:
    """Return the run of a woken agent. It works for the author or, if that is an agent, for the person of its run `cause`."""
    person_id = author.id if author.is_human else None
    run = Run(
        workspace_id=chat.workspace_id,
        chat=chat,
        agent=agent,
        origin="wake",
        concurrency_key=build_concurrency_key(agent.id, chat.id, reach),
        trigger_id=message.id,
        agent_hops=agent_hops,
        root_id=cause.tree_id if cause else None,
        payer_id=chat.workspace_id,
        on_behalf_of_id=person_id or (cause.on_behalf_of_id if cause else None),
        triggered_by_id=person_id or (cause.triggered_by_id if cause else None),
        dispatched_at=now(),
    )
    run.trigger = message
    return run
