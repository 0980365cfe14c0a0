"""Reads of runs."""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Left

from actors.models import Actor
from agents.models import AgentSpec
from chats.models import Message
from chats.permissions import ChatVerb, chats_visible_to, get_chat_for
from common.errors import Unavailable
from events.rows import ReplyRow
from runs.models import ACTIVE, Run, RunState
from workspaces.models import Workspace

RunFilter = Literal["active", "all"]
MAX_EXCERPT_CHARACTERS = 160
"""Characters of an answer in a list of replies."""


def list_runs(actor: Actor, chat_id: UUID, state: RunFilter) -> QuerySet[Run]:
    """Return the runs of a chat. Raises `NotFound`, `Forbidden`."""
    runs = Run.objects.filter(chat=get_chat_for(actor, chat_id, ChatVerb.SEE))
    return runs.filter(state__in=ACTIVE) if state == "active" else runs


def list_replies_of_version(spec: AgentSpec, reader: Actor) -> QuerySet[Run]:
    """Return the runs that this version answered, in chats that the reader may see."""
    return Run.objects.filter(spec=spec, chat__in=chats_visible_to(reader).values("pk")).select_related("chat")


def build_reply_rows(runs: Sequence[Run]) -> list[ReplyRow]:
    """Return the rows of runs in chats, each with the beginning of its last message, by one query."""
    found = Message.objects.filter(run_id__in=[run.pk for run in runs], type="TEXT_MESSAGE")
    last = found.order_by("run_id", "-seq").distinct("run_id")
    excerpts = last.annotate(excerpt=Left(KT("payload__text"), MAX_EXCERPT_CHARACTERS))
    answers = {run_id: (pk, excerpt) for run_id, pk, excerpt in excerpts.values_list("run_id", "pk", "excerpt")}
    rows: list[ReplyRow] = []
    for run in runs:
        chat = run.get_chat()
        message_id, excerpt = answers.get(run.pk, (None, ""))
        row = ReplyRow(
            run_id=run.id,
            chat_id=chat.id,
            chat_title=chat.title,
            message_id=message_id,
            excerpt=excerpt or "",
            state=run.state,
            cost_micro=run.cost_micro,
            seconds=(run.ended_at - run.started_at).total_seconds() if run.ended_at and run.started_at else None,
            created_at=run.created_at,
        )
        rows.append(row)
    return rows


def list_rows_of_workspace(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return the runs of a workspace that are purged. A listener of `workspace_purged`.

    Raises `Unavailable` while one of them is executed: its worker still writes rows of the chat and of the ledger.
    """
    runs = Run.objects.filter(workspace=workspace)
    if runs.filter(state=RunState.RUNNING).exists():
        raise Unavailable("Runs of the deleted workspace have not ended yet.")
    return [runs]
