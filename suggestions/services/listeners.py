"""What suggestions do when they hear news from below."""

import logging
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from actors.models import Actor
from agents.models import AgentSpec, Draft
from common.writing import RowUpdate
from runs.errors import LeaseLost
from runs.models import Run, RunState
from suggestions.services.deciding import mark_saved, reopen, waiting_in
from suggestions.services.placing import give_up_merge, settle_merge
from suggestions.services.summaries import give_up_summary, settle_summary

logger = logging.getLogger(__name__)

GIVEN_UP_AFTER = 10
"""Attempts of a job after which its result is not stored any more, only given up. An error at a commit is seen here only, by the
job being started again and again."""

ENDS = {"summary": (settle_summary, give_up_summary), "merge": (settle_merge, give_up_merge)}


def job_ended(run: Run) -> None:
    """A summary or a merge has been worked on. Whatever breaks here, it does not stay under way."""
    if run.origin in ENDS:
        settle, fail_unstorable_run = ENDS[run.origin]
        if run.attempt > 2 * GIVEN_UP_AFTER:
            logger.error("What the job %s was for is left as it is: it cannot even be given up.", run.pk)
            return
        if run.attempt > GIVEN_UP_AFTER:
            logger.error("What the job %s was for is given up after %d attempts.", run.pk, run.attempt)
            fail_unstorable_run(run)
            return
        try:
            with transaction.atomic():
                settle(run)
        except (LeaseLost, OperationalError, InterfaceError):
            raise
        except Exception:
            if run.state == RunState.COMPLETED:
                # The answer is not taken: the job comes here again as one that has failed, and without it there may be a way.
                raise
            logger.exception("What the job %s was for is given up.", run.pk)
            fail_unstorable_run(run)


def draft_ended(draft: Draft, actor: Actor, spec: AgentSpec | None) -> list[RowUpdate[Any]]:
    """What was merged into a draft is in the version that it became, or nothing of it is. When it became none, or goes on as
    another suggestion that may be rejected, nothing of it is accepted any more."""
    if spec is not None:
        mark_saved(draft, spec, actor)
    else:
        reopen(waiting_in(draft), actor)
    return []
