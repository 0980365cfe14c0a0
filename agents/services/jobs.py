"""Jobs: work for shipped agents outside any chat, such as a summary or a merge. One engine, one ledger.

A job is a `Run` without a chat: its brief is what the agent reads, its answer what came of it. Whoever started it hears
of its end by the seam `job_ended`, once.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from actors.models import Actor, AgentStatus
from agents.errors import CannotGoOn, LeaseLost
from agents.models import Run, RunState
from agents.models.runs import ACTIVE
from agents.services.hints import hint, hint_lane
from agents.services.leases import taken
from agents.services.places import AS_JOB
from agents.shipped import shipped
from common.clock import now
from common.compiled import Compiled
from common.errors import Forbidden, NotFound
from events.control import send_stop
from events.rows import Stamp
from workspaces.models import Workspace
from workspaces.permissions import WorkspaceVerb, get_workspace_for

Kind = Literal["summary", "merge"]
AGENTS: dict[Kind, str] = {"summary": "summarizer", "merge": "merger"}

_WHOLE: Compiled[Run] = Compiled(
    lambda run_id: Run.objects.filter(pk=run_id).select_related(
        "agent__current_spec", "on_behalf_of", "workspace", "spec", "stopped_by"
    ),
    UUID,
)


@dataclass(frozen=True)
class Brief:
    """What a job is asked: `text` for an agent, `input` the same as data for a service outside; `expected` is about how many
    characters the answer will have."""

    text: str
    input: dict[str, Any]
    expected: int

    @classmethod
    def of(cls, run: Run) -> "Brief":
        """What this job was asked."""
        assert run.brief is not None, "this run is no job"
        return cls(**run.brief)


def start_job(*, workspace: Workspace, kind: Kind, subject_id: UUID, brief: Brief, on_behalf_of: Actor) -> Run:
    """Have it done by a worker, for this person, at the workspace's expense; in the caller's transaction.

    One job at a time works on a subject; its id is the run's `trigger_id`.
    """
    run = Run(
        workspace=workspace, agent=shipped(AGENTS[kind]), origin=kind, lane=f"{kind}:{subject_id}", trigger_id=subject_id,
        payer=workspace, on_behalf_of=on_behalf_of, brief=asdict(brief), hinted_at=now(),
    )  # fmt: skip
    run.write()
    hint(run)
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
            run.only_if(state=RunState.QUEUED, attempt=run.attempt).set(stopped_by=actor)
            AS_JOB.end(run, RunState.STOPPED, by=actor)
    except LeaseLost:
        return False
    hint_lane(run.lane)
    return True


def begun_job(waiting: Run, owner: str) -> Run | None:
    """The job, begun; nothing when it has ended instead. Raises `LeaseLost` and `IntegrityError` as `claim` expects."""
    run = _WHOLE.first(waiting.pk)
    if run is None:
        raise LeaseLost(f"Run {waiting.pk} is gone.")
    run.only_if(state=RunState.QUEUED, attempt=waiting.attempt)
    if run.stop_requested_at is not None:
        AS_JOB.end(run, RunState.STOPPED, by=run.stopped_by)
        return None
    try:
        check_person(run)
    except CannotGoOn as hindrance:
        AS_JOB.end(run, RunState.FAILED, code=hindrance.code, text=hindrance.text)
        return None
    spec = run.spec or run.agent.current_spec
    assert spec is not None, "a shipped agent has a version"
    stamp = run.stamp or Stamp(spec_id=spec.id, version=spec.number).model_dump(mode="json")
    taken(run, owner).set(spec=spec, stamp=stamp, limits=spec.limits)
    run.write()
    return run


def check_person(run: Run) -> None:
    """Whether a job may still be worked on: asked when it begins and when it answers. Raises `CannotGoOn`."""
    if run.agent.status != AgentStatus.READY or run.agent.taken_down_at is not None:
        raise CannotGoOn("place_lost", "An operator has suspended the agent that does this.")
    if run.on_behalf_of is None:
        raise CannotGoOn("place_lost", "The person it was asked by is gone.")
    try:
        get_workspace_for(run.on_behalf_of, run.workspace_id, WorkspaceVerb.SEE)
    except (NotFound, Forbidden) as error:
        text = "The person it was asked by is not a member of this workspace any more."
        raise CannotGoOn("place_lost", text) from error
