"""The summary of a suggestion, which a job writes. If the job fails, the suggestion is kept without a summary."""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.specs.differences import diff
from chats import services as chats
from chats.models import Message
from common.writing import RowUpdate
from events import audit
from events.publish import publish_workspace_list_changed
from events.rows import DiffRow, SuggestionSummaryState
from runs.models import Run, RunState
from runs.services.runs import start_job
from suggestions.job_inputs import build_summary_input
from suggestions.models import Suggestion
from suggestions.permissions import SuggestionVerb, get_suggestion_for
from suggestions.run_kinds import SUMMARY

MAX_SUMMARY = 600
"""The number of characters at which a summary is cut."""


def start_summary(suggestion: Suggestion, requested_by: Actor, change: DiffRow) -> None:
    """Start the job that writes the summary, in the author's language. The caller saves the suggestion."""
    job_input = build_summary_input(
        change, agent=suggestion.agent, note=suggestion.note, language=suggestion.author.language
    )
    suggestion.summary_state, suggestion.summary_error = SuggestionSummaryState.PENDING, ""
    suggestion.summary_run = start_job(
        requested_by, suggestion.workspace_id, kind=SUMMARY, subject_id=suggestion.id, job_input=job_input
    )


def summarize_suggestion(actor: Actor, suggestion_id: UUID) -> Suggestion:
    """Retry a summary that failed. One that is being written, or is ready, is left unchanged.

    Raises `NotFound`, and `Forbidden` for people who neither wrote the suggestion nor may review it.
    """
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.SUMMARIZE)
    # A suggestion's content never changes, so it can be compared with its base before any row is locked.
    change = diff(suggestion.base.parse_content(), suggestion.parse_content())
    with transaction.atomic():
        suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.SUMMARIZE, lock=True)
        if suggestion.summary_state == SuggestionSummaryState.FAILED:
            start_summary(suggestion, actor, change)
            _store_summary(suggestion)
            audit.record(actor, "suggestion.summarized", workspace_id=suggestion.workspace_id, object_id=suggestion.id)
    return suggestion


def finish_summary(run: Run) -> None:
    """Store the answer of a finished job, or its error, on the suggestion that waits for it, if there is one."""
    suggestion = _lock_suggestion_of_job(run)
    if suggestion is None:
        return
    text = " ".join(run.answer.split()) if run.state == RunState.COMPLETED else ""
    if text:
        suggestion.summary, suggestion.summary_state = text[:MAX_SUMMARY], SuggestionSummaryState.READY
    else:
        suggestion.summary_state = SuggestionSummaryState.FAILED
        suggestion.summary_error = run.error or "No summary was written."
    _store_summary(suggestion)


def fail_summary(run: Run) -> None:
    """Mark the summary of this job as failed, after an unexpected error in `finish_summary`. People may retry it.

    The message in the chat is not updated, because the update may have raised the error.
    """
    suggestion = _lock_suggestion_of_job(run)
    if suggestion is not None:
        suggestion.summary_state, suggestion.summary_error = (
            SuggestionSummaryState.FAILED,
            "Something went wrong on our side.",
        )
        suggestion.save(update_fields=["summary_state", "summary_error"])
        publish_workspace_list_changed(suggestion.workspace_id, "suggestions")


def _lock_suggestion_of_job(run: Run) -> Suggestion | None:
    """Lock the suggestion that waits for this job, and its chat, and return it; null if there is none."""
    suggestion = Suggestion.objects.filter(summary_run=run.pk).first()
    if suggestion is None:
        return None
    chats.lock_chat(suggestion.chat_id)
    suggestion.refresh_from_db(from_queryset=Suggestion.objects.select_for_update())
    is_waiting = suggestion.summary_run_id == run.pk and suggestion.summary_state == SuggestionSummaryState.PENDING
    return suggestion if is_waiting else None


def _store_summary(suggestion: Suggestion) -> None:
    """Store the summary and show it in the suggestion's message. The caller has locked the chat."""
    suggestion.save(update_fields=["summary", "summary_state", "summary_error", "summary_run"])
    message = Message.objects.get(pk=suggestion.message_id)
    summary = {"summary": suggestion.summary, "summary_state": suggestion.summary_state}
    chats.save_changes(suggestion.chat_id, [RowUpdate(message).set(payload=message.payload | summary)])
    publish_workspace_list_changed(suggestion.workspace_id, "suggestions")
