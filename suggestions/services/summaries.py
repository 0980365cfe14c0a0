"""The summary of a suggestion: a job that costs nobody the suggestion when it fails."""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.specs.differences import diff
from chats import services as chats
from events import audit
from events.publish import notify_workspace_list_changed
from events.rows import DiffRow
from runs.models import Run, RunState
from runs.services.runs import start_job
from suggestions.briefs import summary_brief
from suggestions.models import Suggestion, SummaryState
from suggestions.permissions import SuggestionVerb, get_suggestion_for
from suggestions.services.lines import build_summary_update

MAX_SUMMARY = 600


def begin_summary(suggestion: Suggestion, asked_by: Actor, change: DiffRow) -> None:
    """Have it written, in its author's language; the caller stores the suggestion, and has compared the texts before it
    locked anything."""
    brief = summary_brief(change, agent=suggestion.agent, note=suggestion.note, language=suggestion.author.language)
    suggestion.summary_state, suggestion.summary_error = SummaryState.PENDING, ""
    suggestion.summary_run = start_job(
        asked_by, suggestion.workspace_id, kind="summary", subject_id=suggestion.id, job_input=brief
    )


def summarize_suggestion(actor: Actor, suggestion_id: UUID) -> Suggestion:
    """Have a summary written that failed before; asking while it is being written is asking once.

    Raises `NotFound`, `Forbidden` (for who neither wrote the suggestion nor reviews it).
    """
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.SUMMARIZE)
    # What a suggestion proposes never changes: it is compared before anything is locked.
    return _summarize(actor, suggestion_id, diff(suggestion.base.content(), suggestion.proposed()))


@transaction.atomic
def _summarize(actor: Actor, suggestion_id: UUID, change: DiffRow) -> Suggestion:
    suggestion = get_suggestion_for(actor, suggestion_id, SuggestionVerb.SUMMARIZE, lock=True)
    if suggestion.summary_state == SummaryState.FAILED:
        begin_summary(suggestion, actor, change)
        _shown(suggestion)
        audit.record(actor, "suggestion.summarized", workspace_id=suggestion.workspace_id, object_id=suggestion.id)
    return suggestion


def settle_summary(run: Run) -> None:
    """A summary's job has ended: what it says, or why there is none, is shown. One that is not waited for is passed over."""
    suggestion = _held(run)
    if suggestion is None:
        return
    text = " ".join(run.answer.split()) if run.state == RunState.COMPLETED else ""
    if text:
        suggestion.summary, suggestion.summary_state = text[:MAX_SUMMARY], SummaryState.READY
    else:
        suggestion.summary_state = SummaryState.FAILED
        suggestion.summary_error = run.error or "No summary was written."
    _shown(suggestion)


def give_up_summary(run: Run) -> None:
    """A summary that could not even be shown has failed, so that it can be asked for again. Its line is left as it is:
    changing it may be what is broken."""
    suggestion = _held(run)
    if suggestion is not None:
        suggestion.summary_state, suggestion.summary_error = SummaryState.FAILED, "Something went wrong on our side."
        suggestion.save(update_fields=["summary_state", "summary_error"])
        notify_workspace_list_changed(suggestion.workspace_id, "suggestions")


def _held(run: Run) -> Suggestion | None:
    """The suggestion that waits for this job, held with its chat; none when it does not any more."""
    suggestion = Suggestion.objects.filter(summary_run=run.pk).first()
    if suggestion is None:
        return None
    chats.lock_chat(suggestion.chat_id)
    suggestion.refresh_from_db(from_queryset=Suggestion.objects.select_for_update())
    is_waiting = suggestion.summary_run_id == run.pk and suggestion.summary_state == SummaryState.PENDING
    return suggestion if is_waiting else None


def _shown(suggestion: Suggestion) -> None:
    suggestion.save(update_fields=["summary", "summary_state", "summary_error", "summary_run"])
    chats.save_changes(suggestion.chat_id, [build_summary_update(suggestion)])
    notify_workspace_list_changed(suggestion.workspace_id, "suggestions")
