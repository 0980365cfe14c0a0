"""Runs that wait for people or for other agents: queue them again when that is over."""

import logging
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef

from approvals.models import Approval
from chats import services as chats
from chats.services import RowChange
from common.clock import now
from common.sql_constant import SqlConstant
from runs.kinds.base import build_run_update
from runs.models import NOT_ENDED, Run, RunState
from runs.runtime.dispatch import dispatch_run
from runs.runtime.sub_agents import queue_callers

logger = logging.getLogger(__name__)


def queue_decided_run(decided: Sequence[Approval]) -> list[RowChange]:
    """Return the change that queues a run of a locked chat again, once all is decided; none if the run is ending (`stopped`). A
    listener of `approvals_decided`. A worker continues the run as after a crash: it makes the open calls, as decided."""
    run_id = decided[0].run_id
    if decided[0].decision == "stopped" or Approval.objects.filter(run_id=run_id, decision=None).exists():
        return []
    run = Run.objects.filter(pk=run_id, state=RunState.WAITING_APPROVAL).first()
    if run is None:
        return []
    dispatch_run(run)
    update = build_run_update(run, state=RunState.WAITING_APPROVAL, attempt=run.attempt)
    return [update.set(state=RunState.QUEUED, dispatched_at=None if run.is_isolated else now(), retry_at=None)]


def queue_callers_of_ended_sub_agents() -> None:
    """Queue the runs that wait for sub-agents which have all ended. The end of a sub-agent's run does this, unless
    `fail_unstorable_run` failed that run without a message in its chat. An error is logged; the others are queued all the
    same."""
    sub_agents = Run.objects.filter(parent=OuterRef("pk"), state__in=NOT_ENDED)
    for caller in Run.objects.filter(~Exists(sub_agents), state=SqlConstant(RunState.WAITING_CHILD)):
        try:
            with transaction.atomic():
                chats.lock_chat(caller.get_chat_id())
                if changes := queue_callers(list(Run.objects.filter(parent=caller)[:1])):  # any one names its caller
                    chats.save_changes(caller.get_chat_id(), changes)
        except Exception:
            logger.exception("Run %s was not queued again after its sub-agents have ended", caller.id)
