"""Who may do what with suggestions and merges: members of the workspace see them, and the agent's rights decide."""

from enum import StrEnum
from uuid import UUID

from actors.models import Actor
from agents.permissions import AgentVerb, agent_verbs, get_agent_for
from chats.services import lock_chat, lock_chats
from common.access import check_verb, replace_not_found
from common.errors import NotFound
from suggestions.models import UNDER_WAY, Merge, State, Suggestion, SummaryState
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
    suggestion: Suggestion, actor: Actor, on_agent: frozenset[AgentVerb]
) -> frozenset[SuggestionVerb]:
    of_reviewer = REVIEWER_VERBS if AgentVerb.REVIEW in on_agent else frozenset()
    of_author = AUTHOR_VERBS if suggestion.author_id == actor.id else frozenset()
    return SEE_VERBS | of_reviewer | of_author


def suggestion_verbs(suggestion: Suggestion, actor: Actor, on_agent: frozenset[AgentVerb]) -> frozenset[SuggestionVerb]:
    """Return what the actor can do with a suggestion in its present state. `on_agent`: their rights on its agent."""
    can = _get_granted_verbs(suggestion, actor, on_agent)
    if suggestion.state != State.PENDING or suggestion.merge_id:
        can -= DECISION_VERBS
    return can if suggestion.summary_state == SummaryState.FAILED else can - {SuggestionVerb.SUMMARIZE}


def _get_agent(actor: Actor, of: Suggestion | Merge) -> Actor:
    """Return the agent of a suggestion or merge. Only members of its workspace get it, even if the agent is public."""
    get_workspace_for(actor, of.workspace_id, WorkspaceVerb.SEE)
    return get_agent_for(actor, of.agent_id, AgentVerb.SEE)


def get_suggestion_for(actor: Actor, id: UUID, verb: SuggestionVerb, *, lock: bool = False) -> Suggestion:
    """Return the suggestion if the actor has the right `verb`. Its state is not checked.

    `lock`: lock its chat, then its row. Raises `NotFound`, `Forbidden`.
    """
    with replace_not_found("suggestion"):
        suggestion = Suggestion.objects.select_related("agent", "author", "base").filter(pk=id).first()
        if suggestion is None:
            raise NotFound("There is no such suggestion.")
        _require_suggestion_verb(actor, suggestion, verb)
    if lock:
        lock_chat(suggestion.chat_id)
        suggestion.refresh_from_db(from_queryset=Suggestion.objects.select_for_update())
        # Check again: the rights may have changed while this waited for the locks.
        _require_suggestion_verb(actor, suggestion, verb)
    return suggestion


def _require_suggestion_verb(actor: Actor, suggestion: Suggestion, verb: SuggestionVerb) -> None:
    with replace_not_found("suggestion"):
        on_agent = agent_verbs(_get_agent(actor, suggestion))
    check_verb(
        suggestion, _get_granted_verbs(suggestion, actor, on_agent), verb, see=SuggestionVerb.SEE, what="suggestion"
    )


def get_merge_for(actor: Actor, id: UUID, verb: MergeVerb, *, lock: bool = False) -> Merge:
    """Return the merge if the actor has the right `verb`: all but `see` need the right to review the agent.

    `lock`: lock its chats, then its row. Raises `NotFound`, `Forbidden`.
    """
    with replace_not_found("merge"):
        merge = Merge.objects.filter(pk=id).first()
        if merge is None:
            raise NotFound("There is no such merge.")
    _require_merge_verb(actor, merge, verb)
    if lock:
        lock_merge(merge)
        _require_merge_verb(actor, merge, verb)
    return merge


def _require_merge_verb(actor: Actor, merge: Merge, verb: MergeVerb) -> None:
    with replace_not_found("merge"):
        reviews = AgentVerb.REVIEW in agent_verbs(_get_agent(actor, merge))
    allowed = frozenset(MergeVerb) if reviews else frozenset({MergeVerb.SEE})
    check_verb(merge, allowed, verb, see=MergeVerb.SEE, what="merge")


def lock_merge(merge: Merge) -> None:
    """Lock the chats that a merge writes to, then its row, and reload it."""
    lock_chats([merge.chat_id, *Suggestion.objects.filter(pk__in=merge.chosen).values_list("chat_id", flat=True)])
    merge.refresh_from_db(from_queryset=Merge.objects.select_for_update())


def is_under_way(merge: Merge) -> bool:
    return merge.state in UNDER_WAY
