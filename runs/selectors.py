"""Reads of runs."""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Window
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, Left, RowNumber

from actors.models import Actor
from agents.models import AgentSpec
from chats.models import Message
from chats.permissions import ChatVerb, get_chat_for, list_readable_chats
from chats.selectors import load_titles
from common.errors import Unavailable
from events.rows import ReplyRow
from runs.models import ISOLATE_AFTER, NOT_ENDED, Run, RunState
from runs.prepared_queries import list_claimable_runs
from workspaces.models import Workspace

RunFilter = Literal["active", "all"]
MAX_COUNTED_RUNS = 1_000
"""Runs that are counted for a position in the queue."""
MAX_EXCERPT_CHARACTERS = 160
"""Characters of an answer in a list of replies."""


def list_runs(actor: Actor, chat_id: UUID, state: RunFilter) -> QuerySet[Run]:
    """Return the runs of a chat. Raises `NotFound`, `Forbidden`."""
    runs = Run.objects.filter(chat=get_chat_for(actor, chat_id, ChatVerb.SEE))
    return runs.filter(state__in=NOT_ENDED) if state == "active" else runs


def list_in_turns(
    waiting: QuerySet[Run], excluded: Sequence[UUID] = ()
) -> QuerySet[Run, tuple[UUID, UUID, UUID | None, int]]:
    """Return the ids, workspaces, people and turns of queued runs, in the order in which they get slots. People take turns, and so
    do the trees of one person. Left out: isolated runs (see `reserve_isolated_runs`), and the workspaces and people of `excluded`.
    """
    waiting = (
        waiting.filter(crashes__lt=ISOLATE_AFTER)
        .exclude(workspace_id__in=excluded)
        .exclude(on_behalf_of_id__in=excluded)
    )
    same_tree = Run.objects.filter(root=OuterRef("root"), state__in=[RunState.QUEUED, RunState.RUNNING])
    older = same_tree.filter(pk__lt=OuterRef("pk")).order_by().values("root").annotate(count=Count("pk"))
    waiting = waiting.annotate(older_in_tree=Coalesce(Subquery(older.values("count")), 0))
    turn = Window(RowNumber(), partition_by=[F("workspace_id"), F("on_behalf_of_id")], order_by=["older_in_tree", "pk"])
    rows = waiting.annotate(turn=turn).order_by("turn", "pk")
    return rows.values_list("pk", "workspace_id", "on_behalf_of_id", "turn")


def count_runs_ahead(run: Run) -> int | None:
    """Return how many queued runs of its workspace get a slot before this one. Null if it does not wait for a slot."""
    if run.state != RunState.QUEUED:
        return None
    waiting = list_in_turns(list_claimable_runs().filter(workspace=run.workspace_id))
    ids = [row[0] for row in waiting[:MAX_COUNTED_RUNS]]
    return ids.index(run.id) if run.id in ids else None


def list_replies_of_version(spec: AgentSpec, reader: Actor) -> QuerySet[Run]:
    """Return the runs in which this version answered, in chats that the reader may read."""
    return Run.objects.filter(spec=spec, chat__in=list_readable_chats(reader).values("pk")).select_related("chat")


def build_reply_rows(reader: Actor, runs: Sequence[Run]) -> list[ReplyRow]:
    """Return the rows of runs in chats, each with the beginning of its last message, by one query, and two for titles."""
    load_titles(reader, [run.get_chat() for run in runs])
    found = Message.objects.filter(run_id__in=[run.pk for run in runs], type="TEXT_MESSAGE")
    last = found.order_by("run_id", "-seq").distinct("run_id")
    excerpts = last.annotate(excerpt=Left(KT("payload__text"), MAX_EXCERPT_CHARACTERS))
    found_texts = {run_id: (pk, excerpt) for run_id, pk, excerpt in excerpts.values_list("run_id", "pk", "excerpt")}
    texts = [found_texts.get(run.pk, (None, "")) for run in runs]
    return [
        ReplyRow(
            run_id=run.id,
            chat_id=run.get_chat().id,
            chat_title=run.get_chat().shown_title,
            message_id=message_id,
            excerpt=excerpt or "",
            state=run.state,
            cost_micro=run.cost_micro,
            seconds=(run.ended_at - run.started_at).total_seconds() if run.ended_at and run.started_at else None,
            created_at=run.created_at,
        )
        for run, (message_id, excerpt) in zip(runs, texts, strict=True)
    ]


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return all runs of a deleted workspace, to purge them. A listener of `collect_rows_to_purge`.

    Raises `Unavailable` while one of them is executed: its worker still writes rows of the chat and of the ledger.
    """
    runs = Run.objects.filter(workspace=workspace)
    if runs.filter(state=RunState.RUNNING).exists():
        raise Unavailable("Runs of the deleted workspace have not ended yet.")
    return [runs]
