"""How a suggestion ends: rejected, withdrawn, accepted by a merge; and how an accepted one comes to be pending again.

`pending -> …` is a compare-and-set on a row that is locked, with its chat (EDIT5).
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
from suggestions.services.lines import decided_line
from suggestions.services.outcomes import is_used

DECIDED = ["state", "decided_by", "decided_at", "reason", "merge"]


@transaction.atomic
def reject_suggestion(actor: Actor, suggestion_id: UUID, *, reason: str = "") -> Suggestion:
    """Say no, and why (up to 400 characters). Raises `NotFound`, `Forbidden`, `Conflict` (`suggestion_closed`, `in_merge`)."""
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.REJECT, lock=True)
    _decide(suggestion, State.REJECTED, actor, reason.strip())
    suggestion_changed(suggestion, "rejected", actor)
    return suggestion


@transaction.atomic
def withdraw_suggestion(actor: Actor, suggestion_id: UUID) -> Suggestion:
    """Take one's own suggestion back. Raises `NotFound`, `Forbidden`, `Conflict` (`suggestion_closed`, `in_merge`)."""
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.WITHDRAW, lock=True)
    _decide(suggestion, State.WITHDRAWN, actor)
    return suggestion


def check_open(suggestion: Suggestion) -> None:
    """Whether it can be decided. Raises `Conflict` saying what became of it."""
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


_LINES: dict[State, SystemMessageType] = {
    State.REJECTED: "SUGGESTION_REJECTED", State.WITHDRAWN: "SUGGESTION_WITHDRAWN"
}  # fmt: skip


def _decide(suggestion: Suggestion, state: State, actor: Actor, reason: str = "") -> None:
    check_open(suggestion)
    mark_decided(suggestion, state, actor, reason)
    chats.save_changes(suggestion.chat_id, [decided_line(suggestion, _LINES[state], actor)])
    notify_workspace_list_changed(suggestion.workspace_id, "suggestions")


def mark_decided(suggestion: Suggestion, state: State, actor: Actor, reason: str = "") -> None:
    """The decision, stored. The caller holds the row and has seen that it is open, and tells."""
    suggestion.state, suggestion.decided_by, suggestion.decided_at = state, actor, now()
    suggestion.reason = reason
    suggestion.save(update_fields=DECIDED)
    audit.record(actor, f"suggestion.{state}", workspace_id=suggestion.workspace_id, object_id=suggestion.id,
                 agent=str(suggestion.agent_id))  # fmt: skip


def reopen(suggestions: Iterable[Suggestion], actor: Actor) -> None:
    """Accepted ones whose words are in no draft any more are pending again. The caller holds the rows."""
    for suggestion in suggestions:
        suggestion_changed(suggestion, "reopened", actor)  # while it knows of which merge
        suggestion.state, suggestion.decided_by, suggestion.decided_at = State.PENDING, None, None
        suggestion.merge, suggestion.reason = None, ""
        suggestion.save(update_fields=DECIDED)
        audit.record(actor, "suggestion.reopened", workspace_id=suggestion.workspace_id, object_id=suggestion.id)
        notify_workspace_list_changed(suggestion.workspace_id, "suggestions")


def waiting_in(draft: Draft, *, but: Merge | None = None) -> QuerySet[Suggestion]:
    """Accepted ones that were merged into this draft and are in no version yet, their rows locked."""
    rows = Suggestion.objects.select_related("agent", "author").filter(
        merge__draft=draft, state=State.ACCEPTED, saved_as=None
    )
    rows = rows.exclude(merge=but) if but else rows
    return rows.order_by("pk").select_for_update(of=("self",))


def mark_saved(draft: Draft, spec: AgentSpec, actor: Actor) -> None:
    """Record which version the suggestions of a draft went into, and tell the authors of those of which nothing was left."""
    waiting = list(waiting_in(draft).select_related("agent", "author", "base"))
    content = spec.content()
    provenance = Provenance.model_validate(draft.provenance) if draft.provenance else None
    for suggestion in waiting:
        suggestion.saved_as = spec
        if not is_used(suggestion, content, provenance):
            suggestion.state = State.UNUSED
            suggestion_changed(suggestion, "unused", actor)
        suggestion.save(update_fields=["saved_as", "state"])
    for workspace_id in {suggestion.workspace_id for suggestion in waiting}:
        notify_workspace_list_changed(workspace_id, "suggestions")
