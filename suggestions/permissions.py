"""Who may do what with suggestions and merges: members of the workspace see them, and the agent's rights decide."""

from enum import StrEnum
from uuid import UUID

from actors.models import Actor
from agents.permissions import AgentVerb, agent_verbs, get_agent_for
from chats.services import lock_chat, lock_chats
from common.access import not_found_as, require
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


SEEN = frozenset({SuggestionVerb.SEE})
REVIEWED = frozenset({SuggestionVerb.ACCEPT, SuggestionVerb.REJECT, SuggestionVerb.SUMMARIZE})
OWN = frozenset({SuggestionVerb.WITHDRAW, SuggestionVerb.SUMMARIZE})
DECISIONS = frozenset({SuggestionVerb.ACCEPT, SuggestionVerb.REJECT, SuggestionVerb.WITHDRAW})


def _rights(suggestion: Suggestion, actor: Actor, on_agent: frozenset[AgentVerb]) -> frozenset[SuggestionVerb]:
    reviewed = REVIEWED if AgentVerb.REVIEW in on_agent else frozenset()
    own = OWN if suggestion.author_id == actor.id else frozenset()
    return SEEN | reviewed | own


def suggestion_verbs(suggestion: Suggestion, actor: Actor, on_agent: frozenset[AgentVerb]) -> frozenset[SuggestionVerb]:
    """What `actor`, who has these rights on its agent, can do with a suggestion as it stands."""
    can = _rights(suggestion, actor, on_agent)
    if suggestion.state != State.PENDING or suggestion.merge_id:
        can -= DECISIONS
    return can if suggestion.summary_state == SummaryState.FAILED else can - {SuggestionVerb.SUMMARIZE}


def _agent(actor: Actor, of: Suggestion | Merge) -> Actor:
    """The agent that it is about, for a member of its workspace. Who may see a public agent sees no suggestions to it."""
    get_workspace_for(actor, of.workspace_id, WorkspaceVerb.SEE)
    return get_agent_for(actor, of.agent_id, AgentVerb.SEE)


def get_suggestion_for(actor: Actor, id: UUID, verb: SuggestionVerb, *, lock: bool = False) -> Suggestion:
    """The suggestion, when this may be done with it; whether its state allows it is the service's question.

    `lock` holds its chat, and then its row. Raises `NotFound`, `Forbidden`.
    """
    with not_found_as("suggestion"):
        suggestion = Suggestion.objects.select_related("agent", "author", "base").filter(pk=id).first()
        if suggestion is None:
            raise NotFound("There is no such suggestion.")
        _demand_suggestion(actor, suggestion, verb)
    if lock:
        lock_chat(suggestion.chat_id)
        suggestion.refresh_from_db(from_queryset=Suggestion.objects.select_for_update())
        # Again, now that the locks are there: rights may have been withdrawn while they were waited for.
        _demand_suggestion(actor, suggestion, verb)
    return suggestion


def _demand_suggestion(actor: Actor, suggestion: Suggestion, verb: SuggestionVerb) -> None:
    with not_found_as("suggestion"):
        on_agent = agent_verbs(_agent(actor, suggestion))
    require(suggestion, _rights(suggestion, actor, on_agent), verb, see=SuggestionVerb.SEE, what="suggestion")


def get_merge_for(actor: Actor, id: UUID, verb: MergeVerb, *, lock: bool = False) -> Merge:
    """The merge, when this may be done with it: all but seeing it is for who may review the agent.

    `lock` holds its chats, and then its row. Raises `NotFound`, `Forbidden`.
    """
    with not_found_as("merge"):
        merge = Merge.objects.filter(pk=id).first()
        if merge is None:
            raise NotFound("There is no such merge.")
    _demand_merge(actor, merge, verb)
    if lock:
        hold_merge(merge)
        _demand_merge(actor, merge, verb)
    return merge


def _demand_merge(actor: Actor, merge: Merge, verb: MergeVerb) -> None:
    with not_found_as("merge"):
        reviews = AgentVerb.REVIEW in agent_verbs(_agent(actor, merge))
    allowed = frozenset(MergeVerb) if reviews else frozenset({MergeVerb.SEE})
    require(merge, allowed, verb, see=MergeVerb.SEE, what="merge")


def hold_merge(merge: Merge) -> None:
    """Hold the chats that a merge writes to, and then its row, which is read anew."""
    lock_chats([merge.chat_id, *Suggestion.objects.filter(pk__in=merge.chosen).values_list("chat_id", flat=True)])
    merge.refresh_from_db(from_queryset=Merge.objects.select_for_update())


def is_under_way(merge: Merge) -> bool:
    return merge.state in UNDER_WAY
