"""Merging suggestions into one draft: asked for, stopped, tried again (EDIT5).

Chats are taken first, all that a merge writes to; then the merge, its suggestions, and the draft last.
"""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from actors.models import Actor
from agents.permissions import AgentVerb, get_agent_for, get_production
from agents.selectors import find_draft
from agents.services import drafts
from chats import services as chats
from chats.permissions import ChatVerb, get_chat_for
from common.errors import Code, Conflict, NotFound, id_taken
from common.operators import get_for_operator
from common.writing import insert
from events import audit
from events.publish import notify_workspace_list_changed
from runs.services.runs import start_job, stop_job
from suggestions.briefs import merge_brief
from suggestions.models import Merge, MergeState, Suggestion
from suggestions.permissions import (
    MergeVerb,
    SuggestionVerb,
    get_merge_for,
    get_suggestion_for,
    hold_merge,
    is_under_way,
)
from suggestions.services.deciding import check_open
from suggestions.services.outcomes import copied, kept, named_for, suggestions_of
from suggestions.services.placing import close, place


def accept_suggestion(actor: Actor, suggestion_id: UUID, *, id: UUID, chat_id: UUID) -> Merge:
    """Accept one alone: a merge of one. Raises as `merge_suggestions`."""
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.ACCEPT)
    return merge_suggestions(actor, suggestion.agent_id, id=id, suggestion_ids=[suggestion_id], chat_id=chat_id)


@transaction.atomic
def merge_suggestions(actor: Actor, agent_id: UUID, *, id: UUID, suggestion_ids: list[UUID], chat_id: UUID) -> Merge:
    """Make one draft of suggestions, in this chat and held by `actor`, under an id that the client made: asking again with
    it changes nothing. One suggestion made on today's production is there at once; all else is a job.

    Raises `NotFound`, `Forbidden`, `Conflict`: `draft_locked`, `other_draft_locked`, `suggestion_closed`, `in_merge`, `id_taken`.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.REVIEW)
    chosen = list(dict.fromkeys(suggestion_ids))
    merge = Merge(id=id, by=actor, agent=agent, chat_id=chat_id, chosen=chosen)
    suggestions = Suggestion.objects.filter(agent=agent, pk__in=chosen)
    get_chat_for(actor, chat_id, ChatVerb.SEE)  # nobody locks a chat that they may not see
    chats.lock_chats([chat_id, *suggestions.values_list("chat_id", flat=True)])
    _, agent = drafts.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.REVIEW)
    if known := _known(merge):
        return known
    assert agent.workspace_id is not None, "only members of an agent's workspace review it"
    merge.workspace_id = agent.workspace_id
    open_ = _open(merge)
    _draft_is_free(merge)
    _stand_on(merge, agent)
    if not insert([merge], ignore_conflicts=True):
        raise id_taken("merge")
    audit.record(actor, "merge.started", workspace_id=merge.workspace_id, object_id=merge.id, agent=str(agent.id),
                 suggestions=[str(one) for one in chosen])  # fmt: skip
    _begin(merge, open_)
    return merge


def _known(merge: Merge) -> Merge | None:
    """The same merge, asked for before. Raises `Conflict` when the id stands for another one."""
    known = Merge.objects.filter(pk=merge.pk).first()
    said = ("by_id", "chat_id", "agent_id", "chosen")
    if known is not None and any(getattr(known, name) != getattr(merge, name) for name in said):
        raise id_taken("merge")
    return known


def _open(merge: Merge) -> list[Suggestion]:
    """The chosen suggestions, their rows locked, in the order given. Raises `NotFound`, `Conflict`."""
    found = suggestions_of(merge)
    if len(found) < len(merge.chosen):
        raise NotFound("One of these is no suggestion for this agent.")
    for suggestion in found:
        check_open(suggestion)
    return found


def _draft_is_free(merge: Merge) -> None:
    """Whether its draft could be placed if it were done now: it is asked again when it is. Raises `Conflict`."""
    drafts.check_edits_no_other_draft(merge.by, merge.chat_id, merge.agent_id)
    draft = find_draft(merge.chat_id, merge.agent_id)
    if draft is not None and draft.is_locked and draft.lock_holder_id != merge.by_id:
        raise drafts.build_locked_error(draft)


def _stand_on(merge: Merge, agent: Actor) -> None:
    merge.agent, merge.base = agent, get_production(agent)


def _begin(merge: Merge, suggestions: list[Suggestion]) -> None:
    """Merge them on `merge.base`: at once where nothing has to be merged, or by a job."""
    Suggestion.objects.filter(pk__in=merge.chosen).update(merge=merge)
    notify_workspace_list_changed(merge.workspace_id, "suggestions")
    if len(suggestions) == 1 and suggestions[0].base_id == merge.base_id:
        place(merge, suggestions, copied(merge, suggestions))
        return
    brief = merge_brief(
        merge.id, agent=merge.agent, production=merge.base.content(), suggestions=named_for(suggestions)
    )
    merge.run = start_job(merge.by, merge.workspace_id, kind="merge", subject_id=merge.id, job_input=brief)
    merge.save()


@transaction.atomic
def stop_merge(actor: Actor, merge_id: UUID, *, as_operator: bool = False) -> Merge:
    """Stop a merge, and its job if there is one. Its suggestions can be decided again.

    `as_operator`: an operator may do it without being a member. Raises `NotFound`, `Forbidden`, `Conflict` (`merge_ended`).
    """
    if as_operator:
        merge = get_for_operator(actor, Merge, merge_id)
        hold_merge(merge)
    else:
        merge = get_merge_for(actor, merge_id, MergeVerb.STOP, lock=True)
    if not is_under_way(merge):
        raise _over()
    close(merge, MergeState.STOPPED)
    audit.record(actor, "merge.stopped", workspace_id=merge.workspace_id, object_id=merge.id)
    if merge.run_id is not None:
        stop_job(actor, merge.run_id)
    return merge


def _over() -> Conflict:
    return Conflict(gettext("This merge is over."), code=Code.MERGE_ENDED)


@transaction.atomic
def retry_merge(actor: Actor, merge_id: UUID) -> Merge:
    """Try a merge again that failed or was stopped; the draft is for who asks now. What was merged on today's production, and
    could only not be placed, is placed without asking a model again. Asking while it is under way is asking once.

    Raises `NotFound`, `Forbidden`, `Conflict` as `merge_suggestions`, or `merge_ended` for one that is done.
    """
    merge = get_merge_for(actor, merge_id, MergeVerb.RETRY, lock=True)
    if is_under_way(merge):
        return merge
    if merge.state == MergeState.DONE:
        raise _over()
    _, agent = drafts.lock_chat_with_agent(actor, merge.chat_id, merge.agent_id, AgentVerb.REVIEW)
    merge.by = actor
    suggestions = _open(merge)
    _draft_is_free(merge)
    outcome = kept(merge) if merge.base_id == agent.current_spec_id else None
    _stand_on(merge, agent)
    merge.state, merge.ended_at, merge.error_code, merge.error = MergeState.WAITING, None, "", ""
    merge.method, merge.content, merge.result = "", None, None
    merge.fallback_code, merge.fallback = "", ""
    audit.record(actor, "merge.repeated", workspace_id=merge.workspace_id, object_id=merge.id)
    if outcome is not None:
        place(merge, suggestions, outcome)
    else:
        _begin(merge, suggestions)
    return merge
