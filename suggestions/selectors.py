"""Reads of suggestions and merges; the number of queries does not grow with the list."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from django.db.models import QuerySet

from actors.models import Actor, AgentStatus
from agents.models import AgentSpec, with_tools
from agents.permissions import agent_verbs, agents_visible_to
from agents.specs.differences import diff
from chats.permissions import chats_visible_to
from common.paging import PageQuery, get_page
from events.rows import ListedSuggestionRow, MergeRow, SuggestionDetailRow, SuggestionRow
from suggestions.models import Merge, State, Suggestion
from suggestions.rows import Reader, listed_row, merge_row, suggestion_row
from workspaces.models import Workspace


def suggestions_in(workspace: Workspace) -> QuerySet[Suggestion]:
    """Those to agents that there still are, of a workspace that the caller got from `get_workspace_for`."""
    return Suggestion.objects.filter(workspace=workspace).exclude(agent__status=AgentStatus.DELETED)


def merges_in(workspace: Workspace) -> QuerySet[Merge]:
    return Merge.objects.filter(workspace=workspace).exclude(agent__status=AgentStatus.DELETED)


def pending_count(workspace: Workspace) -> int:
    return suggestions_in(workspace).filter(state=State.PENDING).count()


def with_names(rows: QuerySet[Suggestion]) -> QuerySet[Suggestion]:
    """With all that `suggestion_row` shows. Of versions it shows the numbers: their prompts are left where they are."""
    versions = ("agent__current_spec", "base", "saved_as")
    return rows.select_related(*versions, "author", "decided_by").defer(*(f"{name}__prompt" for name in versions))


def listed_rows(
    actor: Actor, suggestions: QuerySet[Suggestion], query: PageQuery
) -> tuple[list[ListedSuggestionRow], str | None]:
    """A page of them as `actor` sees them, newest first, and where the next one begins. Three queries."""
    found, more = get_page(with_names(suggestions).defer("content"), query, by="-created_at")
    reader = _reader(actor, found)
    return [listed_row(suggestion, reader) for suggestion in found], more


def merge_rows(actor: Actor, merges: Sequence[Merge]) -> list[MergeRow]:
    """As `actor` sees them. Three queries more than theirs."""
    unused: dict[UUID, list[UUID]] = defaultdict(list)
    rows = Suggestion.objects.filter(merge__in=[merge.pk for merge in merges], state=State.UNUSED)
    for merge_id, pk in rows.order_by("pk").values_list("merge_id", "pk"):
        unused[merge_id].append(pk)
    reader = replace(_reader(actor, merges), unused=unused)
    return [merge_row(merge, reader) for merge in merges]


def _reader(actor: Actor, things: Iterable[Suggestion] | Iterable[Merge]) -> Reader:
    agents, chats = {thing.agent_id for thing in things}, {thing.chat_id for thing in things}
    visible = agents_visible_to(actor).filter(pk__in=agents)
    return Reader(
        actor,
        {agent.pk: agent_verbs(agent) for agent in visible},
        dict(chats_visible_to(actor).filter(pk__in=chats).values_list("pk", "title")),
    )


def suggestion_row_of(actor: Actor, id: UUID) -> SuggestionRow:
    """One that `actor` may see, as it is now."""
    return _row_of(actor, with_names(Suggestion.objects.all()).get(pk=id))


def _row_of(actor: Actor, suggestion: Suggestion) -> SuggestionRow:
    return suggestion_row(suggestion, _reader(actor, [suggestion]))


def with_run(rows: QuerySet[Merge]) -> QuerySet[Merge]:
    """With all that `merge_row` shows."""
    unread = ("content", "base__prompt", "run__job_input", "run__answer")
    return rows.select_related("by", "base", "run").defer(*unread)


def merge_row_of(actor: Actor, id: UUID) -> MergeRow:
    """One that `actor` may see, as it is now."""
    return merge_rows(actor, [with_run(Merge.objects.all()).get(pk=id)])[0]


def suggestion_detail(actor: Actor, id: UUID) -> SuggestionDetailRow:
    """A suggestion that `actor` may see, beside what it was made on and what answers today."""
    suggestion = with_names(Suggestion.objects.all()).get(pk=id)
    specs = AgentSpec.objects.prefetch_related(with_tools()).in_bulk(
        [suggestion.base_id, suggestion.agent.current_spec_id]
    )
    base, production = specs[suggestion.base_id], specs[suggestion.agent.current_spec_id]
    wanted = suggestion.proposed()
    return SuggestionDetailRow(
        suggestion=_row_of(actor, suggestion), base=base.to_row(), production=production.to_row(),
        against_base=diff(base.content(), wanted), against_production=diff(production.content(), wanted),
    )  # fmt: skip
