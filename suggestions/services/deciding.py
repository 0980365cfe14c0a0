"""Decide on suggestions: reject, withdraw, accept through a merge, and reopen an accepted one.

A decision locks the chat and the row of the suggestion, and requires that the suggestion is pending (EDIT5).
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from actors.models import Actor
from agents.models import AgentSpec, Draft
from chats import services as chats
from chats.models import Message
from common.clock import now
from common.errors import Code, Conflict
from events import audit
from events.payloads import SystemMessageType
from events.publish import publish_workspace_list_changed
from events.rows import Provenance, SuggestionState
from suggestions.hooks import suggestion_changed
from suggestions.models import Merge, Suggestion
from suggestions.permissions import SuggestionVerb, get_suggestion_for
from suggestions.services.outcomes import is_used

DECISION_FIELDS = ["state", "decided_by", "decided_at", "reason", "merge"]


@transaction.atomic
def reject_suggestion(actor: Actor, suggestion_id: UUID, *, reason: str = "") -> Suggestion:
    """Reject a suggestion. `reason` has up to 400 characters.

    Raises `NotFound`, `Forbidden`, `Conflict` (`suggestion_closed`, `in_merge`).
    """
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.REJECT, lock=True)
    _decide(suggestion, SuggestionState.REJECTED, actor, reason.strip())
    suggestion_changed.call(suggestion, "rejected", actor)
    return suggestion


@transaction.atomic
def withdraw_suggestion(actor: Actor, suggestion_id: UUID) -> Suggestion:
    """Withdraw the actor's own suggestion. Raises `NotFound`, `Forbidden`, `Conflict` (`suggestion_closed`, `in_merge`)."""
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.WITHDRAW, lock=True)
    _decide(suggestion, SuggestionState.WITHDRAWN, actor)
    return suggestion


def check_can_be_decided(suggestion: Suggestion) -> None:
    """Raise `Conflict` if the suggestion is already decided (`suggestion_closed`) or is being merged (`in_merge`)."""
    if suggestion.state != SuggestionState.PENDING:
        decided_by = suggestion.decided_by.name if suggestion.decided_by else ""
        decision = "merged, but not used," if suggestion.state == SuggestionState.UNUSED else suggestion.state
        raise Conflict(
            f"This suggestion was {decision} by {decided_by}.",
            code=Code.SUGGESTION_CLOSED,
            data={"id": str(suggestion.id), "state": suggestion.state, "decided_by": decided_by},
        )
    if suggestion.merge_id:
        raise Conflict(
            "This suggestion is being merged.",
            code=Code.IN_MERGE,
            hints=["Wait for the merge, or stop it."],
            data={"id": str(suggestion.id), "merge_id": str(suggestion.merge_id)},
        )


_MESSAGE_TYPES: dict[SuggestionState, SystemMessageType] = {
    SuggestionState.REJECTED: "SUGGESTION_REJECTED",
    SuggestionState.WITHDRAWN: "SUGGESTION_WITHDRAWN",
}


def _decide(suggestion: Suggestion, state: SuggestionState, actor: Actor, reason: str = "") -> None:
    check_can_be_decided(suggestion)
    record_decision(suggestion, state, actor, reason)
    chats.save_changes(suggestion.chat_id, [build_decision_message(suggestion, _MESSAGE_TYPES[state], actor)])
    publish_workspace_list_changed(suggestion.workspace_id, "suggestions")


def build_decision_message(suggestion: Suggestion, type_: SystemMessageType, actor: Actor) -> Message:
    """Build the message that the actor accepted, rejected or withdrew a suggestion. The message's `note` is the reason."""
    return chats.build_system_message(
        suggestion.chat_id,
        type_,
        actor=actor,
        target=suggestion.agent,
        authors=[suggestion.author.name],
        suggestion_id=suggestion.id,
        merge_id=suggestion.merge_id,
        note=suggestion.reason,
    )


def record_decision(suggestion: Suggestion, state: SuggestionState, actor: Actor, reason: str = "") -> None:
    """Store a decision.

    The caller has locked the suggestion, which is pending. The caller also adds the message to the chat and calls the hook.
    """
    suggestion.state, suggestion.decided_by, suggestion.decided_at = state, actor, now()
    suggestion.reason = reason
    suggestion.save(update_fields=DECISION_FIELDS)
    audit.record(
        actor,
        f"suggestion.{state}",
        workspace_id=suggestion.workspace_id,
        object_id=suggestion.id,
        agent=str(suggestion.agent_id),
    )


def reopen_suggestions(suggestions: Iterable[Suggestion], actor: Actor) -> None:
    """Make accepted suggestions pending again, because their draft no longer contains them. The caller has locked them."""
    for suggestion in suggestions:
        # The listeners read the merge of the suggestion, which is removed below.
        suggestion_changed.call(suggestion, "reopened", actor)
        suggestion.state, suggestion.decided_by, suggestion.decided_at = SuggestionState.PENDING, None, None
        suggestion.merge, suggestion.reason = None, ""
        suggestion.save(update_fields=DECISION_FIELDS)
        audit.record(actor, "suggestion.reopened", workspace_id=suggestion.workspace_id, object_id=suggestion.id)
        publish_workspace_list_changed(suggestion.workspace_id, "suggestions")


def lock_unsaved_suggestions(draft: Draft, *, exclude: Merge | None = None) -> QuerySet[Suggestion]:
    """Return the suggestions that were merged into this draft and are not saved in a version yet. The query locks their rows."""
    rows = Suggestion.objects.select_related("agent", "author").filter(
        merge__draft=draft, state=SuggestionState.ACCEPTED, saved_as=None
    )
    rows = rows.exclude(merge=exclude) if exclude else rows
    return rows.order_by("pk").select_for_update(of=("self",))


def record_saved_version(draft: Draft, spec: AgentSpec, actor: Actor) -> None:
    """Record on the suggestions of a draft the version that the draft was saved as.

    A suggestion of which the version contains nothing becomes unused.
    """
    suggestions = list(lock_unsaved_suggestions(draft).select_related("agent", "author", "base"))
    content = spec.parse_content()
    provenance = Provenance.model_validate(draft.provenance) if draft.provenance else None
    for suggestion in suggestions:
        suggestion.saved_as = spec
        if not is_used(suggestion, content, provenance):
            suggestion.state = SuggestionState.UNUSED
            suggestion_changed.call(suggestion, "unused", actor)
        suggestion.save(update_fields=["saved_as", "state"])
    for workspace_id in {suggestion.workspace_id for suggestion in suggestions}:
        publish_workspace_list_changed(workspace_id, "suggestions")
