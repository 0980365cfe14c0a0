"""Jobs: work for shipped agents outside any chat, such as a summary or a merge. One engine, one ledger.

A job is a `Run` without a chat: its brief is what the agent reads, its answer what came of it. Whoever started it hears
of its end by the hook `job_ended`, once.
"""

from dataclasses import asdict
from typing import Literal
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from actors.models import Actor
from agents.services.shipped import get_shipped_agent
from common.clock import now
from common.writing import insert
from events.control import send_stop
from runs.errors import LeaseLost
from runs.kinds.job import JOB, JobInput
from runs.kinds.transitions import build_run_update
from runs.models import ACTIVE, Run, RunState
from runs.services.dispatch import dispatch_next_run, dispatch_run
from workspaces.models import Workspace

Kind = Literal["summary", "merge"]
AGENTS: dict[Kind, str] = {"summary": "summarizer", "merge": "merger"}


def start_job(*, workspace: Workspace, kind: Kind, subject_id: UUID, job_input: JobInput, on_behalf_of: Actor) -> Run:
    """Have it done by a worker, for this person, at the workspace's expense; in the caller's transaction.

    One job at a time works on a subject; its id is the run's `trigger_id`.
    """
    run = Run(
        workspace=workspace,
        agent=get_shipped_agent(AGENTS[kind]),
        origin=kind,
        concurrency_key=f"{kind}:{subject_id}",
        trigger_id=subject_id,
        payer=workspace,
        on_behalf_of=on_behalf_of,
        triggered_by=on_behalf_of,
        job_input=asdict(job_input),
        dispatched_at=now(),
    )
    insert([run])
    dispatch_run(run)
    return run


@transaction.atomic
def stop_job(*, run_id: UUID, actor: Actor) -> None:
    """End a job: one that waits ends at once, one that is at work within a second or so. Nothing when it is over.

    Rights are the caller's to check: through what the job is about. The end is told (`job_ended`), for one that waits
    before this returns.
    """
    run = Run.objects.select_related("agent").get(pk=run_id, chat=None)
    if run.state == RunState.QUEUED and _ended_waiting(run, actor):
        return
    asked = Run.objects.filter(Q(pk=run.pk), state__in=ACTIVE, stop_requested_at=None)
    if asked.update(stop_requested_at=now(), stopped_by=actor):
        send_stop(run.tree_id)


def _ended_waiting(run: Run, actor: Actor) -> bool:
    """False when a worker was faster: then it is at work."""
    try:
        with transaction.atomic():
            update = build_run_update(run, state=RunState.QUEUED, attempt=run.attempt).set(stopped_by=actor)
            JOB.close(update, RunState.STOPPED, by=actor)
    except LeaseLost:
        return False
    dispatch_next_run(run.concurrency_key)
    return True
