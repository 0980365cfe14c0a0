"""What a run did, and why: its cause, its figures, and its parts in the order of time."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Literal
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from actors.models import Actor
from agents.models import Draft
from agents.permissions import AgentVerb, get_agent_for
from agents.selectors import get_content
from approvals.models import Approval
from chats.models import IS_SPOKEN, SPOKEN_TYPES, ChatActor, Message
from chats.permissions import ChatVerb, get_chat_for, list_readable_chats
from chats.prepared_queries import MAX_UNREAD_MESSAGES, CountRows
from chats.selectors import load_titles
from common.clock import now
from common.errors import Forbidden, NotFound
from events.payloads import Stamp
from inspector.rows import (
    FreeAmountRow,
    InspectedRunRow,
    MonthRow,
    RunInspectionRow,
    TimelineRow,
    ViewpointChatRow,
    ViewpointRow,
    Why,
)
from llm.endpoints import build_keyless_endpoint, choose_model
from runs.kinds import get_kind
from runs.kinds.chat import COMPARISON, OTHER_ANSWER
from runs.models import NOT_ENDED, Run, RunOrigin, RunState, Step
from runs.permissions import get_run_for
from runs.runtime.ledger import build_usage_owner
from runs.selectors import count_runs_ahead
from usage.models import Budget, LLMCall
from usage.rules import read_rules, resolve_model
from usage.selectors import compute_free_amounts

RunStateFilter = Literal["all", "active", "completed", "failed", "stopped"]
MAX_SUB_AGENT_RUNS = 200
"""Runs of sub-agents in a timeline."""
MAX_EXCERPT_CHARACTERS = 160
MAX_READ_MESSAGES = 100
"""Messages in a timeline that a run read besides the one that woke it."""
MONTH = timedelta(days=30)
MAX_TIMED_RUNS = 1000
"""Runs from which the typical time is computed."""


def list_runs_of_agent(
    actor: Actor, agent_id: UUID, *, chat_id: UUID | None = None, outcome: RunStateFilter = "all"
) -> QuerySet[Run]:
    """Return the runs of an agent in chats that the actor may see. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE)
    chats: Any = list_readable_chats(actor).values("pk")
    if chat_id is not None:
        chats = chats.filter(pk=get_chat_for(actor, chat_id, ChatVerb.SEE).pk)
    runs = Run.objects.filter(agent=agent, chat__in=chats).select_related("chat", "agent", "on_behalf_of")
    if outcome == "active":
        return runs.filter(state__in=NOT_ENDED)
    return runs if outcome == "all" else runs.filter(state=outcome)


def build_inspected_run_rows(reader: Actor, runs: Sequence[Run]) -> list[InspectedRunRow]:
    """Return the rows of runs in a list, by one query for all their messages and two for titles."""
    load_titles(reader, [run.get_chat() for run in runs])
    ids = {run.trigger_id for run in runs if run.trigger_id}
    triggers = Message.objects.filter(pk__in=ids).select_related("author", "reply_to").in_bulk()
    rows: list[InspectedRunRow] = []
    for run in runs:
        trigger = triggers.get(run.trigger_id) if run.trigger_id else None
        person = _get_waker(run, trigger)
        rows.append(
            InspectedRunRow(
                run=run.to_row(),
                chat_title=run.get_chat().shown_title,
                why=find_why(run, trigger),
                person=person.to_row() if person else None,
                seconds=_compute_seconds(run),
                cost_micro=run.cost_micro,
            )
        )
    return rows


def find_why(run: Run, trigger: Message | None) -> Why:
    """Return why a run was started. `trigger`: the message that it answers, with `reply_to`."""
    kind = get_kind(run)
    if kind is COMPARISON:
        return "comparison"
    if not kind.is_participant and kind is not OTHER_ANSWER:
        return "task"
    if run.origin in (RunOrigin.RETRY, RunOrigin.OTHER_ANSWER):
        return "retry"
    if trigger is None:
        return "message"
    if trigger.type == "AGENT_WOKEN":
        return "schedule" if trigger.payload.get("reason") == "schedule" else "hand"
    if str(run.agent_id) in {str(id) for id in trigger.payload.get("mentions", [])}:
        return "mention"
    if trigger.reply_to is not None and trigger.reply_to.author_id == run.agent_id:
        return "reply"
    return "message"


def get_run_inspection(actor: Actor, run_id: UUID) -> RunInspectionRow:
    """Return what a run did, and why. Everybody who may read its chat may read it. Raises `NotFound`."""
    run = get_run_for(actor, run_id, ChatVerb.SEE)
    load_titles(actor, [run.get_chat()])
    triggers = Message.objects.select_related("author", "reply_to").filter(chat=run.chat_id)
    trigger = triggers.filter(pk=run.trigger_id).first() if run.trigger_id else None
    person = _get_waker(run, trigger)
    participant = ChatActor.objects.filter(chat=run.chat_id, actor=run.agent_id, ended_at=None).first()
    calls = _list_model_calls([run])
    first_token = next((call.first_token_ms for call in calls if call.first_token_ms is not None), None)
    last = calls[-1] if calls else None
    stamp = Stamp.model_validate(run.stamp) if run.stamp else None
    read = _list_read_messages(run)
    return RunInspectionRow(
        run=run.to_row(),
        agent=run.agent.to_row(),
        chat_title=run.get_chat().shown_title,
        why=find_why(run, trigger),
        person=person.to_row() if person else None,
        on_behalf_of=run.on_behalf_of.to_row() if run.on_behalf_of else None,
        message_id=trigger.id if trigger else None,
        excerpt=str(trigger.payload.get("text", ""))[:MAX_EXCERPT_CHARACTERS] if trigger else "",
        response=participant.response if participant else None,
        read_messages=sum(message.type in SPOKEN_TYPES for message in read),
        stamp=stamp,
        provider=last.provider if last else "",
        model=last.model if last else "",
        paid_by=last.paid_by if last else "",
        payer_name=last.on_behalf_of.name if last and last.paid_by == "person" and last.on_behalf_of else "",
        budgets=_list_free_amounts(actor, run),
        seconds=_compute_seconds(run),
        queued_seconds=(run.started_at - run.created_at).total_seconds() if run.started_at else None,
        waited_seconds=run.waited_seconds,
        first_token_seconds=None if first_token is None else first_token / 1000,
        calls=len(calls),
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        cost_micro=run.cost_micro,
        runs_ahead=count_runs_ahead(run),
        may_read_requests=_may_read_requests(actor, run),
        timeline=_build_timeline(run, trigger, read),
    )


def _may_read_requests(actor: Actor, run: Run) -> bool:
    try:
        get_chat_for(actor, run.get_chat_id(), ChatVerb.READ_REQUESTS)
    except (Forbidden, NotFound):
        return False
    return True


def _get_waker(run: Run, trigger: Message | None) -> Actor | None:
    """Return whose message woke the agent or, if no message of an author did, whom the run works for."""
    if run.origin != RunOrigin.WAKE or trigger is None:
        return run.on_behalf_of
    return trigger.author or run.on_behalf_of


def _compute_seconds(run: Run) -> float | None:
    if run.started_at is None or run.ended_at is None:
        return None
    return max(0.0, (run.ended_at - run.started_at).total_seconds() - run.waited_seconds)


def _list_model_calls(runs: Iterable[Run]) -> list[Any]:
    calls = LLMCall.objects.filter(run_id__in=[run.id for run in runs]).select_related("on_behalf_of")
    return list(calls.annotate(has_request=Q(request__isnull=False)).order_by("pk"))


def _list_read_messages(run: Run) -> list[Message]:
    """Return the messages of others that a run read after the one that woke it, and the `AGENT_WOKEN` messages of its agent.
    Messages of sub-agents, which have `metadata`, and of answers that are not in use are left out."""
    if not get_kind(run).is_participant:
        return []
    is_wake = Q(type="AGENT_WOKEN", payload__target_id=str(run.agent_id))
    read = Message.objects.filter(
        is_wake | Q(type__in=SPOKEN_TYPES),
        chat=run.chat_id,
        seq__gt=run.trigger_seq,
        seq__lte=run.read_to,
        metadata__isnull=True,
        is_unused=False,
    )
    return list(read.exclude(author=run.agent_id).select_related("author").order_by("seq")[:MAX_READ_MESSAGES])


def _list_free_amounts(actor: Actor, run: Run) -> list[FreeAmountRow]:
    """Return what is left of the budgets that limit the run; nothing unless the actor is its person or may read its requests."""
    is_own = actor.id == run.on_behalf_of_id
    if not is_own and not _may_read_requests(actor, run):
        return []
    rules = read_rules(run.payer_id)
    if not rules["budgets"]:
        return []
    is_reader = partial(get_kind(run).is_reader, run)
    choice = choose_model(
        run.get_chat().workspace, get_content(run.spec).model if run.spec else "", run.on_behalf_of, is_reader=is_reader
    )
    model = resolve_model(build_keyless_endpoint(choice), choice.model, build_usage_owner(run), rules)
    free = compute_free_amounts(model.budgets)
    limits = Budget.objects.in_bulk([budget.id for budget in free])
    return [
        FreeAmountRow(
            scope=limits[budget.id].scope,
            period=budget.period,
            free_micro=None if amounts.micro is None else max(0, amounts.micro),
            limit_micro=limits[budget.id].limit_micro,
            free_tokens=None if amounts.tokens is None else max(0, amounts.tokens),
            limit_tokens=limits[budget.id].limit_tokens,
        )
        for budget, amounts in free.items()
    ]


# --- the parts of a run ---------------------------------------------------------------------------------------------


def _build_timeline(run: Run, trigger: Message | None, read: Sequence[Message]) -> list[TimelineRow]:
    author = trigger.author if trigger else None
    rows = [
        TimelineRow(
            kind="woke",
            run_id=run.id,
            depth=0,
            at=run.created_at,
            person=author.to_row() if author else None,
            seconds=(run.started_at - run.created_at).total_seconds() if run.started_at else None,
            message_id=trigger.id if trigger else None,
        ),
        *_build_rows_with_sub_agents(run),
        *_build_rows_of_read_messages(run, read),
    ]
    if run.ended_at is not None:
        answer = Message.objects.filter(run_id=run.id, type="TEXT_MESSAGE").order_by("-seq").first()
        rows.append(
            TimelineRow(
                kind="ended",
                run_id=run.id,
                depth=0,
                at=run.ended_at,
                note=run.state,
                error_code=run.error_code,
                message_id=answer.id if answer else None,
            )
        )
    order = ("woke", "read", "sub_agent", "model", "tool", "waited", "ended")
    return sorted(rows, key=lambda row: (row.kind == "ended", row.at, row.depth, order.index(row.kind)))


def _build_rows_with_sub_agents(run: Run) -> Iterator[TimelineRow]:
    """Build the rows of the requests to models, calls of tools, sub-agents and waits for people of a run and its sub-agents."""
    runs = _list_with_sub_agents(run)
    depths = {run.id: 0}
    for child in runs[1:]:
        depths[child.id] = depths.get(child.parent_id or run.id, 0) + 1
    for call in _list_model_calls(runs):
        seconds = None if call.total_ms is None else call.total_ms / 1000
        yield TimelineRow(
            kind="model",
            run_id=call.run_id,
            depth=depths[call.run_id],
            name=call.model,
            at=call.created_at - timedelta(seconds=seconds or 0),
            seconds=seconds,
            number=call.step_number,
            request_id=call.id,
            has_request=call.has_request,
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            cost_micro=call.cost_micro,
            error_code=call.error_code,
        )
    children = {(child.parent_id, child.call_id): child for child in runs[1:]}
    for step in Step.objects.filter(run__in=runs, kind="tool").order_by("started_at", "pk"):
        if (step.run_id, step.call_id) in children:
            continue  # The row of the sub-agent is shown instead.
        yield TimelineRow(
            kind="tool",
            run_id=step.run_id,
            depth=depths[step.run_id],
            name=step.name,
            at=step.started_at,
            seconds=(step.ended_at - step.started_at).total_seconds() if step.ended_at else None,
            number=step.number,
            note=str(step.result.get("status", "")),
        )
    for child in runs[1:]:
        yield TimelineRow(
            kind="sub_agent",
            run_id=child.id,
            depth=depths[child.id] - 1,
            name=child.agent.name,
            at=child.started_at or child.created_at,
            seconds=_compute_seconds(child),
            note=child.state,
            cost_micro=child.cost_micro,
            input_tokens=child.input_tokens,
            output_tokens=child.output_tokens,
            error_code=child.error_code,
        )
    for approval in Approval.objects.filter(run_id__in=list(depths)).select_related("decided_by"):
        ended = approval.decided_at
        yield TimelineRow(
            kind="waited",
            run_id=approval.run_id,
            depth=depths[approval.run_id],
            at=approval.asked_at,
            seconds=(ended - approval.asked_at).total_seconds() if ended else None,
            name=approval.tool,
            note=approval.decision or "",
            person=approval.decided_by.to_row() if approval.decided_by else None,
        )


def _build_rows_of_read_messages(run: Run, read: Sequence[Message]) -> Iterator[TimelineRow]:
    wakes = [message for message in read if message.type == "AGENT_WOKEN"]
    wakers = Actor.objects.in_bulk({message.payload["actor_id"] for message in wakes}) if wakes else {}
    for message in read:
        is_wake = message.type == "AGENT_WOKEN"
        writer = wakers.get(UUID(message.payload["actor_id"])) if is_wake else message.author
        yield TimelineRow(
            kind="read",
            run_id=run.id,
            depth=0,
            at=message.created_at,
            message_id=message.id,
            name=str(message.payload["reason"]) if is_wake else "",
            person=writer.to_row() if writer else None,
            note=str(message.payload.get("text") or message.payload.get("name") or "")[:MAX_EXCERPT_CHARACTERS],
        )


def _list_with_sub_agents(run: Run) -> list[Run]:
    """Return the run, the runs of its sub-agents, those of their sub-agents, and so on. Not the runs that its messages wake."""
    found, parents = [run], [run.id]
    while parents and len(found) < MAX_SUB_AGENT_RUNS:
        children = Run.objects.filter(parent__in=parents).select_related("agent").order_by("pk")
        level = list(children[: MAX_SUB_AGENT_RUNS - len(found)])
        found += level
        parents = [child.id for child in level]
    return found


# --- the viewpoint of an agent --------------------------------------------------------------------------------------


def get_viewpoint(actor: Actor, agent_id: UUID) -> ViewpointRow:
    """Return what an agent sees, as far as this editor may read its chats. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.VIEW_AS_AGENT)
    participants = ChatActor.objects.filter(actor=agent, ended_at=None)
    visible = participants.filter(chat__in=list_readable_chats(actor).values("pk")).select_related("chat")
    spoken = Message.objects.filter(IS_SPOKEN, chat=OuterRef("chat"), deleted_at=None)
    unread = spoken.filter(seq__gt=OuterRef("last_read_seq")).exclude(author=agent)
    count = CountRows(unread.values("pk")[:MAX_UNREAD_MESSAGES])
    working = set(
        Run.objects.filter(agent=agent, state__in=NOT_ENDED, chat__isnull=False).values_list("chat_id", flat=True)
    )
    drafts = Draft.objects.filter(agent=agent, ended_at=None, applied__isnull=False).select_related("applied__author")
    authors = {draft.chat_id: draft.applied.author.name for draft in drafts if draft.applied}
    found: list[Any] = list(visible.annotate(unread=count).order_by("-chat__version", "pk"))
    load_titles(agent, [row.chat for row in found])
    answered = LLMCall.objects.filter(
        agent=agent, chat_id__in=[row.chat_id for row in found], run_id__isnull=False, error_code=""
    )
    last = answered.order_by("-pk").first()
    return ViewpointRow(
        chats=[
            ViewpointChatRow(
                chat_id=row.chat_id,
                title=row.chat.shown_title,
                response=row.response,
                unread=row.unread,
                last_read_seq=row.last_read_seq,
                last_seq=row.chat.version,
                is_working=row.chat_id in working,
                draft_by=authors.get(row.chat_id),
            )
            for row in found
        ],
        hidden_chats=participants.count() - len(found),
        month=_compute_month(agent),
        last_run_id=last.run_id if last else None,
        last_request_id=last.id if last else None,
    )


def _compute_month(agent: Actor) -> MonthRow:
    runs = Run.objects.filter(agent=agent, chat__isnull=False, attempt__gt=0, created_at__gte=now() - MONTH)
    sums = runs.aggregate(
        count=Count("pk"), failed=Count("pk", filter=Q(state=RunState.FAILED)), cost=Coalesce(Sum("cost_micro"), 0)
    )
    ended = runs.filter(state=RunState.COMPLETED, started_at__isnull=False, ended_at__isnull=False)
    times = ended.order_by("-pk").values_list(F("ended_at") - F("started_at"), "waited_seconds")[:MAX_TIMED_RUNS]
    seconds = sorted(took.total_seconds() - waited for took, waited in times)
    typical = seconds[len(seconds) // 2] if seconds else None
    return MonthRow(runs=sums["count"], failed=sums["failed"], typical_seconds=typical, cost_micro=sums["cost"])
