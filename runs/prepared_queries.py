"""The prepared queries of runs: those of each message, each claim and each step (ADR 0011)."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    TextField,
    Value,
    When,
    Window,
)
from django.db.models.fields.json import KT, KeyTextTransform
from django.db.models.functions import Cast, Coalesce, JSONObject, Now

from actors.models import Actor, Kind
from agents.models import Draft
from chats.models import IS_SPOKEN, SPOKEN_TYPES, ChatActor, Message
from chats.permissions import build_may_post
from common.json_rows import build_row_json
from common.prepared_query import PreparedQuery, is_any_of
from common.sql_constant import SqlConstant
from context.earlier import TOKENS_PER_MESSAGE
from context.log_entries import LOG_COLUMNS
from llm.prepared_queries import build_settings_expression
from memory.prepared_queries import build_has_notes
from runs.models import NOT_ENDED, Run, RunOrigin, RunState, Step
from tools.prepared_queries import build_policies_expression
from usage.rules import build_rules_expression
from workspaces.models import Membership

MAX_ROWS = 600
"""Messages of a chat that are read for a conversation. Its budget of tokens is usually used up before."""
MAX_PARTICIPANTS_READ = 100
"""Participants whose names a model reads: the first who joined. A chat may have twice as many."""
LOG_TYPES = ("TEXT_MESSAGE", "FILE_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "COMPARISON", "AGENT_WOKEN")


IS_USED = Q(is_unused=False)


def _query_agents_of_chat(chat_id: UUID) -> QuerySet[ChatActor]:
    drafts = Draft.objects.filter(chat=OuterRef("chat"), agent=OuterRef("actor"), ended_at=None)
    in_this_chat = Value("chat", output_field=TextField())
    answering = Coalesce(
        Subquery(drafts.values(memory=KeyTextTransform("memory", "applied__content"))[:1]),
        KeyTextTransform("memory", "actor__current_spec__content"),
        in_this_chat,
    )
    agents = ChatActor.objects.filter(chat_id=chat_id, ended_at=None, actor__kind=Kind.AGENT).annotate(
        memory_scope=Case(When(actor__is_public=True, then=in_this_chat), default=answering)
    )
    return agents.select_related("actor").order_by("joined_at", "pk")


AGENTS_OF_CHAT = PreparedQuery(_query_agents_of_chat, UUID)
"""The agents of a chat. `memory_scope`: that of the spec that answers there."""


def list_claimable_runs() -> QuerySet[Run]:
    """Return the queued runs that may start, and whose concurrency key has no active run."""
    active = [RunState.RUNNING, RunState.WAITING_CHILD]
    busy = Run.objects.filter(concurrency_key=OuterRef("concurrency_key"), state__in=active)
    may_start = Q(retry_at=None) | Q(retry_at__lte=Now())
    return Run.objects.filter(~Exists(busy), may_start, state=SqlConstant(RunState.QUEUED))


def _query_first(runs: QuerySet[Run, Any]) -> QuerySet[Run]:
    """Return the oldest run, with the fields that are needed before its chat is locked. The claim then reads the run again."""
    fields = ("kind", "chat_id", "attempt", "crashes", "workspace_id", "path")
    needed = runs.only(*fields, "agent__kind", "on_behalf_of__kind")
    return needed.select_related("agent", "on_behalf_of").order_by("pk")[:1]


def _query_next_of_same_key(run_id: UUID) -> QuerySet[Run]:
    key = Run.objects.filter(pk=run_id, state=RunState.QUEUED).values("concurrency_key")[:1]
    return _query_first(list_claimable_runs().filter(concurrency_key=Subquery(key)))


def _query_queued_siblings(run_ids: list[UUID]) -> QuerySet[Run]:
    """Return those of these runs of tasks that are queued and have not been claimed before."""
    return Run.objects.filter(
        is_any_of("pk", run_ids), state=RunState.QUEUED, attempt=0, retry_at=None, origin=RunOrigin.TASK
    ).select_related("agent", "on_behalf_of")


def _query_participants(chat: Any) -> QuerySet[ChatActor, Any]:
    roles = Membership.objects.filter(workspace=OuterRef("chat__workspace"), actor=OuterRef("actor")).values("role")[:1]
    participants = ChatActor.objects.filter(chat=chat, ended_at=None).order_by("joined_at", "pk")
    facts = {name: f"actor__{name}" for name in ("id", "name", "handle", "kind")}
    return participants.values_list(JSONObject(**facts, role=Subquery(roles)))[:MAX_PARTICIPANTS_READ]


def _query_oldest_claimed_run(run_id: UUID) -> QuerySet[Run]:
    key = Run.objects.filter(pk=run_id, state=RunState.QUEUED).values("concurrency_key")[:1]
    runs = _query_claimed_runs(list_claimable_runs().filter(concurrency_key=Subquery(key)))
    participants = ArraySubquery(_query_participants(OuterRef("chat_id")))
    may_post = build_may_post("chat_id", "agent_id", "on_behalf_of_id")
    return runs.select_related("chat__workspace").annotate(may_post=may_post, participants=participants).order_by("pk")


def _query_claimed_runs(runs: QuerySet[Run]) -> QuerySet[Run]:
    participants = ChatActor.objects.filter(chat=OuterRef("chat"), actor=OuterRef("agent"))
    drafts = Draft.objects.filter(chat=OuterRef("chat"), agent=OuterRef("agent"), ended_at=None, applied__isnull=False)
    others = Run.objects.filter(
        concurrency_key=OuterRef("concurrency_key"),
        chat=OuterRef("chat"),
        origin=RunOrigin.WAKE,
        state=RunState.QUEUED,
        attempt=0,
    ).exclude(pk=OuterRef("pk"))
    return runs.select_related("agent__current_spec", "agent__parent", "on_behalf_of").annotate(
        participant=Subquery(participants.values(json=build_row_json(ChatActor))[:1]),
        usage_rules=build_rules_expression("payer"),
        has_notes=build_has_notes("agent"),
        has_applied_draft=Exists(drafts),
        has_other_queued_runs=Exists(others),
        model_settings=build_settings_expression("workspace"),
        tool_policies=build_policies_expression("workspace"),
    )


NEXT_OF_SAME_KEY = PreparedQuery(_query_next_of_same_key, UUID)
"""The oldest claimable run of the concurrency key of the run with this id."""
NEXT_OF_KEY = PreparedQuery(lambda key: _query_first(list_claimable_runs().filter(concurrency_key=key)), str)
QUEUED_SIBLINGS = PreparedQuery(_query_queued_siblings, list[UUID])
RUNS_TO_CLAIM = PreparedQuery(
    lambda ids: _query_claimed_runs(Run.objects.filter(is_any_of("pk", ids))).order_by("pk"), list[UUID]
)
RUN_TO_CLAIM = PreparedQuery(lambda id: _query_claimed_runs(Run.objects.filter(pk=id)), UUID)
"""A run with its agent, the agent's production version and the run's person. `participant`: the row of the agent in the
chat; `usage_rules`: budgets and prices; `has_notes`: whether the agent has notes; `has_applied_draft`: whether a draft of the agent
is applied in the chat; `has_other_queued_runs`: whether its key has other runs in the chat that were never claimed."""
NEXT_OF_SAME_KEY_TO_CLAIM = PreparedQuery(_query_oldest_claimed_run, UUID)
"""The oldest claimable run of the concurrency key of the run with this id, as `RUN_TO_CLAIM` returns it, with its chat.
`may_post`: whether its agent and its person may post there, by their roles alone; `participants`: those of the chat, as
`PARTICIPANTS_OF_CHAT` returns them."""


def _prepare_attempt(adapt: Callable[[QuerySet[Run]], QuerySet[Run]]) -> PreparedQuery[Run]:
    """Return the query for a running run by its id, attempt and lease owner."""

    def query(id: UUID, attempt: int, owner: str) -> QuerySet[Run]:
        return adapt(Run.objects.filter(pk=id, attempt=attempt, lease_owner=owner, state=RunState.RUNNING))

    return PreparedQuery(query, UUID, int, str)


def _query_answered_queued_runs(concurrency_key: str, chat_id: UUID, read_to: int) -> QuerySet[Run]:
    queued = Run.objects.filter(
        concurrency_key=concurrency_key, origin=RunOrigin.WAKE, state=RunState.QUEUED, attempt=0
    )
    return queued.filter(chat_id=chat_id, trigger_seq__lte=read_to)


ATTEMPT = _prepare_attempt(lambda runs: runs)
ATTEMPTS = PreparedQuery(lambda ids: Run.objects.filter(is_any_of("pk", ids), state=RunState.RUNNING), list[UUID])
LOCKED_ATTEMPT = _prepare_attempt(lambda runs: runs.select_for_update(no_key=True))
ATTEMPT_TO_END = _prepare_attempt(lambda runs: runs.select_related("agent", "chat__workspace", "stopped_by"))
ATTEMPT_OF_JOB = _prepare_attempt(lambda runs: runs.select_related("agent", "on_behalf_of", "stopped_by"))
ANSWERED_QUEUED_RUNS = PreparedQuery(_query_answered_queued_runs, str, UUID, int)


def _query_newest(rows: QuerySet[Message], max_bytes: int, max_tokens: int) -> QuerySet[Message, Any]:
    """Return the newest of these messages in one statement, until they have `max_tokens` tokens together, by the estimates that
    are stored, or their payloads `max_bytes` bytes."""
    newest = Message.objects.filter(pk__in=rows.order_by("-seq").values("pk")[:MAX_ROWS])
    bytes_before = Window(Sum("payload_bytes"), order_by=F("seq").desc()) - F("payload_bytes")
    size = Coalesce("tokens", F("payload_bytes") / 4) + TOKENS_PER_MESSAGE
    tokens_before = Window(Sum(size), order_by=F("seq").desc()) - size
    fitting = newest.annotate(bytes_before=bytes_before, tokens_before=tokens_before).filter(
        bytes_before__lt=max_bytes, tokens_before__lt=max_tokens
    )
    return fitting.order_by("-seq").values_list(*LOG_COLUMNS)


def list_log(agent_id: UUID, chat_id: UUID, max_bytes: int, max_tokens: int, *conditions: Q) -> QuerySet[Message, Any]:
    """Return the messages of the chat and the tool calls of this agent, the newest first, without those of sub-agents.
    `conditions`: which ones; by default all but those of answers that are not in use."""
    is_read = Q(type__in=("TEXT_MESSAGE", "FILE_MESSAGE", "COMPARISON", "AGENT_WOKEN")) | Q(author_id=agent_id)
    log = Message.objects.filter(is_read, chat_id=chat_id, type__in=LOG_TYPES, metadata__isnull=True)
    log = log.filter(*conditions or (IS_USED,))
    return _query_newest(log, max_bytes, max_tokens)


def _query_new_messages(
    chat_id: UUID, agent_id: UUID, max_bytes: int, max_tokens: int, since: int
) -> QuerySet[Message, Any]:
    rows = (
        Message.objects.filter(
            chat_id=chat_id, seq__gt=since, type__in=(*SPOKEN_TYPES, "AGENT_WOKEN"), metadata__isnull=True
        )
        .filter(IS_USED)
        .exclude(author_id=agent_id)
    )
    return _query_newest(rows, max_bytes, max_tokens)


def list_changed_messages(run: Run, max_bytes: int, max_tokens: int) -> QuerySet[Message, Any]:
    """Return the messages of other authors that were edited or deleted after a run had read them, the newest first, without those
    of answers that are not in use, which it has not read."""
    rows = Message.objects.filter(IS_USED, pk__in=run.changed_ids, chat_id=run.get_chat_id())
    return _query_newest(rows.exclude(author_id=run.agent_id), max_bytes, max_tokens)


def _query_spoken_messages(chat_id: UUID, since: int) -> QuerySet[Message]:
    rows = Message.objects.filter(IS_SPOKEN, chat_id=chat_id, seq__gt=since, deleted_at=None)
    facts = {"kind": F("author__kind"), "replied_author_id": F("reply_to__author_id")}
    payload = {"mentions": F("payload__mentions"), "wake": F("payload__wake")}
    return rows.only("seq", "author_id").annotate(**facts, **payload).order_by("-seq")[:MAX_ROWS]


LOG = PreparedQuery(list_log, UUID, UUID, int, int)
NEW_MESSAGES = PreparedQuery(_query_new_messages, UUID, UUID, int, int, int)
SPOKEN_MESSAGES = PreparedQuery(_query_spoken_messages, UUID, int)
"""The messages of people and agents after a `seq`, the newest first, with the facts by which they address an agent."""
PARTICIPANTS_OF_CHAT: PreparedQuery[ChatActor] = PreparedQuery(_query_participants, UUID)
"""The participants whose names a model reads, as JSON (`parse_participant`)."""
ACTORS = PreparedQuery(lambda ids: Actor.objects.filter(is_any_of("pk", ids)), list[UUID])


# --- what a run has done, and its sub-agents ------------------------------------------------------------------------

MESSAGES_OF_RUN: PreparedQuery[Message] = PreparedQuery(
    lambda run_id: Message.objects.filter(run_id=run_id, type__in=LOG_TYPES).order_by("seq").values_list(*LOG_COLUMNS),
    UUID,
)
CALLS_OF_RUN: PreparedQuery[Message] = PreparedQuery(
    lambda run_id: Message.objects.filter(run_id=run_id, type="TOOL_CALL").order_by("seq").values_list("payload"), UUID
)
PROVIDER_FIELDS: PreparedQuery[Step] = PreparedQuery(
    lambda run_id: Step.objects.filter(run=run_id, kind="llm", result__has_key="provider_fields").values_list(
        "number", "result"
    ),
    UUID,
)
"""The answers of a run to which providers attached something: step, and the step's result."""
TOOL_STEPS = PreparedQuery(lambda run_id: Step.objects.filter(run=run_id, kind="tool"), UUID)


def _query_locked_steps(run_id: UUID, call_ids: list[str]) -> QuerySet[Step]:
    steps = Step.objects.filter(is_any_of("call_id", call_ids, of=CharField), run=run_id, kind="tool")
    return steps.select_for_update(no_key=True)


LOCKED_STEPS = PreparedQuery(_query_locked_steps, UUID, list[str])


def _query_started_calls(run_id: UUID, tree_id: UUID) -> QuerySet[Step, Any]:
    """Return one row, or none: how many calls other runs of the tree, and how many writing calls this run has started."""
    tree = Run.objects.filter(Q(pk=tree_id) | Q(root=tree_id))
    is_own = Q(run=run_id)
    counted = (
        Step.objects.filter(run__in=tree, kind="tool")
        .values("kind")
        .annotate(of_other_runs=Count("pk", filter=~is_own), writing=Count("pk", filter=is_own & ~Q(effect="read")))
    )
    return counted.values_list("of_other_runs", "writing")


STARTED_CALLS: PreparedQuery[Step] = PreparedQuery(_query_started_calls, UUID, UUID)
SUB_AGENTS_OF_TREE: PreparedQuery[Run] = PreparedQuery(
    lambda tree_id: Run.objects.filter(root=tree_id, parent__isnull=False).values_list("parent", "call_id", "state"),
    UUID,
)


def _query_waiting_callers(ids: list[UUID], ended_ids: list[UUID]) -> QuerySet[Run]:
    """Return those of these runs that wait for sub-agents, but for none besides those that have ended."""
    others = Run.objects.filter(parent=OuterRef("pk"), state__in=NOT_ENDED).exclude(is_any_of("pk", ended_ids))
    callers = Run.objects.filter(is_any_of("pk", ids), ~Exists(others), state=RunState.WAITING_CHILD)
    return callers.select_related("agent")


WAITING_CALLERS = PreparedQuery(_query_waiting_callers, list[UUID], list[UUID])


def _query_sub_agents_of_step(caller_id: UUID, step: int) -> QuerySet[Run]:
    calls = Message.objects.filter(run_id=caller_id, type="TOOL_CALL").annotate(call=KT("payload__call_id"))
    of_step = calls.alias(step=Cast(KT("payload__step"), IntegerField())).filter(step=step)
    return Run.objects.filter(parent=caller_id, call_id__in=of_step.values("call"))


SUB_AGENTS_OF_STEP = PreparedQuery(_query_sub_agents_of_step, UUID, int)


def _query_ended_sub_agents(caller_id: UUID, call_ids: list[str]) -> QuerySet[Run]:
    called = Run.objects.filter(is_any_of("call_id", call_ids, of=CharField), parent=caller_id)
    return called.exclude(state__in=NOT_ENDED).select_related("agent")


ENDED_SUB_AGENTS = PreparedQuery(_query_ended_sub_agents, UUID, list[str])


def _query_last_texts(run_ids: list[UUID]) -> QuerySet[Message]:
    texts = Message.objects.filter(is_any_of("run_id", run_ids), type="TEXT_MESSAGE")
    return texts.order_by("run_id", "-seq").distinct("run_id")


LAST_TEXTS = PreparedQuery(_query_last_texts, list[UUID])
"""The last text of each of these runs."""
