"""Decide on suggestions: reject, withdraw, accept by a merge, and reopen an accepted one.

A suggestion is decided with its chat and its row locked, and only if it is pending (EDIT5).
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from actors.models import Actor
from agents.models import AgentSpec, Draft
from chats import services as chats
from common.clock import now
from common.errors import Code, Conflict
from events import audit
from events.payloads import SystemMessageType
from events.publish import notify_workspace_list_changed
from events.rows import Provenance
from suggestions.hooks import suggestion_changed
from suggestions.models import Merge, State, Suggestion
from suggestions.permissions import SuggestionVerb, get_suggestion_for
from suggestions.services.outcomes import is_used
from suggestions.services.system_messages import build_decision_message

DECISION_FIELDS = ["state", "decided_by", "decided_at", "reason", "merge"]


@transaction.atomic
def reject_suggestion(actor: Actor, suggestion_id: UUID, *, reason: str = "") -> Suggestion:
    """Reject a suggestion, with a reason of up to 400 characters.

    Raises `NotFound`, `Forbidden`, `Conflict` (`suggestion_closed`, `in_merge`).
    """
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.REJECT, lock=True)
    _decide(suggestion, State.REJECTED, actor, reason.strip())
    suggestion_changed(suggestion, "rejected", actor)
    return suggestion


@transaction.atomic
def withdraw_suggestion(actor: Actor, suggestion_id: UUID) -> Suggestion:
    """Withdraw the actor's own suggestion. Raises `NotFound`, `Forbidden`, `Conflict` (`suggestion_closed`, `in_merge`)."""
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.WITHDRAW, lock=True)
    _decide(suggestion, State.WITHDRAWN, actor)
    return suggestion


def check_open(suggestion: Suggestion) -> None:
    """Raise `Conflict` if the suggestion was decided before, or is being merged."""
    if suggestion.state != State.PENDING:
        by = suggestion.decided_by.name if suggestion.decided_by else ""
        done = "merged, but not used," if suggestion.state == State.UNUSED else suggestion.state
        raise Conflict(
            f"This suggestion was {done} by {by}.", code=Code.SUGGESTION_CLOSED,
            data={"id": str(suggestion.id), "state": suggestion.state, "decided_by": by},
        )  # fmt: skip
    if suggestion.merge_id:
        raise Conflict(
            "This suggestion is being merged.", code=Code.IN_MERGE, hints=["Wait for the merge, or stop it."],
            data={"id": str(suggestion.id), "merge_id": str(suggestion.merge_id)},
        )  # fmt: skip


_MESSAGE_TYPES: dict[State, SystemMessageType] = {
    State.REJECTED: "SUGGESTION_REJECTED", State.WITHDRAWN: "SUGGESTION_WITHDRAWN"
}  # fmt: skip


def _decide(suggestion: Suggestion, state: State, actor: Actor, reason: str = "") -> None:
    check_open(suggestion)
    record_decision(suggestion, state, actor, reason)
    chats.save_changes(suggestion.chat_id, [build_decision_message(suggestion, _MESSAGE_TYPES[state], actor)])
    notify_workspace_list_changed(suggestion.workspace_id, "suggestions")


def record_decision(suggestion: Suggestion, state: State, actor: Actor, reason: str = "") -> None:
    """Store the decision. The caller has locked the suggestion and called `check_open`; it adds the message and calls the hook."""
    suggestion.state, suggestion.decided_by, suggestion.decided_at = state, actor, now()
    suggestion.reason = reason
    suggestion.save(update_fields=DECISION_FIELDS)
    audit.record(actor, f"suggestion.{state}", workspace_id=suggestion.workspace_id, object_id=suggestion.id,
                 agent=str(suggestion.agent_id))  # fmt: skip


def reopen_suggestions(suggestions: Iterable[Suggestion], actor: Actor) -> None:
    """Make accepted suggestions pending again that are in no draft any more. The caller has locked them."""
    for suggestion in suggestions:
        suggestion_changed(suggestion, "reopened", actor)  # Before its merge is removed.
        suggestion.state, suggestion.decided_by, suggestion.decided_at = State.PENDING, None, None
        suggestion.merge, suggestion.reason = None, ""
        suggestion.save(update_fields=DECISION_FIELDS)
        audit.record(actor, "suggestion.reopened", workspace_id=suggestion.workspace_id, object_id=suggestion.id)
        notify_workspace_list_changed(suggestion.workspace_id, "suggestions")


def lock_unsaved_suggestions(draft: Draft, *, exclude: Merge | None = None) -> QuerySet[Suggestion]:
    """Return the suggestions, as a query that locks them, that were merged into this draft and are in no version yet."""
    rows = Suggestion.objects.select_related("agent", "author").filter(
        merge__draft=draft, state=State.ACCEPTED, saved_as=None
    )
    rows = rows.exclude(merge=exclude) if exclude else rows
    return rows.order_by("pk").select_for_update(of=("self",))


def record_saved_version(draft: Draft, spec: AgentSpec, actor: Actor) -> None:
    """Record the version that a draft was saved as in its suggestions. Those of which it contains nothing are unused."""
    suggestions = list(lock_unsaved_suggestions(draft).select_related("agent", "author", "base"))
    content = spec.content()
    provenance = Provenance.model_validate(draft.provenance) if draft.provenance else None
    for suggestion in suggestions:
        suggestion.saved_as = spec
        if not is_used(suggestion, content, provenance):
            suggestion.state = State.UNUSED
            suggestion_changed(suggestion, "unused", actor)
        suggestion.save(update_fields=["saved_as", "state"])
    for workspace_id in {suggestion.workspace_id for suggestion in suggestions}:
        notify_workspace_list_changed(workspace_id, "suggestions")
