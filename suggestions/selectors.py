"""Reads of suggestions and merges; the number of queries does not grow with the list."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from django.db.models import QuerySet

from actors.models import Actor, AgentStatus
from agents.models import AgentSpec, tools_prefetch
from agents.permissions import agent_verbs, agents_visible_to
from agents.specs.differences import diff
from chats.permissions import chats_visible_to
from common.paging import PageQuery, get_page
from events.rows import ListedSuggestionRow, MergeRow, SuggestionDetailRow, SuggestionRow
from suggestions.models import Merge, State, Suggestion
from suggestions.rows import Viewer, build_listed_row, build_merge_row, build_suggestion_row
from workspaces.models import Workspace


def suggestions_in(workspace: Workspace) -> QuerySet[Suggestion]:
    """Return the suggestions of a workspace for agents that are not deleted. The caller got it from `get_workspace_for`."""
    return Suggestion.objects.filter(workspace=workspace).exclude(agent__status=AgentStatus.DELETED)


def merges_in(workspace: Workspace) -> QuerySet[Merge]:
    return Merge.objects.filter(workspace=workspace).exclude(agent__status=AgentStatus.DELETED)


def count_pending(workspace: Workspace) -> int:
    return suggestions_in(workspace).filter(state=State.PENDING).count()


def select_row_fields(rows: QuerySet[Suggestion]) -> QuerySet[Suggestion]:
    """Fetch the suggestions with all that `build_suggestion_row` needs. Of versions only the number is needed, not the prompt."""
    versions = ("agent__current_spec", "base", "saved_as")
    return rows.select_related(*versions, "author", "decided_by").defer(*(f"{name}__prompt" for name in versions))


def list_suggestion_rows(
    actor: Actor, suggestions: QuerySet[Suggestion], query: PageQuery
) -> tuple[list[ListedSuggestionRow], str | None]:
    """Return a page of suggestions, newest first, and the cursor of the next one. Three queries."""
    found, more = get_page(select_row_fields(suggestions).defer("content"), query, by="-created_at")
    viewer = _build_viewer(actor, found)
    return [build_listed_row(suggestion, viewer) for suggestion in found], more


def list_merge_rows(actor: Actor, merges: Sequence[Merge]) -> list[MergeRow]:
    """Return the rows of merges. Three queries."""
    unused: dict[UUID, list[UUID]] = defaultdict(list)
    rows = Suggestion.objects.filter(merge__in=[merge.pk for merge in merges], state=State.UNUSED)
    for merge_id, pk in rows.order_by("pk").values_list("merge_id", "pk"):
        unused[merge_id].append(pk)
    viewer = replace(_build_viewer(actor, merges), unused=unused)
    return [build_merge_row(merge, viewer) for merge in merges]


def _build_viewer(actor: Actor, things: Iterable[Suggestion] | Iterable[Merge]) -> Viewer:
    agents, chats = {thing.agent_id for thing in things}, {thing.chat_id for thing in things}
    visible = agents_visible_to(actor).filter(pk__in=agents)
    return Viewer(
        actor,
        {agent.pk: agent_verbs(agent) for agent in visible},
        dict(chats_visible_to(actor).filter(pk__in=chats).values_list("pk", "title")),
    )


def get_suggestion_row(actor: Actor, id: UUID) -> SuggestionRow:
    """Return the present row. The caller has checked that the actor may see it."""
    return _build_row(actor, select_row_fields(Suggestion.objects.all()).get(pk=id))


def _build_row(actor: Actor, suggestion: Suggestion) -> SuggestionRow:
    return build_suggestion_row(suggestion, _build_viewer(actor, [suggestion]))


def select_merge_row_fields(rows: QuerySet[Merge]) -> QuerySet[Merge]:
    """Fetch the merges with all that `build_merge_row` needs."""
    unread = ("content", "base__prompt", "run__job_input", "run__answer")
    return rows.select_related("by", "base", "run").defer(*unread)


def get_merge_row(actor: Actor, id: UUID) -> MergeRow:
    """Return the present row. The caller has checked that the actor may see it."""
    return list_merge_rows(actor, [select_merge_row_fields(Merge.objects.all()).get(pk=id)])[0]


def get_suggestion_detail(actor: Actor, id: UUID) -> SuggestionDetailRow:
    """Return a suggestion with its base, production and the differences. The caller has checked that the actor may see it."""
    suggestion = select_row_fields(Suggestion.objects.all()).get(pk=id)
    specs = AgentSpec.objects.prefetch_related(tools_prefetch()).in_bulk(
        [suggestion.base_id, suggestion.agent.current_spec_id]
    )
    base, production = specs[suggestion.base_id], specs[suggestion.agent.current_spec_id]
    content = suggestion.proposed()
    return SuggestionDetailRow(
        suggestion=_build_row(actor, suggestion), base=base.to_row(), production=production.to_row(),
        against_base=diff(base.content(), content), against_production=diff(production.content(), content),
    )  # fmt: skip
