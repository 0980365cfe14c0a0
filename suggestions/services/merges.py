"""Start, stop and retry the merge of suggestions into one draft (EDIT5).

The order of locks: all chats that a merge writes to, the merge, its suggestions, the draft.
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
from common.errors import Code, Conflict, NotFound, build_id_taken_error
from common.operators import get_for_operator
from common.writing import insert
from events import audit
from events.publish import notify_workspace_list_changed
from runs.services.runs import start_job, stop_job
from suggestions.job_inputs import build_merge_input
from suggestions.models import Merge, MergeState, Suggestion
from suggestions.permissions import (
    MergeVerb,
    SuggestionVerb,
    get_merge_for,
    get_suggestion_for,
    is_under_way,
    lock_merge,
)
from suggestions.services.deciding import check_open
from suggestions.services.finishing import close_merge, complete_merge
from suggestions.services.outcomes import (
    build_named_proposals,
    copy_suggestion,
    get_stored_outcome,
    lock_chosen_suggestions,
)


def accept_suggestion(actor: Actor, suggestion_id: UUID, *, id: UUID, chat_id: UUID) -> Merge:
    """Accept one suggestion: a merge of this one. Raises the errors of `merge_suggestions`."""
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.ACCEPT)
    return merge_suggestions(actor, suggestion.agent_id, id=id, suggestion_ids=[suggestion_id], chat_id=chat_id)


@transaction.atomic
def merge_suggestions(actor: Actor, agent_id: UUID, *, id: UUID, suggestion_ids: list[UUID], chat_id: UUID) -> Merge:
    """Merge suggestions into one draft in this chat, locked by the actor.

    A single suggestion made on the current production version becomes the draft at once. All else is a job. `id`: made by the
    client; the same request with the same id changes nothing.

    Raises `NotFound`, `Forbidden`, `Conflict`: `draft_locked`, `other_draft_locked`, `suggestion_closed`, `in_merge`, `id_taken`.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.REVIEW)
    chosen = list(dict.fromkeys(suggestion_ids))
    merge = Merge(id=id, by=actor, agent=agent, chat_id=chat_id, chosen=chosen)
    suggestions = Suggestion.objects.filter(agent=agent, pk__in=chosen)
    get_chat_for(actor, chat_id, ChatVerb.SEE)  # Check it before the chat is locked.
    chats.lock_chats([chat_id, *suggestions.values_list("chat_id", flat=True)])
    _, agent = drafts.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.REVIEW)
    if existing := _find_existing(merge):
        return existing
    assert agent.workspace_id is not None, "only members of an agent's workspace review it"
    merge.workspace_id = agent.workspace_id
    suggestions_to_merge = _lock_open_suggestions(merge)
    _check_draft_is_available(merge)
    merge.agent, merge.base = agent, get_production(agent)
    if not insert([merge], ignore_conflicts=True):
        raise build_id_taken_error("merge")
    audit.record(actor, "merge.started", workspace_id=merge.workspace_id, object_id=merge.id, agent=str(agent.id),
                 suggestions=[str(one) for one in chosen])  # fmt: skip
    _start_merge(merge, suggestions_to_merge)
    return merge


def _find_existing(merge: Merge) -> Merge | None:
    """Return the merge of an earlier, equal request. Raises `Conflict` if another one has its id."""
    existing = Merge.objects.filter(pk=merge.pk).first()
    fields = ("by_id", "chat_id", "agent_id", "chosen")
    if existing is not None and any(getattr(existing, name) != getattr(merge, name) for name in fields):
        raise build_id_taken_error("merge")
    return existing


def _lock_open_suggestions(merge: Merge) -> list[Suggestion]:
    """Lock the chosen suggestions, and return them in the order chosen. Raises `NotFound`, `Conflict`."""
    found = lock_chosen_suggestions(merge)
    if len(found) < len(merge.chosen):
        raise NotFound("One of these is no suggestion for this agent.")
    for suggestion in found:
        check_open(suggestion)
    return found


def _check_draft_is_available(merge: Merge) -> None:
    """Raise `Conflict` if somebody else edits the draft, or the actor another one. `replace_draft` checks it again."""
    drafts.check_edits_no_other_draft(merge.by, merge.chat_id, merge.agent_id)
    draft = find_draft(merge.chat_id, merge.agent_id)
    if draft is not None and draft.is_locked and draft.lock_holder_id != merge.by_id:
        raise drafts.build_locked_error(draft)


def _start_merge(merge: Merge, suggestions: list[Suggestion]) -> None:
    """Merge the suggestions on top of `merge.base`: at once if there is nothing to merge, else by a job."""
    Suggestion.objects.filter(pk__in=merge.chosen).update(merge=merge)
    notify_workspace_list_changed(merge.workspace_id, "suggestions")
    if len(suggestions) == 1 and suggestions[0].base_id == merge.base_id:
        complete_merge(merge, suggestions, copy_suggestion(merge, suggestions[0]))
        return
    job_input = build_merge_input(
        merge.id, agent=merge.agent, production=merge.base.content(), suggestions=build_named_proposals(suggestions)
    )
    merge.run = start_job(merge.by, merge.workspace_id, kind="merge", subject_id=merge.id, job_input=job_input)
    merge.save()


@transaction.atomic
def stop_merge(actor: Actor, merge_id: UUID, *, as_operator: bool = False) -> Merge:
    """Stop a merge, and its job if there is one. Its suggestions can be decided again.

    `as_operator`: an operator may do it without being a member. Raises `NotFound`, `Forbidden`, `Conflict` (`merge_ended`).
    """
    if as_operator:
        merge = get_for_operator(actor, Merge, merge_id)
        lock_merge(merge)
    else:
        merge = get_merge_for(actor, merge_id, MergeVerb.STOP, lock=True)
    if not is_under_way(merge):
        raise _build_ended_error()
    close_merge(merge, MergeState.STOPPED)
    audit.record(actor, "merge.stopped", workspace_id=merge.workspace_id, object_id=merge.id)
    if merge.run_id is not None:
        stop_job(actor, merge.run_id)
    return merge


def _build_ended_error() -> Conflict:
    return Conflict(gettext("This merge is over."), code=Code.MERGE_ENDED)


@transaction.atomic
def retry_merge(actor: Actor, merge_id: UUID) -> Merge:
    """Retry a merge that failed or was stopped. The draft is locked by the actor. A merge under way is returned as it is.

    If only its draft could not be created, and production has not changed, the outcome of the last attempt is used.
    Raises the errors of `merge_suggestions`, and `Conflict` (`merge_ended`) if it is done.
    """
    merge = get_merge_for(actor, merge_id, MergeVerb.RETRY, lock=True)
    if is_under_way(merge):
        return merge
    if merge.state == MergeState.DONE:
        raise _build_ended_error()
    _, agent = drafts.lock_chat_with_agent(actor, merge.chat_id, merge.agent_id, AgentVerb.REVIEW)
    merge.by = actor
    suggestions = _lock_open_suggestions(merge)
    _check_draft_is_available(merge)
    outcome = get_stored_outcome(merge) if merge.base_id == agent.current_spec_id else None
    merge.agent, merge.base = agent, get_production(agent)
    merge.state, merge.ended_at, merge.error_code, merge.error = MergeState.WAITING, None, "", ""
    merge.method, merge.content, merge.result = "", None, None
    merge.fallback_code, merge.fallback = "", ""
    audit.record(actor, "merge.repeated", workspace_id=merge.workspace_id, object_id=merge.id)
    if outcome is not None:
        complete_merge(merge, suggestions, outcome)
    else:
        _start_merge(merge, suggestions)
    return merge
