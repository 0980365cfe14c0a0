"""The database's rows as the pure data that `context` works on."""

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

MAX_LINES = 600
"""Rows that are looked at; the budget of tokens ends the conversation earlier."""
BYTES_PER_TOKEN = 12
"""Bytes of text that are read for each token that fits: as many as any language takes."""
BYTES_BESIDE = 500 * MAX_LINES
"""Bytes that stand beside the texts in their payloads."""
MAX_MEMBERS = 100
SHOWN = ("TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "COMPARISON")
COLUMNS = ("id", "type", "author_id", "payload", "run_id", "reply_to_id")


def _newest_of(rows: QuerySet[Message], most: int) -> QuerySet[Message, Any]:
    """The newest of these rows, in one statement: whole payloads are read until there are `most` bytes of them."""
    newest = Message.objects.filter(pk__in=rows.order_by("-seq").values("pk")[:MAX_LINES])
    before = Window(Sum("payload_bytes"), order_by=F("seq").desc()) - F("payload_bytes")
    return newest.annotate(before=before).filter(before__lt=most).order_by("-seq").values_list(*COLUMNS)


def _newest(agent_id: UUID, chat_id: UUID, most: int, *among: Q) -> QuerySet[Message, Any]:
    """Others' tool calls are their own business; what everybody said is for all."""
    mine_or_said = Q(type__in=("TEXT_MESSAGE", "COMPARISON")) | Q(author_id=agent_id)
    return _newest_of(Message.objects.filter(mine_or_said, *among, chat_id=chat_id, type__in=SHOWN), most)


def _newest_for_one_side(
    agent_id: UUID, chat_id: UUID, most: int, asked_at: int, run_id: UUID
) -> QuerySet[Message, Any]:
    """The room as it was when both were asked, and what this side has done since."""
    return _newest(agent_id, chat_id, most, Q(seq__lte=asked_at) | Q(run_id=run_id))


def _news(chat_id: UUID, agent_id: UUID, most: int, since: int) -> QuerySet[Message, Any]:
    rows = Message.objects.filter(chat_id=chat_id, seq__gt=since, type="TEXT_MESSAGE").exclude(author_id=agent_id)
    return _newest_of(rows, most)


def _one(chat_id: UUID, message_id: UUID) -> QuerySet[Message, Any]:
    return Message.objects.filter(chat_id=chat_id, pk=message_id, type__in=SHOWN).values_list(*COLUMNS)


def _list_participants(chat_id: UUID) -> QuerySet[ChatActor]:
    seated = ChatActor.objects.filter(chat_id=chat_id, ended_at=None)
    roles = Membership.objects.filter(workspace=OuterRef("chat__workspace"), actor=OuterRef("actor")).values("role")[:1]
    seated = seated.annotate(role=Subquery(roles))
    return seated.select_related("actor").order_by("joined_at", "pk")[:MAX_MEMBERS]


_NEWEST = PreparedQuery(_newest, UUID, UUID, int)
_NEWEST_FOR_ONE_SIDE = PreparedQuery(_newest_for_one_side, UUID, UUID, int, int, UUID)
_NEWS = PreparedQuery(_news, UUID, UUID, int, int)
_ONE = PreparedQuery(_one, UUID, UUID)
_PARTICIPANTS = PreparedQuery(_list_participants, UUID)


def read_log(run: Run, tokens: int) -> list[LogEntry]:
    """Return the newest part of the chat's log, in order, at least as much as has so many tokens: what everybody said, and
    this agent's own calls; and what the run answers, however long ago it was said.

    A comparison is its question, as said by who asked, and the draft's answer.
    """
    return _build_entries(run, _NEWEST.rows(run.agent_id, run.get_chat_id(), _count_bytes(tokens)))


def read_log_until_question(run: Run, tokens: int) -> list[LogEntry]:
    """As `read_log`, for one side of a comparison: the log up to the question, and the run's own rows."""
    most = _count_bytes(tokens)
    return _build_entries(
        run, _NEWEST_FOR_ONE_SIDE.rows(run.agent_id, run.get_chat_id(), most, run.trigger_seq, run.id)
    )


def _count_bytes(tokens: int) -> int:
    return tokens * BYTES_PER_TOKEN + BYTES_BESIDE


def _build_entries(run: Run, newest: Sequence[Sequence[Any]]) -> list[LogEntry]:
    lines = [_line(row) for row in reversed(newest)]
    if run.trigger_id is not None and all(line.id != run.trigger_id for line in lines):
        lines = [*map(_line, _ONE.rows(run.get_chat_id(), run.trigger_id)), *lines]
    return [line for line in lines if line.run_id == run.id or _side(line) != "production"]


def read_new_turns(run: Run) -> list[Turn]:
    """What others have said in the room since the run read it last, beside comparisons. The caller holds the chat."""
    most = _count_bytes(settings.LLM_MAX_CONTEXT)
    lines = [_line(row) for row in reversed(_NEWS.rows(run.get_chat_id(), run.agent_id, most, run.read_to))]
    lines = [line for line in lines if _side(line) is None]
    return build_turns_of_others(lines, agent_id=run.agent_id, chat=read_chat_context(run, lines)) if lines else []


def read_chat_context(run: Run, lines: Iterable[LogEntry]) -> ChatContext:
    """Where the run is, and who is and was there."""
    chat = run.get_chat()
    members = [
        build_participant(participant.actor, role=getattr(participant, "role", None) or "")
        for participant in _PARTICIPANTS.all(run.get_chat_id())
    ]
    authors = {member.id: member for member in members}
    missing = {line.author_id for line in lines} - authors.keys()
    if missing:
        authors |= {actor.id: build_participant(actor) for actor in Actor.objects.filter(pk__in=missing)}
    return ChatContext(chat.title, chat.workspace.name, members, authors)


def build_participant(actor: Actor, role: str = "") -> Participant:
    """An actor as the context sees it."""
    return Participant(actor.id, actor.name, actor.handle, is_agent=actor.is_agent, role=role)


def find_known_results(run: Run, calls: Iterable[ToolCall]) -> dict[str, ToolResult]:
    """What is known of open calls: a result that was stored is taken; a call that had begun is not made again, unless
    it may be (RUN15)."""
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
    """This run's calls that are settled, in order: what the guard against repetition looks at."""
    still_open = {call.id for call in open_calls}
    rows = Message.objects.filter(run_id=run.id, type="TOOL_CALL").order_by("seq").values_list("payload", flat=True)
    calls = [ToolCall(payload["call_id"], payload["name"], payload["arguments"]) for payload in rows]
    return [call for call in calls if call.id not in still_open]


def _side(line: LogEntry) -> str | None:
    """The side of a comparison that said this. The draft's answer stays part of the conversation, as an apply's would;
    production's would say the same a second time."""
    side: str | None = (line.payload.get("stamp") or {}).get("side")
    return side


def _line(row: Sequence[Any]) -> LogEntry:
    id, type_, author_id, payload, run_id, reply_to = row
    if type_ == "COMPARISON":
        return LogEntry(id, "TEXT_MESSAGE", UUID(payload["actor_id"]), payload)
    return LogEntry(id, cast(LogEntryType, type_), author_id, payload, run_id, reply_to)
