"""Reads of runs that join."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Left

from actors.models import Actor
from agents.models import AgentSpec
from chats.models import Message
from chats.permissions import chats_visible_to
from events.rows import ReplyRow
from runs.models import Run

EXCERPT = 160
"""Characters of an answer that a list shows."""


def list_replies_of_version(spec: AgentSpec, reader: Actor) -> QuerySet[Run]:
    """The runs that a text answered in, in chats that the reader takes part in, and in these only."""
    return Run.objects.filter(spec=spec, chat__in=chats_visible_to(reader).values("pk")).select_related("chat")


def build_reply_rows(runs: Sequence[Run]) -> list[ReplyRow]:
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
