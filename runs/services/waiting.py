"""Runs that wait for people: queue them again after the decision, and end them when their person leaves."""

from collections.abc import Sequence

from approvals.models import Approval
from chats.services import RowChange
from common.clock import now
from runs.kinds.base import build_run_update
from runs.models import Run, RunState
from runs.services.dispatch import dispatch_run


def queue_decided_run(decided: Sequence[Approval]) -> list[RowChange]:
    """Return the change that queues a run of a locked chat again, once nothing of it is undecided. A listener of
    `approvals_decided`. A worker continues the run as after a crash: it makes the open calls, as decided."""
    run_id = decided[0].run_id
    if decided[0].decision == "stopped" or Approval.objects.filter(run_id=run_id, decision=None).exists():
        return []
    run = Run.objects.filter(pk=run_id, state=RunState.WAITING_APPROVAL).first()
    if run is None:
        return []
    dispatch_run(run)
    update = build_run_update(run, state=RunState.WAITING_APPROVAL, attempt=run.attempt)
    return [update.set(state=RunState.QUEUED, dispatched_at=now(), retry_at=None)]
