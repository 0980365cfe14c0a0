"""The database's rows as the pure data that `context` works on."""

from collections.abc import Iterable, Sequence
from typing import Any, cast
from uuid import UUID

from django.db.models import Q, QuerySet

from actors.models import Actor
from agents.llm.exchange import ToolCall, Turn
from agents.models import Run, Step
from agents.runtime.context import INTERRUPTED, Line, LineType, Room, Somebody, said_by_others
from agents.runtime.steps import Outcome
from chats.models import ChatActor, Message
from common.compiled import Compiled
from tools.registry import registry

MAX_LINES = 600
"""Rows that are looked at; the budget of tokens ends the conversation earlier."""
MAX_MEMBERS = 100
SHOWN = ("TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "COMPARISON")
COLUMNS = ("id", "type", "author_id", "payload", "run_id", "reply_to_id")


def _newest(agent_id: UUID, chat_id: UUID, *among: Q) -> QuerySet[Message, Any]:
    """Others' tool calls are their own business; what everybody said is for all."""
    mine_or_said = Q(type__in=("TEXT_MESSAGE", "COMPARISON")) | Q(author_id=agent_id)
    rows = Message.objects.filter(mine_or_said, *among, chat_id=chat_id, type__in=SHOWN)
    return rows.order_by("-seq").values_list(*COLUMNS)[:MAX_LINES]


def _newest_for_one_side(agent_id: UUID, chat_id: UUID, asked_at: int, run_id: UUID) -> QuerySet[Message, Any]:
    """The room as it was when both were asked, and what this side has done since."""
    return _newest(agent_id, chat_id, Q(seq__lte=asked_at) | Q(run_id=run_id))


def _news(chat_id: UUID, agent_id: UUID, since: int) -> QuerySet[Message, Any]:
    rows = Message.objects.filter(chat_id=chat_id, seq__gt=since, type="TEXT_MESSAGE").exclude(author_id=agent_id)
    return rows.order_by("seq").values_list(*COLUMNS)[:MAX_LINES]


def _places(chat_id: UUID) -> QuerySet[ChatActor]:
    seated = ChatActor.objects.filter(chat_id=chat_id, ended_at=None)
    return seated.select_related("actor").order_by("joined_at", "pk")[:MAX_MEMBERS]


_NEWEST = Compiled(_newest, UUID, UUID)
_NEWEST_FOR_ONE_SIDE = Compiled(_newest_for_one_side, UUID, UUID, int, UUID)
_NEWS = Compiled(_news, UUID, UUID, int)
_PLACES = Compiled(_places, UUID)


def read_lines(run: Run) -> list[Line]:
    """The newest part of the room's log, in order: what everybody said, and this agent's own calls.

    A comparison is its question, as said by who asked, and the draft's answer.
    """
    if run.is_compared:
        newest = _NEWEST_FOR_ONE_SIDE.rows(run.agent_id, run.room_id, run.trigger_seq, run.id)
    else:
        newest = _NEWEST.rows(run.agent_id, run.room_id)
    lines = [_line(row) for row in reversed(newest)]
    return [line for line in lines if line.run_id == run.id or _side(line) != "production"]


def news_for(run: Run) -> list[Turn]:
    """What others have said in the room since the run read it last, beside comparisons. The caller holds the chat."""
    lines = [_line(row) for row in _NEWS.rows(run.room_id, run.agent_id, run.read_to)]
    lines = [line for line in lines if _side(line) is None]
    return said_by_others(lines, agent_id=run.agent_id, room=read_room(run, lines)) if lines else []


def read_room(run: Run, lines: Iterable[Line]) -> Room:
    """Where the run is, and who is and was there."""
    assert run.chat is not None
    members = [somebody(place.actor) for place in _PLACES.all(run.room_id)]
    authors = {member.id: member for member in members}
    missing = {line.author_id for line in lines} - authors.keys()
    if missing:
        authors |= {actor.id: somebody(actor) for actor in Actor.objects.filter(pk__in=missing)}
    return Room(run.chat.title, run.chat.workspace.name, members, authors)


def somebody(actor: Actor) -> Somebody:
    """An actor as the context sees it."""
    return Somebody(actor.id, actor.name, actor.handle, is_agent=actor.is_agent)


def recovered(run: Run, calls: Iterable[ToolCall]) -> dict[str, Outcome]:
    """What is known of open calls: a result that was stored is taken; a call that had begun is not made again, unless
    it may be (B15)."""
    steps = {step.call_id: step for step in Step.objects.filter(run=run, kind="tool")}
    known: dict[str, Outcome] = {}
    for call in calls:
        step = steps.get(call.id)
        tool = registry.get(call.name)
        if step is not None and step.state == "done":
            known[call.id] = Outcome(call, step.result["status"], step.result["text"])
        elif step is not None and (tool is None or not tool.may_repeat):
            known[call.id] = Outcome(call, "interrupted", INTERRUPTED)
    return known


def past_calls(run: Run, open_calls: Iterable[ToolCall]) -> list[ToolCall]:
    """This run's calls that are settled, in order: what the guard against repetition looks at."""
    still_open = {call.id for call in open_calls}
    rows = Message.objects.filter(run_id=run.id, type="TOOL_CALL").order_by("seq").values_list("payload", flat=True)
    calls = [ToolCall(payload["call_id"], payload["name"], payload["arguments"]) for payload in rows]
    return [call for call in calls if call.id not in still_open]


def _side(line: Line) -> str | None:
    """The side of a comparison that said this. The draft's answer stays part of the conversation, as an apply's would;
    production's would say the same a second time."""
    side: str | None = (line.payload.get("stamp") or {}).get("side")
    return side


def _line(row: Sequence[Any]) -> Line:
    id, type_, author_id, payload, run_id, reply_to = row
    if type_ == "COMPARISON":
        return Line(id, "TEXT_MESSAGE", UUID(payload["actor_id"]), payload)
    return Line(id, cast(LineType, type_), author_id, payload, run_id, reply_to)
