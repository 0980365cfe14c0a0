"""The prepared queries of runs: those of each message, each claim and each step (ADR 0011)."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, Window
from django.db.models.functions import Now

from actors.models import Kind
from chats.models import SPOKEN_TYPES, ChatActor, Message
from common.prepared_query import PreparedQuery
from runs.models import Run, RunState
from usage.rules import build_rules_expression
from workspaces.models import Membership

MAX_ROWS = 600
"""Messages of a chat that are read for a conversation. Its budget of tokens is usually used up before."""
MAX_PARTICIPANTS_READ = 100
"""Participants whose names a model reads: the first who joined. A chat may have twice as many."""
LOG_TYPES = ("TEXT_MESSAGE", "FILE_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "COMPARISON")
LOG_COLUMNS = ("id", "type", "author_id", "payload", "run_id", "reply_to_id")


def _query_agents_of_chat(chat_id: UUID) -> QuerySet[ChatActor]:
    agents = ChatActor.objects.filter(chat_id=chat_id, ended_at=None, actor__kind=Kind.AGENT)
    return agents.select_related("actor").order_by("joined_at", "pk")


AGENTS_OF_CHAT = PreparedQuery(_query_agents_of_chat, UUID)


def list_claimable_runs() -> QuerySet[Run]:
    """Return the queued runs that may start, and whose concurrency key has no active run."""
    active = [RunState.RUNNING, RunState.WAITING_CHILD]
    busy = Run.objects.filter(concurrency_key=OuterRef("concurrency_key"), state__in=active)
    may_start = Q(retry_at=None) | Q(retry_at__lte=Now())
    return Run.objects.filter(~Exists(busy), may_start, state=RunState.QUEUED)


def _query_first(runs: QuerySet[Run, Any]) -> QuerySet[Run]:
    """Return the oldest run, with the fields that are needed before its chat is locked. None of them ever changes."""
    fields = (
        "chat_id", "attempt", "crashes", "stamp", "workspace_id", "agent__kind", "on_behalf_of__kind", "parent_id", "path",
    )  # fmt: skip
    return runs.only(*fields).select_related("agent", "on_behalf_of").order_by("pk")[:1]


def _query_next_of_same_key(run_id: UUID) -> QuerySet[Run]:
    key = Run.objects.filter(pk=run_id, state=RunState.QUEUED).values("concurrency_key")[:1]
    return _query_first(list_claimable_runs().filter(concurrency_key=Subquery(key)))


def _query_claimed_run(run_id: UUID) -> QuerySet[Run]:
    participants = ChatActor.objects.filter(chat=OuterRef("chat"), actor=OuterRef("agent"))
    run = Run.objects.filter(pk=run_id).select_related("agent__current_spec", "on_behalf_of")
    return run.annotate(
        seen=Subquery(participants.values("last_read_seq")[:1]), usage_rules=build_rules_expression("payer")
    )


NEXT_OF_SAME_KEY = PreparedQuery(_query_next_of_same_key, UUID)
"""The oldest claimable run of the concurrency key of the run with this id."""
NEXT_OF_KEY = PreparedQuery(lambda key: _query_first(list_claimable_runs().filter(concurrency_key=key)), str)
CLAIMED_RUN = PreparedQuery(_query_claimed_run, UUID)
"""A run with its agent, the agent's production version and the run's person. `seen`: how far the agent has read the
chat; `usage_rules`: budgets and prices."""


def _prepare_attempt(adapt: Callable[[QuerySet[Run]], QuerySet[Run]]) -> PreparedQuery[Run]:
    """Return the query for a running run by its id, attempt and lease owner."""

    def query(id: UUID, attempt: int, owner: str) -> QuerySet[Run]:
        return adapt(Run.objects.filter(pk=id, attempt=attempt, lease_owner=owner, state=RunState.RUNNING))

    return PreparedQuery(query, UUID, int, str)


def _query_answered_queued_runs(concurrency_key: str, chat_id: UUID, read_to: int) -> QuerySet[Run]:
    queued = Run.objects.filter(concurrency_key=concurrency_key, origin="wake", state=RunState.QUEUED, attempt=0)
    return queued.filter(chat_id=chat_id, trigger_seq__lte=read_to)


ATTEMPT = _prepare_attempt(lambda runs: runs)
LOCKED_ATTEMPT = _prepare_attempt(lambda runs: runs.select_for_update(no_key=True))
ENDING_ATTEMPT = _prepare_attempt(lambda runs: runs.select_related("agent", "chat__workspace", "stopped_by"))
ATTEMPT_OF_JOB = _prepare_attempt(lambda runs: runs.select_related("agent", "on_behalf_of", "stopped_by"))
ANSWERED_QUEUED_RUNS = PreparedQuery(_query_answered_queued_runs, str, UUID, int)


def _query_newest(rows: QuerySet[Message], max_bytes: int) -> QuerySet[Message, Any]:
    """Return the newest of these messages in one statement, until their payloads have `max_bytes` bytes together."""
    newest = Message.objects.filter(pk__in=rows.order_by("-seq").values("pk")[:MAX_ROWS])
    before = Window(Sum("payload_bytes"), order_by=F("seq").desc()) - F("payload_bytes")
    return newest.annotate(before=before).filter(before__lt=max_bytes).order_by("-seq").values_list(*LOG_COLUMNS)


def list_log(agent_id: UUID, chat_id: UUID, max_bytes: int, *conditions: Q) -> QuerySet[Message, Any]:
    """Return the messages of the chat and the tool calls of this agent, the newest first, without those of sub-agents."""
    is_read = Q(type__in=("TEXT_MESSAGE", "FILE_MESSAGE", "COMPARISON")) | Q(author_id=agent_id)
    log = Message.objects.filter(is_read, *conditions, chat_id=chat_id, type__in=LOG_TYPES, metadata__isnull=True)
    return _query_newest(log, max_bytes)


def _query_new_messages(chat_id: UUID, agent_id: UUID, max_bytes: int, since: int) -> QuerySet[Message, Any]:
    rows = Message.objects.filter(chat_id=chat_id, seq__gt=since, type__in=SPOKEN_TYPES, metadata__isnull=True).exclude(
        author_id=agent_id
    )
    return _query_newest(rows, max_bytes)


def _query_participants_of_chat(chat_id: UUID) -> QuerySet[ChatActor]:
    roles = Membership.objects.filter(workspace=OuterRef("chat__workspace"), actor=OuterRef("actor")).values("role")[:1]
    participants = ChatActor.objects.filter(chat_id=chat_id, ended_at=None).annotate(role=Subquery(roles))
    return participants.select_related("actor").order_by("joined_at", "pk")[:MAX_PARTICIPANTS_READ]


LOG = PreparedQuery(list_log, UUID, UUID, int)
NEW_MESSAGES = PreparedQuery(_query_new_messages, UUID, UUID, int, int)
PARTICIPANTS_OF_CHAT = PreparedQuery(_query_participants_of_chat, UUID)
