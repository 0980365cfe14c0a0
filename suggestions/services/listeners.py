"""Listeners of the hooks of runs and agents."""

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction

from actors.models import Actor
from agents.models import AgentSpec, Draft
from agents.specs.content import SpecContent
from common.errors import Code, Conflict
from common.writing import RowUpdate
from runs.errors import LeaseLost
from runs.models import Run, RunState
from suggestions.rows import build_unused_row
from suggestions.run_kinds import MERGE, SUMMARY
from suggestions.services.deciding import lock_unsaved_suggestions, record_saved_version, reopen_suggestions
from suggestions.services.finishing import fail_merge, finish_merge
from suggestions.services.summaries import fail_summary, finish_summary
from suggestions.services.unused import list_unused_suggestions

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 10
"""After this many attempts of a job its summary or merge is marked as failed. An error at the commit cannot be caught here, but
the number of attempts shows it."""


def finish_summaries_and_merges(runs: Sequence[Run]) -> None:
    """Finish the summaries and merges that jobs were for. A listener of `runs_ended`."""
    for run in runs:
        if run.kind == SUMMARY.name:
            _finish(run, finish_summary, fail_summary)
        elif run.kind == MERGE.name:
            _finish(run, finish_merge, fail_merge)


def _finish(run: Run, finish: Callable[[Run], None], fail: Callable[[Run], None]) -> None:
    """Finish the summary or merge that a job was for. After an unexpected error, mark it as failed."""
    if run.attempt > 2 * MAX_ATTEMPTS:
        logger.error("The %s of the job %s is left as it is: it cannot be marked as failed.", run.kind, run.pk)
        return
    if run.attempt > MAX_ATTEMPTS:
        logger.error("The %s of the job %s is marked as failed after %d attempts.", run.kind, run.pk, run.attempt)
        fail(run)
        return
    try:
        with transaction.atomic():
            finish(run)
    except (LeaseLost, OperationalError, InterfaceError):
        raise
    except Exception:
        if run.state == RunState.COMPLETED:
            # The job is then ended as failed, and this listener is called again without the answer, which may be the cause.
            raise
        logger.exception("The %s of the job %s is marked as failed.", run.kind, run.pk)
        fail(run)


def check_unused_suggestions(draft: Draft, content: SpecContent, known: Collection[UUID]) -> None:
    """Raise `Conflict` (`suggestions_unused`) if a suggestion that was merged into the draft is not used in this content, and is
    not `known`, so that nobody drops it without knowing. A listener of `draft_saving`."""
    unused = [one for one in list_unused_suggestions(draft, content) if one.pk not in known]
    if not unused:
        return
    names = ", ".join(dict.fromkeys(suggestion.author.name for suggestion in unused))
    raise Conflict(
        f"Suggestions that were merged into this draft are not in it: by {names}.",
        code=Code.SUGGESTIONS_UNUSED,
        hints=["Put them into the draft, or save it with their ids in unused_suggestions. Their authors are notified."],
        data={"suggestions": [build_unused_row(suggestion).model_dump(mode="json") for suggestion in unused]},
    )


def update_suggestions_of_draft(draft: Draft, actor: Actor, spec: AgentSpec | None) -> list[RowUpdate[Any]]:
    """Record the version that a draft was saved as on its suggestions. If the draft was not saved, reopen them."""
    if spec is not None:
        record_saved_version(draft, spec, actor)
    else:
        reopen_suggestions(lock_unsaved_suggestions(draft), actor)
    return []
