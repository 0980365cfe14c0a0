"""Listeners of the hooks of runs and agents."""

import logging
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from actors.models import Actor
from agents.models import AgentSpec, Draft
from common.writing import RowUpdate
from runs.errors import LeaseLost
from runs.models import Run, RunState
from suggestions.services.deciding import lock_unsaved_suggestions, record_saved_version, reopen_suggestions
from suggestions.services.finishing import fail_merge, finish_merge
from suggestions.services.summaries import fail_summary, finish_summary

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 10
"""After this many attempts of a job its summary or merge is marked as failed. An error at the commit cannot be caught here: it
only shows in the number of attempts."""

HANDLERS = {"summary": (finish_summary, fail_summary), "merge": (finish_merge, fail_merge)}


def job_ended(run: Run) -> None:
    """Finish the summary or merge that a job was for. After an unexpected error it has failed, and is not left under way."""
    if run.origin in HANDLERS:
        finish, fail = HANDLERS[run.origin]
        if run.attempt > 2 * MAX_ATTEMPTS:
            logger.error("What the job %s was for is left as it is: it cannot even be given up.", run.pk)
            return
        if run.attempt > MAX_ATTEMPTS:
            logger.error("What the job %s was for is given up after %d attempts.", run.pk, run.attempt)
            fail(run)
            return
        try:
            with transaction.atomic():
                finish(run)
        except (LeaseLost, OperationalError, InterfaceError):
            raise
        except Exception:
            if run.state == RunState.COMPLETED:
                # The job is ended as failed instead, and comes here again without its answer, which may be the cause.
                raise
            logger.exception("What the job %s was for is given up.", run.pk)
            fail(run)


def draft_ended(draft: Draft, actor: Actor, spec: AgentSpec | None) -> list[RowUpdate[Any]]:
    """Record the version that the suggestions in a draft were saved in. If the draft was not saved, reopen them."""
    if spec is not None:
        record_saved_version(draft, spec, actor)
    else:
        reopen_suggestions(lock_unsaved_suggestions(draft), actor)
    return []
