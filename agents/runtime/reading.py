"""The database's rows as the pure data that `context` works on."""

from collections.abc import Iterable
from typing import cast

from django.db.models import Q, QuerySet

from actors.models import Actor
from agents.models import Run, Step
from agents.runtime.context import INTERRUPTED, Line, LineType, Room, Somebody, said_by_others
from agents.runtime.steps import Outcome, ToolCall, Turn
from chats.models import Message
from tools.registry import registry

MAX_LINES = 600
"""Rows that are looked at; the budget of tokens ends the conversation earlier."""
SHOWN = ("TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE")


def read_lines(run: Run) -> list[Line]:
    """The newest part of the room's log, in order: what everybody said, and this agent's own calls."""
    newest = _rows(run).order_by("-seq")[:MAX_LINES]
    return [_line(message) for message in reversed(newest)]


def news_for(run: Run) -> list[Turn]:
    """What others have said in the room since the run read it last. The caller holds the chat."""
    rows = _rows(run).filter(seq__gt=run.read_to, type="TEXT_MESSAGE").exclude(author_id=run.agent_id)
    lines = [_line(message) for message in rows.order_by("seq")[:MAX_LINES]]
    return said_by_others(lines, agent_id=run.agent_id, room=read_room(run, lines)) if lines else []


def read_room(run: Run, lines: Iterable[Line]) -> Room:
    """Where the run is, and who is and was there."""
    assert run.chat is not None
    places = run.chat.places.filter(ended_at=None).select_related("actor").order_by("joined_at", "pk")
    members = [somebody(place.actor) for place in places[:100]]
    authors = {member.id: member for member in members}
    missing = {line.author_id for line in lines} - authors.keys()
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


def _rows(run: Run) -> QuerySet[Message]:
    """Others' tool calls are their own business; what everybody said is for all."""
    mine_or_said = Q(type="TEXT_MESSAGE") | Q(author_id=run.agent_id)
    return Message.objects.filter(mine_or_said, chat_id=run.room_id, type__in=SHOWN)


def _line(message: Message) -> Line:
    assert message.author_id is not None
    type_ = cast(LineType, message.type)  # the query asks for these only
    return Line(message.id, type_, message.author_id, message.payload, message.run_id, message.reply_to_id)
