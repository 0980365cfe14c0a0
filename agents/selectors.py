"""Reads of agents that join."""

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Left

from actors.models import Actor
from agents.models import AgentSpec, Run
from agents.models.runs import RunState
from agents.rows import agent_row
from chats.models import Message
from chats.permissions import chats_visible_to
from events.rows import AgentRow, ReplyRow

EXCERPT = 160
"""Characters of an answer that a list shows."""


def agent_rows(agents: Iterable[Actor]) -> Iterator[AgentRow]:
    """Agents as their reader sees them, with whether they are at work anywhere. One query more than the agents'."""
    found = list(agents)
    at_work = Run.objects.filter(agent__in=[agent.pk for agent in found], state=RunState.RUNNING)
    working = set(at_work.values_list("agent_id", flat=True))
    return (agent_row(agent, working=agent.pk in working) for agent in found)


def replies_with(spec: AgentSpec, reader: Actor) -> QuerySet[Run]:
    """The runs that a text answered in, in chats that the reader takes part in, and in these only."""
    return Run.objects.filter(spec=spec, chat__in=chats_visible_to(reader).values("pk")).select_related("chat")


def reply_rows(runs: Sequence[Run]) -> list[ReplyRow]:
    """Runs with how their answers begin. One query more than the runs'."""
    found = Message.objects.filter(run_id__in=[run.pk for run in runs], type="TEXT_MESSAGE")
    last = found.order_by("run_id", "-seq").distinct("run_id").annotate(begins=Left(KT("payload__text"), EXCERPT))
    answers = {run_id: (pk, begins) for run_id, pk, begins in last.values_list("run_id", "pk", "begins")}
    return [_reply_row(run, *answers.get(run.pk, (None, ""))) for run in runs]


def _reply_row(run: Run, message_id: UUID | None, begins: str) -> ReplyRow:
    assert run.chat is not None
    spent = (run.ended_at - run.started_at).total_seconds() if run.ended_at and run.started_at else None
    return ReplyRow(
        run_id=run.id, chat_id=run.chat.id, chat_title=run.chat.title, message_id=message_id, excerpt=begins or "",
        state=run.state, cost_micro=run.cost_micro, seconds=spent, created_at=run.created_at,
    )  # fmt: skip
