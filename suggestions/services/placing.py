"""How a merge ends. The draft and the acceptance of its suggestions are one transaction, or neither is there."""

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
from events.publish import notify_workspace_list_changed
from runs.models import Run, RunState
from suggestions.hooks import merge_ended, suggestion_changed
from suggestions.models import UNDER_WAY, Merge, MergeState, State, Suggestion
from suggestions.permissions import hold_merge, is_under_way
from suggestions.services.deciding import mark_decided, reopen, waiting_in
from suggestions.services.lines import decided_line
from suggestions.services.outcomes import Outcome, outcome_of, suggestions_of

logger = logging.getLogger(__name__)

NOT_PLACED = "The draft could not be placed."
FAILURES = {
    Code.DRAFT_LOCKED: "Somebody else is writing the draft in that chat.",
    Code.OTHER_DRAFT_LOCKED: "Who asked for the merge is writing another draft.",
    Code.NOT_FOUND: "Who asked for the merge, or the agent, is not in that chat any more.",
    Code.FORBIDDEN: "Who asked for the merge may not review the agent any more.",
    Code.TOO_LARGE: "Together the suggestions are more than an agent can be given.",
    Code.INTERNAL: "Something went wrong on our side.",
}
"""Why a merge failed, in words of its own: the whole workspace reads them, also who is not in the chat. An error's own message
may name people, chats and agents (SEC2)."""


def settle_merge(run: Run) -> None:
    """A merge's job has ended: its draft is placed, or the merge has failed and keeps what it came to. One that is not
    waited for any more is passed over."""
    merge = _held(run)
    if merge is None:
        return
    if run.state == RunState.STOPPED:
        close(merge, MergeState.STOPPED)
        return
    suggestions = suggestions_of(merge)
    try:
        outcome = outcome_of(run, merge, suggestions)
    except AppError as error:
        _fail(merge, error)
        return
    _place_or_keep(merge, suggestions, outcome)


def give_up_merge(run: Run) -> None:
    """A merge that could not even be settled has failed, so that it can be tried again."""
    merge = _held(run)
    if merge is None:
        return
    merge.error_code, merge.error = Code.INTERNAL.value, FAILURES[Code.INTERNAL]
    close(merge, MergeState.FAILED)
    try:
        with transaction.atomic():
            _told(merge, "merge.failed")
    except Exception:
        # Telling may be what is broken.
        logger.exception("Nobody could be told that the merge %s has failed.", merge.pk)


def _held(run: Run) -> Merge | None:
    """The merge that waits for this job, held; none when it does not any more."""
    merge = Merge.objects.filter(run=run.pk, state__in=UNDER_WAY).first()
    if merge is None:
        return None
    hold_merge(merge)
    return merge if is_under_way(merge) and merge.run_id == run.pk else None


def _place_or_keep(merge: Merge, suggestions: Sequence[Suggestion], outcome: Outcome) -> None:
    try:
        with transaction.atomic():
            place(merge, suggestions, outcome)
    except AppError as error:
        merge.refresh_from_db()
        _keep(merge, outcome)
        _fail(merge, error)


def place(merge: Merge, suggestions: Sequence[Suggestion], outcome: Outcome) -> None:
    """Make the draft, accept the suggestions, end the merge. The caller holds all chats, the merge and its suggestions.

    Raises as `replace_draft`, and `Forbidden` when who asked may not review the agent any more.
    """
    get_agent_for(merge.by, merge.agent_id, AgentVerb.REVIEW)
    merge.state, merge.ended_at = MergeState.DONE, now()
    _keep(merge, outcome)
    merge.error_code, merge.error = outcome.error_code[:40], outcome.error[:600]
    merge.save()
    for suggestion in suggestions:
        suggestion.merge = merge
        mark_decided(suggestion, State.ACCEPTED, merge.by)
    merge.draft = _draft(merge, suggestions, outcome)
    merge.save(update_fields=["draft"])
    # What an earlier merge had put into this draft is not in it any more.
    reopen(waiting_in(merge.draft, but=merge), merge.by)
    for suggestion in suggestions:
        suggestion_changed(suggestion, "accepted", merge.by)
    _told(merge, "merge.done")


def _draft(merge: Merge, suggestions: Sequence[Suggestion], outcome: Outcome) -> Draft:
    lines: dict[UUID, list[chats.RowChange]] = {}
    for suggestion in suggestions:
        line = decided_line(suggestion, "SUGGESTION_ACCEPTED", merge.by)
        lines.setdefault(suggestion.chat_id, []).append(line)
    authors = list(dict.fromkeys(suggestion.author.name for suggestion in suggestions))
    merged = chats.system_line(
        merge.chat_id, "DRAFT_MERGED", actor=merge.by, target=merge.agent, merge_id=merge.id, authors=authors
    )
    draft = drafts.replace_draft(
        merge.by,
        merge.chat_id,
        merge.agent_id,
        content=outcome.content,
        base=merge.base,
        provenance=outcome.provenance,
        log_message=merged,
        lock=True,
        changes=lines.pop(merge.chat_id, ()),
    )
    for chat_id in sorted(lines):
        chats.save_changes(chat_id, lines[chat_id])
    return draft


def _keep(merge: Merge, outcome: Outcome) -> None:
    merge.method = outcome.method
    merge.content = outcome.content.as_json()
    merge.result = outcome.provenance.model_dump(mode="json")
    merge.fallback_code, merge.fallback = outcome.error_code[:40], outcome.error[:600]


def _fail(merge: Merge, error: AppError) -> None:
    merge.error_code, merge.error = error.code.value, FAILURES.get(error.code, NOT_PLACED)
    close(merge, MergeState.FAILED)
    _told(merge, "merge.failed")


def close(merge: Merge, state: MergeState) -> None:
    """End a merge that made no draft: its suggestions are free again. The caller holds it."""
    merge.state, merge.ended_at = state, now()
    merge.save()
    Suggestion.objects.filter(merge=merge, state=State.PENDING).update(merge=None)
    notify_workspace_list_changed(merge.workspace_id, "suggestions")


def _told(merge: Merge, deed: str) -> None:
    audit.record(merge.by, deed, workspace_id=merge.workspace_id, object_id=merge.id, method=merge.method,
                 code=merge.error_code)  # fmt: skip
    notify_workspace_list_changed(merge.workspace_id, "suggestions")
    merge_ended(merge)
