"""Finish a merge: create its draft and accept its suggestions, in one transaction, or record why that failed."""

import logging
from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from agents.models import Draft
from agents.permissions import AgentVerb, get_agent_for
from agents.services import drafts
from chats import services as chats
from common.clock import now
from common.errors import AppError, Code
from events import audit
from events.publish import publish_workspace_list_changed
from events.rows import MergeState, SuggestionState
from runs.models import Run, RunState
from suggestions.hooks import merge_ended, suggestion_changed
from suggestions.models import UNDER_WAY, Merge, Suggestion
from suggestions.permissions import is_under_way, lock_merge
from suggestions.services.deciding import (
    build_decision_message,
    lock_unsaved_suggestions,
    record_decision,
    reopen_suggestions,
)
from suggestions.services.outcomes import Outcome, get_job_outcome, lock_chosen_suggestions

logger = logging.getLogger(__name__)

DEFAULT_FAILURE = "The draft could not be created."
FAILURES = {
    Code.DRAFT_LOCKED: "Another person is editing the draft in that chat.",
    Code.OTHER_DRAFT_LOCKED: "The person who requested the merge is editing another draft.",
    Code.NOT_FOUND: "The person who requested the merge, or the agent, is no longer in that chat.",
    Code.FORBIDDEN: "The person who requested the merge may no longer review the agent.",
    Code.TOO_LARGE: "Together the suggestions are longer than the spec of an agent may be.",
    Code.INTERNAL: "Something went wrong on our side.",
}
"""Why a merge failed. All members of the workspace can read this text, so, unlike the message of the error, it names no people,
chats or agents."""


def finish_merge(run: Run) -> None:
    """Finish the merge that waits for this job, if there is one.

    If its draft cannot be created, the merge fails and keeps its outcome for `retry_merge`.
    """
    merge = _lock_merge_of_job(run)
    if merge is None:
        return
    if run.state == RunState.STOPPED:
        close_merge(merge, MergeState.STOPPED)
        return
    suggestions = lock_chosen_suggestions(merge)
    try:
        outcome = get_job_outcome(run, merge, suggestions)
    except AppError as error:
        _record_failure(merge, error)
        return
    try:
        with transaction.atomic():
            complete_merge(merge, suggestions, outcome)
    except AppError as error:
        merge.refresh_from_db()
        _set_outcome(merge, outcome)
        _record_failure(merge, error)


def fail_merge(run: Run) -> None:
    """Mark the merge of this job as failed, after an unexpected error in `finish_merge`. People may retry it."""
    merge = _lock_merge_of_job(run)
    if merge is None:
        return
    merge.error_code, merge.error = Code.INTERNAL.value, FAILURES[Code.INTERNAL]
    close_merge(merge, MergeState.FAILED)
    try:
        with transaction.atomic():
            _report_end(merge, "merge.failed")
    except Exception:
        # A listener of the report may have raised the unexpected error before.
        logger.exception("The failure of the merge %s could not be reported.", merge.pk)


def _lock_merge_of_job(run: Run) -> Merge | None:
    """Lock the merge that waits for this job, and its chats, and return it; null if there is none."""
    merge = Merge.objects.filter(run=run.pk, state__in=UNDER_WAY).first()
    if merge is None:
        return None
    lock_merge(merge)
    return merge if is_under_way(merge) and merge.run_id == run.pk else None


def complete_merge(merge: Merge, suggestions: Sequence[Suggestion], outcome: Outcome) -> None:
    """Create the draft, accept the suggestions and end the merge. The caller has locked all chats, the merge and its suggestions.

    Raises the errors of `replace_draft`, and `Forbidden` if the person who requested the merge may no longer review the agent.
    """
    get_agent_for(merge.by, merge.agent_id, AgentVerb.REVIEW)
    merge.state, merge.ended_at = MergeState.DONE, now()
    _set_outcome(merge, outcome)
    merge.error_code, merge.error = outcome.error_code[:40], outcome.error[:600]
    merge.save()
    for suggestion in suggestions:
        suggestion.merge = merge
        record_decision(suggestion, SuggestionState.ACCEPTED, merge.by)
    merge.draft = _create_draft(merge, suggestions, outcome)
    merge.save(update_fields=["draft"])
    # The draft no longer contains the suggestions of earlier merges.
    reopen_suggestions(lock_unsaved_suggestions(merge.draft, exclude=merge), merge.by)
    for suggestion in suggestions:
        suggestion_changed.call(suggestion, "accepted", merge.by)
    _report_end(merge, "merge.done")


def _create_draft(merge: Merge, suggestions: Sequence[Suggestion], outcome: Outcome) -> Draft:
    """Replace the draft in the merge's chat, and add a message about each suggestion to the chat where it was made."""
    messages: dict[UUID, list[chats.RowChange]] = {}
    for suggestion in suggestions:
        message = build_decision_message(suggestion, "SUGGESTION_ACCEPTED", merge.by)
        messages.setdefault(suggestion.chat_id, []).append(message)
    authors = list(dict.fromkeys(suggestion.author.name for suggestion in suggestions))
    draft = drafts.replace_draft(
        merge.by,
        merge.chat_id,
        merge.agent_id,
        content=outcome.content,
        base=merge.base,
        provenance=outcome.provenance,
        system_message=chats.build_system_message(
            merge.chat_id, "DRAFT_MERGED", actor=merge.by, target=merge.agent, merge_id=merge.id, authors=authors
        ),
        lock=True,
        changes=messages.pop(merge.chat_id, ()),
    )
    for chat_id in sorted(messages):
        chats.save_changes(chat_id, messages[chat_id])
    return draft


def _set_outcome(merge: Merge, outcome: Outcome) -> None:
    merge.method = outcome.method
    merge.content = outcome.content.as_json()
    merge.result = outcome.provenance.model_dump(mode="json")
    merge.fallback_code, merge.fallback = outcome.error_code[:40], outcome.error[:600]


def _record_failure(merge: Merge, error: AppError) -> None:
    merge.error_code, merge.error = error.code.value, FAILURES.get(error.code, DEFAULT_FAILURE)
    close_merge(merge, MergeState.FAILED)
    _report_end(merge, "merge.failed")


def close_merge(merge: Merge, state: MergeState) -> None:
    """End a locked merge without a draft, and detach its suggestions, so that they can be decided again."""
    merge.state, merge.ended_at = state, now()
    merge.save()
    Suggestion.objects.filter(merge=merge, state=SuggestionState.PENDING).update(merge=None)
    publish_workspace_list_changed(merge.workspace_id, "suggestions")


def _report_end(merge: Merge, action: str) -> None:
    audit.record(
        merge.by,
        action,
        workspace_id=merge.workspace_id,
        object_id=merge.id,
        method=merge.method,
        code=merge.error_code,
    )
    publish_workspace_list_changed(merge.workspace_id, "suggestions")
    merge_ended.call(merge)
