"""What suggestions do when they hear news from below."""

import logging

from django.db import InterfaceError, OperationalError, transaction

from actors.models import Actor
from agents.errors import LeaseLost
from agents.models import AgentSpec, Draft, Run, RunState
from chats.models import InChat
from suggestions.services.deciding import mark_saved, reopen, waiting_in
from suggestions.services.placing import give_up_merge, settle_merge
from suggestions.services.summaries import give_up_summary, settle_summary

logger = logging.getLogger(__name__)

ENDS = {"summary": (settle_summary, give_up_summary), "merge": (settle_merge, give_up_merge)}


def job_ended(run: Run) -> list[None]:
    """A summary or a merge has been worked on. Whatever breaks here, it does not stay under way (B7)."""
    if run.origin in ENDS:
        settle, give_up = ENDS[run.origin]
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
            give_up(run)
    return []


def draft_ended(draft: Draft, actor: Actor, spec: AgentSpec | None) -> list[InChat]:
    """What was merged into a draft is in the version that it became. When it became none, or goes on as another suggestion
    that may be rejected, nothing of it is accepted any more."""
    if spec is not None:
        mark_saved(draft, spec)
    else:
        reopen(waiting_in(draft), actor)
    return []
