"""The rows of suggestions and merges in the API, for one reader."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from actors.models import Actor
from agents.permissions import AgentVerb, get_production
from events.rows import (
    ListedSuggestionRow,
    MergeRow,
    MergeState,
    Provenance,
    Stamp,
    SuggestionRow,
    UnusedSuggestionRow,
)
from runs.models import RunState
from suggestions.models import Merge, Suggestion
from suggestions.permissions import SuggestionVerb, compute_suggestion_verbs, is_under_way


@dataclass(frozen=True)
class Reader:
    """The actor for whom rows are built, and what the rows need.

    That is the actor's rights by agent, the titles of the chats that the actor may read, and the ids of unused suggestions by
    merge.
    """

    actor: Actor
    verbs_by_agent: dict[UUID, frozenset[AgentVerb]]
    chat_titles: dict[UUID, str]
    unused_by_merge: Mapping[UUID, list[UUID]] = field(default_factory=dict)


def build_listed_row(suggestion: Suggestion, reader: Reader) -> ListedSuggestionRow:
    """Build the row of a suggestion in a list. The suggestion must be fetched with `select_row_fields`."""
    verbs = compute_suggestion_verbs(
        suggestion, reader.actor, reader.verbs_by_agent.get(suggestion.agent_id, frozenset())
    )
    return ListedSuggestionRow(
        id=suggestion.id,
        workspace_id=suggestion.workspace_id,
        agent=suggestion.agent.to_row(),
        author=suggestion.author.to_row(),
        chat_id=suggestion.chat_id if suggestion.chat_id in reader.chat_titles else None,
        chat_title=reader.chat_titles.get(suggestion.chat_id),
        base_version=suggestion.base.version,
        production=get_production(suggestion.agent).version,
        touches=suggestion.touches,
        note=suggestion.note,
        summary=suggestion.summary,
        summary_state=suggestion.summary_state,
        summary_error=suggestion.summary_error or None,
        state=suggestion.state,
        merge_id=suggestion.merge_id,
        saved_as=suggestion.saved_as.number if suggestion.saved_as else None,
        decided_by=suggestion.decided_by.to_row() if suggestion.decided_by else None,
        decided_at=suggestion.decided_at,
        reason=suggestion.reason,
        verbs=sorted(verbs - {SuggestionVerb.SEE}),
        created_at=suggestion.created_at,
    )


def build_suggestion_row(suggestion: Suggestion, reader: Reader) -> SuggestionRow:
    """Build the row of a suggestion with its content. The suggestion must be fetched with `select_row_fields`."""
    return SuggestionRow(**dict(build_listed_row(suggestion, reader)), content=suggestion.content)


def build_unused_row(suggestion: Suggestion) -> UnusedSuggestionRow:
    title = suggestion.note.strip().partition("\n")[0][:90]
    return UnusedSuggestionRow(id=suggestion.id, author_name=suggestion.author.name, title=title)


def build_merge_row(merge: Merge, reader: Reader) -> MergeRow:
    """Build the row of a merge. The merge must be fetched with `select_merge_row_fields`."""
    run = merge.run
    stamp = Stamp.model_validate(run.stamp) if run and run.stamp else None
    return MergeRow(
        id=merge.id,
        workspace_id=merge.workspace_id,
        agent_id=merge.agent_id,
        chat_id=merge.chat_id if merge.chat_id in reader.chat_titles else None,
        by=merge.by.to_row(),
        suggestion_ids=merge.chosen,
        unused_ids=reader.unused_by_merge.get(merge.id, []),
        state=_get_state(merge),
        method=merge.method or None,
        base_version=merge.base.number,
        provenance=Provenance.model_validate(merge.result) if merge.result else None,
        draft_id=merge.draft_id,
        error_code=merge.error_code or None,
        error=merge.error or None,
        model=stamp.model if stamp else "",
        tokens=run.input_tokens + run.output_tokens if run else 0,
        cost_micro=run.cost_micro if run else None,
        created_at=merge.created_at,
        ended_at=merge.ended_at,
    )


def _get_state(merge: Merge) -> str:
    """Return the state of a merge.

    Whether it is waiting or working is read from its run, because the stored merge is not changed when its run starts.
    """
    if not is_under_way(merge):
        return merge.state
    return MergeState.WORKING if merge.run and merge.run.state == RunState.RUNNING else MergeState.WAITING
