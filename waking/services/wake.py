"""Find the agents that a message wakes, when it is posted and, as a preview for the composer, before that."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from actors.models import Actor, AgentStatus
from agents.models import AgentSpec
from agents.selectors import find_answering_specs, find_team_sizes, get_content
from agents.services.allowed_tools import has_reading_tool
from boards.services.estimates import estimate_board_of
from chats import services as chats
from chats.addressing import is_addressed
from chats.hooks import MessageChange
from chats.models import SPOKEN_TYPES, Chat, Message, VersionedRow
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from events.payloads import TEXT_KINDS, FileKind, MemoryScope
from events.rows import ResponseMode
from files.agent_tools import READ_FILE
from files.models import File
from llm.endpoints import StoredSettings, build_keyless_endpoint, predict_model_choice
from llm.messages import ModelRequest
from llm.prices import can_see_images
from runs.hooks import agents_woken_outside
from runs.models import Run, RunState, Step, build_concurrency_key
from runs.prepared_queries import AGENTS_OF_CHAT
from runs.runtime.answered_messages import find_wake_cause
from tools.selectors import get_policies
from usage.owners import Amounts, ResolvedModel
from usage.rules import NO_RULES, predict_model, read_rules
from usage.selectors import compute_free_amounts
from usage.services.reservations import estimate_max_usage, shorten_answer
from waking.acknowledgements import is_acknowledgement
from waking.services.limits import MAX_AGENT_HOPS, build_limit_message, find_agents_woken_too_often

Effect = Literal["wakes", "joins", "next_step", "next_step_or_after", "after_answer", "after_other_work", "refused"]
Unreadable = Literal["files", "images"]
"""`files`: it lacks the tool that reads texts. `images`: its model cannot see."""
BudgetRefusalReason = Literal["budget_used_up", "price_unknown"]
RefusalReason = (
    Literal["suspended", "taken_down", "never_answers", "too_many_hops", "too_many_wakes", "too_many_wakes_in_day"]
    | BudgetRefusalReason
)


@dataclass(frozen=True)
class WakeEffect:
    """What a message does to one agent.

    `wakes`: a run begins now, or the agent's outside program is notified. `joins`: a run that has not begun yet reads the message.
    `next_step`: the active run reads it at its next step. `after_answer`: the active run is writing its answer, and another run
    answers the message afterwards. `next_step_or_after`: one of these two; it is not known whether the model that is being asked
    calls a tool. `after_other_work`: the agent has one memory for all its chats, and is at work in another chat; a run answers the
    message afterwards. `refused`: the message does not reach the agent.

    `reason` of `refused`: why the message does not reach the agent. `budget_used_up` or `price_unknown` with `wakes`: the run stops
    before it asks a model. `unreadable`: what the agent cannot read of the files that are sent with the message. `team_size`: how
    many agents a supervisor may give tasks to, and `estimate_micro` what its last boards cost, in millionths of a dollar; null if
    there are too few.
    """

    agent_id: UUID
    effect: Effect
    reason: RefusalReason | None = None
    unreadable: tuple[Unreadable, ...] = ()
    team_size: int = 0
    estimate_micro: int | None = None


def wake_agents(chat: Chat, message: Message) -> list[VersionedRow]:
    """Return the rows that a new message adds: a queued run for each agent that it wakes and, if a limit keeps an agent from
    being woken by another, a system message. The caller inserts them with the message. For agents whose program runs outside,
    call the hook `agents_woken_outside` instead.

    A listener of `message_posted`. A run is not inserted when its concurrency key has a queued run in this chat, which will read
    the message. Errors, events, greetings, incomplete messages, acknowledgements of agents and messages with `wake` `nobody` wake
    no agent.
    """
    payload, author = message.payload, message.author
    is_silent = payload.get("wake") == "nobody" or payload.get("incomplete") or payload.get("greeting")
    if message.type not in SPOKEN_TYPES or author is None or is_silent:
        return []
    mentioned = [UUID(str(id)) for id in payload.get("mentions", [])]
    is_addressing = bool(mentioned) or chat.is_between_agents
    if author.is_agent and (not is_addressing or is_acknowledgement(message.text)):
        return []  # no query for most messages of agents
    cause_id = message.run_id or payload.get("sent_by_run_id")
    cause = Run.objects.filter(pk=cause_id).first() if cause_id else None
    agent_hops = cause.agent_hops + 1 if cause else int(author.is_agent)
    is_from_run = cause is not None
    addressed = _find_addressed_agents(chat, author, mentioned, message.reply_to, agent_hops, is_from_run=is_from_run)
    runs = _build_wakes(chat, message, author, cause, agent_hops, addressed)
    return [*runs, *build_limit_message(chat, author, addressed)]


def _build_wakes(
    chat: Chat,
    message: Message,
    author: Actor,
    cause: Run | None,
    agent_hops: int,
    addressed: Sequence[tuple[Actor, MemoryScope, RefusalReason | None]],
) -> list[VersionedRow]:
    """Return the runs of the addressed agents, without those whose wake is refused. For agents whose program runs outside, call
    the hook `agents_woken_outside` instead."""
    runs: list[VersionedRow] = [
        _build_run(chat, agent, memory_scope, message, author, cause, agent_hops)
        for agent, memory_scope, refusal in addressed
        if refusal is None and not agent.runs_outside
    ]
    if outside := [agent for agent, _, refusal in addressed if refusal is None and agent.runs_outside]:
        agents_woken_outside.call(chat, message, [(agent, find_wake_cause(message, agent)) for agent in outside])
    return runs


def wake_added_agents(change: MessageChange) -> list[VersionedRow]:
    """Return the rows that an edit adds for the agents that its author chose to wake (`wake_ids`).

    A listener of `message_changed`.
    """
    author = change.message.author
    if not change.wake_ids or author is None:
        return []
    addressed = [
        found
        for found in _find_addressed_agents(change.chat, author, list(change.wake_ids), None, 0, is_from_run=False)
        if found[0].id in change.wake_ids
    ]
    return _build_wakes(change.chat, change.message, author, None, 0, addressed)


def preview_wakes(
    actor: Actor,
    chat_id: UUID,
    *,
    text: str,
    reply_to: UUID | None = None,
    file_ids: Sequence[UUID] = (),
    cause: Run | None = None,
) -> list[WakeEffect]:
    """Return the effect of a message on each agent that it addresses, in the order of joining. `file_ids`: the files that the actor
    sends with it. `cause`: the run of the agent that posts it. Raises `NotFound`, `Forbidden`."""
    chat = get_chat_for(actor, chat_id, ChatVerb.POST)
    replied_message = Message.objects.filter(pk=reply_to, chat=chat).first() if reply_to else None
    agent_hops = cause.agent_hops + 1 if cause else int(actor.is_agent)
    mentioned, is_from_run = chats.find_mentions(chat, text), cause is not None
    addressed = _find_addressed_agents(chat, actor, mentioned, replied_message, agent_hops, is_from_run=is_from_run)
    reached = [(agent.id, memory_scope) for agent, memory_scope, refusal in addressed if refusal is None]
    active = _find_effects_on_active_runs(chat, reached)
    # What the program of an outside agent reads is not known, and no budget limits it.
    running_here = [agent for agent, _, refusal in addressed if refusal is None and not agent.runs_outside]
    waking = [agent for agent in running_here if agent.id not in active]
    rules = read_rules(chat.workspace_id) if waking else NO_RULES
    kinds = set(File.objects.filter(pk__in=file_ids, uploaded_by=actor).values_list("kind", flat=True))
    specs = find_answering_specs(running_here, chat.id) if kinds or rules["budgets"] else {}
    person = actor if actor.is_human else None
    stored = StoredSettings.of_writer(chat.workspace, person)
    budget_refusals = _find_budget_refusals(chat, person, waking, specs, rules, stored)
    unreadable = _find_unreadable(chat, person, running_here, specs, kinds, stored) if kinds else {}
    teams = find_team_sizes(waking, chat.id) if waking and person else {}
    return [
        WakeEffect(
            agent.id,
            "refused" if refusal else active.get(agent.id, "wakes"),
            refusal or budget_refusals.get(agent.id),
            unreadable.get(agent.id, ()),
            team_size=teams.get(agent.id, 0),
            estimate_micro=estimate_board_of(chat.workspace_id, agent.id) if agent.id in teams else None,
        )
        for agent, _, refusal in addressed
    ]


def _find_unreadable(
    chat: Chat,
    person: Actor | None,
    agents: Sequence[Actor],
    specs: Mapping[UUID, AgentSpec],
    kinds: Collection[str],
    stored: StoredSettings,
) -> dict[UUID, tuple[Unreadable, ...]]:
    """Return what each agent cannot read of files of these kinds. `specs`: those that answer. `stored`: of the person
    who writes."""
    has_texts = bool(TEXT_KINDS.intersection(kinds))
    policies = get_policies(chat.workspace_id) if has_texts else {}
    found: dict[UUID, tuple[Unreadable, ...]] = {}
    for agent in agents:
        if (spec := specs.get(agent.id)) is None:
            continue
        unreadable: list[Unreadable] = []
        content = get_content(spec)
        if has_texts and not has_reading_tool(content, READ_FILE, policies):
            unreadable.append("files")
        if FileKind.IMAGE in kinds:
            choice = predict_model_choice(chat.workspace, agent, content.model, person, stored=stored)
            if choice is not None and not can_see_images(build_keyless_endpoint(choice), choice.model):
                unreadable.append("images")
        found[agent.id] = tuple(unreadable)
    return found


def _find_effects_on_active_runs(chat: Chat, agents: Sequence[tuple[UUID, MemoryScope]]) -> dict[UUID, Effect]:
    """Return the effect of a message on those of these agents that have a queued or active run: in this chat or, if the agent has
    one memory for all its chats (`MemoryScope`), in any chat. Runs that wait for people are left out: meanwhile their agent
    answers other messages."""
    keys = [build_concurrency_key(agent_id, chat.id, memory_scope) for agent_id, memory_scope in agents]
    calls = Step.objects.filter(run=OuterRef("pk"), kind="tool", state="started")
    active = Run.objects.filter(
        concurrency_key__in=keys, state__in=[RunState.QUEUED, RunState.RUNNING, RunState.WAITING_CHILD]
    ).annotate(has_started_calls=Exists(calls), has_tools=Q(spec__content__tools__contains=[{"is_enabled": True}]))
    effects: dict[UUID, Effect] = {}
    # The last run of an agent counts: one of this chat comes after those of other chats, and an active one after a queued one.
    for run in sorted(active, key=lambda run: (run.chat_id == chat.id, run.state != RunState.QUEUED)):
        effect: Effect = "next_step_or_after"
        if run.chat_id != chat.id:
            effect = "after_other_work"
        elif run.state == RunState.QUEUED:
            effect = "joins"
        elif run.state == RunState.WAITING_CHILD or run.has_started_calls:
            effect = "next_step"
        elif not run.has_tools:
            effect = "after_answer"
        effects[run.agent_id] = effect
    return effects


def _find_addressed_agents(
    chat: Chat,
    author: Actor,
    mentioned: Sequence[UUID],
    replied_message: Message | None,
    agent_hops: int,
    *,
    is_from_run: bool,
) -> list[tuple[Actor, MemoryScope, RefusalReason | None]]:
    """Return the agents that a message addresses, each with the scope of its memory, and the reason why it cannot be woken, or
    null. `is_from_run`: the message was posted by a run of its author, not by a person or an outside program.
    """
    is_like_person = not author.is_agent or chat.is_between_agents
    replied_author_id = replied_message.author_id if replied_message else None
    found: list[tuple[Any, RefusalReason | None]] = []
    participants: list[Any] = AGENTS_OF_CHAT.all(chat.id)
    for participant in participants:
        agent = participant.actor
        if agent.id == author.id or not is_addressed(
            agent.id,
            participant.response,
            is_like_person=is_like_person,
            mentioned=mentioned,
            replied_author_id=replied_author_id,
        ):
            continue
        refusal = find_reason_not_to_wake(agent)
        if refusal is None and participant.response == ResponseMode.NEVER:
            refusal = "never_answers"
        elif refusal is None and agent_hops > MAX_AGENT_HOPS:
            refusal = "too_many_hops"
        found.append((participant, refusal))
    wakeable = [participant.actor for participant, refusal in found if refusal is None] if author.is_agent else []
    limited = find_agents_woken_too_often(chat, author, wakeable, is_from_run=is_from_run)
    return [
        (participant.actor, participant.memory_scope, limited.get(participant.actor_id, refusal))
        for participant, refusal in found
    ]


def find_reason_not_to_wake(agent: Actor) -> RefusalReason | None:
    """Return why nobody can wake this agent, or null."""
    if agent.taken_down_at is not None:
        return "taken_down"
    return "suspended" if agent.status != AgentStatus.READY else None


def find_budget_refusal(chat: Chat, author: Actor, agent: Actor) -> BudgetRefusalReason | None:
    """Return why a budget refuses the next request of the agent for the author, however short the request and its answer are: too
    little is left, or the price of the model is not known. Null if none does.

    It is only a preview: nothing is reserved.
    """
    rules = read_rules(chat.workspace_id)
    if not rules["budgets"]:
        return None
    specs = find_answering_specs([agent], chat.id)
    person = author if author.is_human else None
    stored = StoredSettings.of_writer(chat.workspace, person)
    return _find_budget_refusals(chat, person, [agent], specs, rules, stored).get(agent.id)


def _find_budget_refusals(
    chat: Chat,
    person: Actor | None,
    agents: Sequence[Actor],
    specs: Mapping[UUID, AgentSpec],
    rules: Mapping[str, Any],
    stored: StoredSettings,
) -> dict[UUID, BudgetRefusalReason]:
    """Return the agents whose next request a budget refuses, and why (`find_budget_refusal`). `specs`: those that answer. `stored`:
    of the person who writes."""
    if not rules["budgets"]:
        return {}
    models: dict[UUID, ResolvedModel] = {}
    needed: dict[UUID, Amounts] = {}
    for agent in agents:
        spec = specs.get(agent.id)
        if spec is None:
            continue
        content = get_content(spec)
        model = predict_model(chat.workspace, agent, content.model, person, rules, stored=stored)
        if model is None:
            continue
        models[agent.id] = model
        parameters = content.parameters.model_dump(exclude_none=True)
        shortest = shorten_answer(model, ModelRequest(model.name, [], parameters=parameters))
        needed[agent.id] = estimate_max_usage(model, shortest)
    free = compute_free_amounts({budget for model in models.values() for budget in model.budgets})
    refusals: dict[UUID, BudgetRefusalReason] = {}
    for agent_id, model in models.items():
        if any(budget.refuses_model for budget in model.budgets):
            refusals[agent_id] = "price_unknown"
        elif any(budget in free and not free[budget].covers(needed[agent_id]) for budget in model.budgets):
            refusals[agent_id] = "budget_used_up"
    return refusals


def _build_run(
    chat: Chat,
    agent: Actor,
    memory_scope: MemoryScope,
    message: Message,
    author: Actor,
    cause: Run | None,
    agent_hops: int,
) -> Run:
    """Return the run of a woken agent. It works for the author or, if that is an agent, for the person of its run `cause`."""
    person_id = author.id if author.is_human else None
    run = Run(
        workspace_id=chat.workspace_id,
        chat=chat,
        agent=agent,
        origin="wake",
        concurrency_key=build_concurrency_key(agent.id, chat.id, memory_scope),
        trigger_id=message.id,
        answered_ids=[message.id],
        agent_hops=agent_hops,
        woken_by=author,
        root_id=cause.tree_id if cause else None,
        payer_id=chat.workspace_id,
        on_behalf_of_id=person_id or (cause.on_behalf_of_id if cause else None),
        triggered_by_id=person_id or (cause.triggered_by_id if cause else None),
        dispatched_at=now(),
    )
    run.trigger = message
    return run
