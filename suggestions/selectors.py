"""Reads of suggestions and merges. The number of queries does not grow with the length of a list."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from actors.models import Actor, AgentStatus
from agents.models import AgentSpec
from agents.permissions import agents_visible_to, compute_agent_verbs
from agents.specs.differences import diff
from chats.permissions import list_readable_chats
from chats.selectors import load_titles
from common.paging import PageQuery, get_page
from events.rows import ListedSuggestionRow, MergeRow, SuggestionDetailRow, SuggestionRow, SuggestionState
from suggestions.models import Merge, Suggestion
from suggestions.rows import Reader, build_listed_row, build_merge_row, build_suggestion_row
from workspaces.models import Workspace


def list_suggestions(workspace: Workspace) -> QuerySet[Suggestion]:
    """Return the suggestions of a workspace for agents that are not deleted. The caller has checked that the actor is a member."""
    return Suggestion.objects.filter(workspace=workspace).exclude(agent__status=AgentStatus.DELETED)


def list_merges(workspace: Workspace) -> QuerySet[Merge]:
    """Return the merges of a workspace for agents that are not deleted. The caller has checked that the actor is a member."""
    return Merge.objects.filter(workspace=workspace).exclude(agent__status=AgentStatus.DELETED)


def count_pending(workspace: Workspace) -> int:
    return list_suggestions(workspace).filter(state=SuggestionState.PENDING).count()


def select_row_fields(rows: QuerySet[Suggestion]) -> QuerySet[Suggestion]:
    """Select the related rows that `build_suggestion_row` needs, and defer the prompts of versions, which it does not read."""
    versions = ("agent__current_spec", "base", "saved_as")
    return rows.select_related(*versions, "author", "decided_by").defer(*(f"{name}__content" for name in versions))


def list_suggestion_rows(
    actor: Actor, suggestions: QuerySet[Suggestion], query: PageQuery
) -> tuple[list[ListedSuggestionRow], str | None]:
    """Return a page of suggestions, newest first, and the cursor of the next page. Makes three queries, and two for
    titles."""
    page, cursor = get_page(select_row_fields(suggestions).defer("content"), query, by="-created_at")
    reader = _build_reader(actor, page)
    return [build_listed_row(suggestion, reader) for suggestion in page], cursor


def list_merge_rows(actor: Actor, merges: Sequence[Merge]) -> list[MergeRow]:
    """Return the rows of merges. Makes three queries, and two for titles."""
    unused: dict[UUID, list[UUID]] = defaultdict(list)
    rows = Suggestion.objects.filter(merge__in=[merge.pk for merge in merges], state=SuggestionState.UNUSED)
    for merge_id, pk in rows.order_by("pk").values_list("merge_id", "pk"):
        unused[merge_id].append(pk)
    reader = replace(_build_reader(actor, merges), unused_by_merge=unused)
    return [build_merge_row(merge, reader) for merge in merges]


def _build_reader(actor: Actor, rows: Iterable[Suggestion] | Iterable[Merge]) -> Reader:
    agents = agents_visible_to(actor).filter(pk__in={row.agent_id for row in rows})
    chats = list(list_readable_chats(actor).filter(pk__in={row.chat_id for row in rows}))
    load_titles(actor, chats)
    return Reader(
        actor=actor,
        verbs_by_agent={agent.pk: compute_agent_verbs(agent) for agent in agents},
        chat_titles={chat.pk: chat.shown_title for chat in chats},
    )


def get_suggestion_row(actor: Actor, id: UUID) -> SuggestionRow:
    """Return the current row of a suggestion. The caller has checked that the actor may see it."""
    suggestion = select_row_fields(Suggestion.objects.all()).get(pk=id)
    return build_suggestion_row(suggestion, _build_reader(actor, [suggestion]))


def select_merge_row_fields(rows: QuerySet[Merge]) -> QuerySet[Merge]:
    """Select the related rows that `build_merge_row` needs, and defer the long columns that it does not read."""
    deferred = ("content", "base__content", "run__input", "run__answer")
    return rows.select_related("by", "base", "run").defer(*deferred)


def get_merge_row(actor: Actor, id: UUID) -> MergeRow:
    """Return the current row of a merge. The caller has checked that the actor may see it."""
    return list_merge_rows(actor, [select_merge_row_fields(Merge.objects.all()).get(pk=id)])[0]


def get_suggestion_detail(actor: Actor, id: UUID) -> SuggestionDetailRow:
    """Return a suggestion, its base, production, and its difference from each. The caller has checked that the actor may see it."""
    suggestion = select_row_fields(Suggestion.objects.all()).get(pk=id)
    specs = AgentSpec.objects.in_bulk([suggestion.base_id, suggestion.agent.current_spec_id])
    base, production = specs[suggestion.base_id], specs[suggestion.agent.current_spec_id]
    content = suggestion.parse_content()
    return SuggestionDetailRow(
        suggestion=build_suggestion_row(suggestion, _build_reader(actor, [suggestion])),
        base=base.to_row(),
        production=production.to_row(),
        against_base=diff(base.parse_content(), content),
        against_production=diff(production.parse_content(), content),
    )


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return all suggestions and merges of a deleted workspace, to purge them. A listener of `collect_rows_to_purge`."""
    return [Suggestion.objects.filter(workspace=workspace), Merge.objects.filter(workspace=workspace)]
