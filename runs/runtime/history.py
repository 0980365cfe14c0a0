"""Read from the database what `context` turns into a conversation."""

from collections.abc import Iterable, Sequence
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db.models import F, OuterRef, Q, QuerySet, Subquery, Sum, Window

from actors.models import Actor
from chats.models import ChatActor, Message
from common.prepared_query import PreparedQuery
from llm.messages import ToolCall, Turn
from runs.models import Run, Step
from runs.runtime.context import INTERRUPTED, ChatContext, LogEntry, LogEntryType, Participant, build_turns_of_others
from runs.runtime.steps import ToolResult
from tools.registry import registry
from workspaces.models import Membership

MAX_ROWS = 600
"""Rows that are read at most; the budget of tokens ends the conversation earlier."""
BYTES_PER_TOKEN = 12
"""Bytes of text that are read for each token that fits: as many as any language takes."""
OTHER_BYTES = 500 * MAX_ROWS
"""Bytes of payloads that are not text."""
MAX_MEMBERS = 100
SHOWN = ("TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "COMPARISON")
COLUMNS = ("id", "type", "author_id", "payload", "run_id", "reply_to_id")


def _get_newest(rows: QuerySet[Message], max_bytes: int) -> QuerySet[Message, Any]:
    """Return the newest of these rows in one statement: complete payloads, until there are `max_bytes` of them."""
    newest = Message.objects.filter(pk__in=rows.order_by("-seq").values("pk")[:MAX_ROWS])
    before = Window(Sum("payload_bytes"), order_by=F("seq").desc()) - F("payload_bytes")
    return newest.annotate(before=before).filter(before__lt=max_bytes).order_by("-seq").values_list(*COLUMNS)


def _build_log(agent_id: UUID, chat_id: UUID, max_bytes: int, *conditions: Q) -> QuerySet[Message, Any]:
    """Everyone's messages, and the tool calls of this agent."""
    is_read = Q(type__in=("TEXT_MESSAGE", "COMPARISON")) | Q(author_id=agent_id)
    return _get_newest(Message.objects.filter(is_read, *conditions, chat_id=chat_id, type__in=SHOWN), max_bytes)


def _build_log_of_side(
    agent_id: UUID, chat_id: UUID, max_bytes: int, asked_at: int, run_id: UUID
) -> QuerySet[Message, Any]:
    """The log up to the question of a comparison, and the rows of this side since."""
    return _build_log(agent_id, chat_id, max_bytes, Q(seq__lte=asked_at) | Q(run_id=run_id))


def _build_new(chat_id: UUID, agent_id: UUID, max_bytes: int, since: int) -> QuerySet[Message, Any]:
    rows = Message.objects.filter(chat_id=chat_id, seq__gt=since, type="TEXT_MESSAGE").exclude(author_id=agent_id)
    return _get_newest(rows, max_bytes)


def _build_one(chat_id: UUID, message_id: UUID) -> QuerySet[Message, Any]:
    return Message.objects.filter(chat_id=chat_id, pk=message_id, type__in=SHOWN).values_list(*COLUMNS)


def _build_members(chat_id: UUID) -> QuerySet[ChatActor]:
    roles = Membership.objects.filter(workspace=OuterRef("chat__workspace"), actor=OuterRef("actor")).values("role")[:1]
    members = ChatActor.objects.filter(chat_id=chat_id, ended_at=None).annotate(role=Subquery(roles))
    return members.select_related("actor").order_by("joined_at", "pk")[:MAX_MEMBERS]


_LOG = PreparedQuery(_build_log, UUID, UUID, int)
_LOG_OF_SIDE = PreparedQuery(_build_log_of_side, UUID, UUID, int, int, UUID)
_NEW = PreparedQuery(_build_new, UUID, UUID, int, int)
_ONE = PreparedQuery(_build_one, UUID, UUID)
_MEMBERS = PreparedQuery(_build_members, UUID)


def read_log(run: Run, tokens: int) -> list[LogEntry]:
    """Return the newest part of the chat's log, in order, with at least so many tokens, and the message that the run answers.

    A comparison is read as its question, by the person who asked, and the draft's answer.
    """
    return _build_entries(run, _LOG.rows(run.agent_id, run.get_chat_id(), _count_bytes(tokens)))


def read_log_until_question(run: Run, tokens: int) -> list[LogEntry]:
    """As `read_log`, for one side of a comparison: the log up to the question, and the run's own rows."""
    max_bytes = _count_bytes(tokens)
    return _build_entries(run, _LOG_OF_SIDE.rows(run.agent_id, run.get_chat_id(), max_bytes, run.trigger_seq, run.id))


def _count_bytes(tokens: int) -> int:
    return tokens * BYTES_PER_TOKEN + OTHER_BYTES


def _build_entries(run: Run, newest: Sequence[Sequence[Any]]) -> list[LogEntry]:
    entries = [_build_entry(row) for row in reversed(newest)]
    if run.trigger_id is not None and all(entry.id != run.trigger_id for entry in entries):
        entries = [*map(_build_entry, _ONE.rows(run.get_chat_id(), run.trigger_id)), *entries]
    # Of the two answers of a comparison, the conversation has the draft's only.
    return [entry for entry in entries if entry.run_id == run.id or _get_side(entry) != "production"]


def read_new_turns(run: Run) -> list[Turn]:
    """Return what others have written in the locked chat since the run last read it, without comparisons."""
    max_bytes = _count_bytes(settings.LLM_MAX_CONTEXT)
    entries = [
        _build_entry(row) for row in reversed(_NEW.rows(run.get_chat_id(), run.agent_id, max_bytes, run.read_to))
    ]
    entries = [entry for entry in entries if _get_side(entry) is None]
    if not entries:
        return []
    return build_turns_of_others(entries, agent_id=run.agent_id, chat=read_chat_context(run, entries))


def read_chat_context(run: Run, entries: Iterable[LogEntry]) -> ChatContext:
    """Return the chat of a run, with its participants and the authors of these entries."""
    chat = run.get_chat()
    members = [
        build_participant(member.actor, role=getattr(member, "role", None) or "") for member in _MEMBERS.all(chat.pk)
    ]
    authors = {member.id: member for member in members}
    if missing := {entry.author_id for entry in entries} - authors.keys():
        authors |= {actor.id: build_participant(actor) for actor in Actor.objects.filter(pk__in=missing)}
    return ChatContext(chat.title, chat.workspace.name, members, authors)


def build_participant(actor: Actor, role: str = "") -> Participant:
    """Return an actor as the model sees it."""
    return Participant(actor.id, actor.name, actor.handle, is_agent=actor.is_agent, role=role)


def find_known_results(run: Run, calls: Iterable[ToolCall]) -> dict[str, ToolResult]:
    """Return the stored results of open calls, and `interrupted` for those that must not be made twice (RUN15)."""
    steps = {step.call_id: step for step in Step.objects.filter(run=run, kind="tool")}
    known: dict[str, ToolResult] = {}
    for call in calls:
        step = steps.get(call.id)
        tool = registry.get(call.name)
        if step is not None and step.state == "done":
            known[call.id] = ToolResult(call, step.result["status"], step.result["text"])
        elif step is not None and (tool is None or not tool.may_repeat):
            known[call.id] = ToolResult(call, "interrupted", INTERRUPTED)
    return known


def list_past_calls(run: Run, open_calls: Iterable[ToolCall]) -> list[ToolCall]:
    """Return this run's calls that have a result, in order, so that repetitions are found."""
    open_ids = {call.id for call in open_calls}
    rows = Message.objects.filter(run_id=run.id, type="TOOL_CALL").order_by("seq").values_list("payload", flat=True)
    calls = [ToolCall(payload["call_id"], payload["name"], payload["arguments"]) for payload in rows]
    return [call for call in calls if call.id not in open_ids]


def _get_side(entry: LogEntry) -> str | None:
    """Return the side of a comparison that wrote this."""
    side: str | None = (entry.payload.get("stamp") or {}).get("side")
    return side


def _build_entry(row: Sequence[Any]) -> LogEntry:
    id, type_, author_id, payload, run_id, reply_to = row
    if type_ == "COMPARISON":
        return LogEntry(id, "TEXT_MESSAGE", UUID(payload["actor_id"]), payload)
    return LogEntry(id, cast(LogEntryType, type_), author_id, payload, run_id, reply_to)
