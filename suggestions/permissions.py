"""Rights on suggestions and merges. Members of the workspace see them. Other rights follow from those on the agent, and from being
the author."""

from enum import StrEnum
from uuid import UUID

from actors.models import Actor
from agents.permissions import AgentVerb, compute_agent_verbs, get_agent_for
from chats.services import lock_chat, lock_chats
from common.access import check_verb, replace_not_found
from common.errors import NotFound
from events.rows import SuggestionState, SuggestionSummaryState
from suggestions.models import UNDER_WAY, Merge, Suggestion
from workspaces.permissions import WorkspaceVerb, get_workspace_for


class SuggestionVerb(StrEnum):
    SEE = "see"
    ACCEPT = "accept"
    REJECT = "reject"
    WITHDRAW = "withdraw"
    SUMMARIZE = "summarize"


class MergeVerb(StrEnum):
    SEE = "see"
    STOP = "stop"
    RETRY = "retry"


SEE_VERBS = frozenset({SuggestionVerb.SEE})
REVIEWER_VERBS = frozenset({SuggestionVerb.ACCEPT, SuggestionVerb.REJECT, SuggestionVerb.SUMMARIZE})
AUTHOR_VERBS = frozenset({SuggestionVerb.WITHDRAW, SuggestionVerb.SUMMARIZE})
DECISION_VERBS = frozenset({SuggestionVerb.ACCEPT, SuggestionVerb.REJECT, SuggestionVerb.WITHDRAW})


def _get_granted_verbs(
    suggestion: Suggestion, actor: Actor, verbs_on_agent: frozenset[AgentVerb]
) -> frozenset[SuggestionVerb]:
    verbs = SEE_VERBS
    if AgentVerb.REVIEW in verbs_on_agent:
        verbs |= REVIEWER_VERBS
    if suggestion.author_id == actor.id:
        verbs |= AUTHOR_VERBS
    return verbs


def compute_suggestion_verbs(
    suggestion: Suggestion, actor: Actor, verbs_on_agent: frozenset[AgentVerb]
) -> frozenset[SuggestionVerb]:
    """Return what the actor can do with a suggestion in its present state, given their rights on its agent."""
    verbs = _get_granted_verbs(suggestion, actor, verbs_on_agent)
    if suggestion.state != SuggestionState.PENDING or suggestion.merge_id:
        verbs -= DECISION_VERBS
    if suggestion.summary_state != SuggestionSummaryState.FAILED:
        verbs -= {SuggestionVerb.SUMMARIZE}
    return verbs


def _get_agent(actor: Actor, row: Suggestion | Merge) -> Actor:
    """Return the agent of a suggestion or merge. Raises `NotFound` for actors outside its workspace, even for a public agent."""
    get_workspace_for(actor, row.workspace_id, WorkspaceVerb.SEE)
    return get_agent_for(actor, row.agent_id, AgentVerb.SEE)


def get_suggestion_for(actor: Actor, id: UUID, verb: SuggestionVerb, *, lock: bool = False) -> Suggestion:
    """Return the suggestion if the actor has the right `verb`. Its state is not checked.

    `lock` locks its chat, then its row. Raises `NotFound`, `Forbidden`.
    """
    with replace_not_found("suggestion"):
        suggestion = Suggestion.objects.select_related("agent", "author", "base").filter(pk=id).first()
        if suggestion is None:
            raise NotFound("There is no such suggestion.")
    _check_suggestion_verb(actor, suggestion, verb)
    if lock:
        lock_chat(suggestion.chat_id)
        suggestion.refresh_from_db(from_queryset=Suggestion.objects.select_for_update())
        # Check again: the rights may have changed while this transaction waited for the locks.
        _check_suggestion_verb(actor, suggestion, verb)
    return suggestion


def _check_suggestion_verb(actor: Actor, suggestion: Suggestion, verb: SuggestionVerb) -> None:
    with replace_not_found("suggestion"):
        verbs_on_agent = compute_agent_verbs(_get_agent(actor, suggestion))
    granted = _get_granted_verbs(suggestion, actor, verbs_on_agent)
    check_verb(suggestion, granted, verb, see=SuggestionVerb.SEE, what="suggestion")


def get_merge_for(actor: Actor, id: UUID, verb: MergeVerb, *, lock: bool = False) -> Merge:
    """Return the merge if the actor has the right `verb`. All rights but `see` follow from the right to review the agent.

    `lock` locks the chats that it writes to, then its row. Raises `NotFound`, `Forbidden`.
    """
    with replace_not_found("merge"):
        merge = Merge.objects.filter(pk=id).first()
        if merge is None:
            raise NotFound("There is no such merge.")
    _check_merge_verb(actor, merge, verb)
    if lock:
        lock_merge(merge)
        _check_merge_verb(actor, merge, verb)
    return merge


def _check_merge_verb(actor: Actor, merge: Merge, verb: MergeVerb) -> None:
    with replace_not_found("merge"):
        is_reviewer = AgentVerb.REVIEW in compute_agent_verbs(_get_agent(actor, merge))
    allowed = frozenset(MergeVerb) if is_reviewer else frozenset({MergeVerb.SEE})
    check_verb(merge, allowed, verb, see=MergeVerb.SEE, what="merge")


def lock_merge(merge: Merge) -> None:
    """Lock the chats that a merge writes to, then the row of the merge, and reload it."""
    lock_chats([merge.chat_id, *Suggestion.objects.filter(pk__in=merge.chosen).values_list("chat_id", flat=True)])
    merge.refresh_from_db(from_queryset=Merge.objects.select_for_update())


def is_under_way(merge: Merge) -> bool:
    return merge.state in UNDER_WAY
