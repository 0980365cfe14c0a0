"""Let a model propose a new agent for a sentence. A worker runs the job; clients poll the result."""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from common.errors import NotFound
from runs.kinds.agent_proposal import AGENT_PROPOSAL, build_proposal_input
from runs.models import NOT_ENDED, Run
from runs.services.runs import start_job, stop_job
from workspaces.permissions import WorkspaceVerb, get_workspace_for


@transaction.atomic
def propose_agent(actor: Actor, workspace_id: UUID, *, sentence: str) -> Run:
    """Start the job that proposes an agent which does what the sentence says. Nothing is created. The actor has one proposal at a
    time: an earlier one that is not ready is stopped.

    Raises `NotFound`, `Forbidden`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.CREATE_AGENT)
    for run in Run.objects.filter(kind=AGENT_PROPOSAL.name, trigger_id=actor.id, state__in=NOT_ENDED).order_by("pk"):
        stop_job(actor, run.id)
    job_input = build_proposal_input(sentence.strip())
    return start_job(actor, workspace.id, kind=AGENT_PROPOSAL, subject_id=actor.id, job_input=job_input)


def get_agent_proposal(actor: Actor, workspace_id: UUID, proposal_id: UUID) -> Run:
    """Return the job of a proposal that the actor has asked for. Raises `NotFound`, `Forbidden`."""
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.CREATE_AGENT)
    jobs = Run.objects.filter(kind=AGENT_PROPOSAL.name, workspace=workspace, on_behalf_of=actor)
    if (run := jobs.filter(pk=proposal_id).first()) is None:
        raise NotFound("There is no such proposal.")
    return run
