"""The tree of the agents of a workspace: which agent reports to which."""

from uuid import UUID

from django.db import transaction
from django.db.models import F

from actors.models import Actor, AgentStatus, Kind
from agents.permissions import AgentVerb, get_agent_for
from common.errors import Code, Conflict, Invalid
from events import audit
from events.publish import publish_workspace_list_changed


@transaction.atomic
def move_agent(actor: Actor, agent_id: UUID, parent_id: UUID | None) -> Actor:
    """Let an agent report to another one of its workspace, or, without a `parent_id`, to none.

    Raises `NotFound`, `Forbidden`, `Invalid` if the two agents are not of one workspace, and `Conflict` (`would_report_to_itself`)
    if the parent is the agent itself or reports to it.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.UPDATE_PROFILE)
    if parent_id is not None:
        parent = get_agent_for(actor, parent_id, AgentVerb.SEE)
        if agent.workspace_id is None or parent.workspace_id != agent.workspace_id:
            raise Invalid("An agent reports to an agent of its own workspace.")
    # All agents are locked, in one order: of two moves that together would make a circle, the second waits and sees the first.
    agents = Actor.objects.filter(workspace=agent.workspace_id, kind=Kind.AGENT).exclude(status=AgentStatus.DELETED)
    parents = dict(agents.order_by("pk").select_for_update(no_key=True).values_list("pk", "parent_id"))
    above = parent_id
    while above is not None:
        if above == agent.id:
            raise Conflict(
                f"{agent.name} would report to itself.",
                code=Code.WOULD_REPORT_TO_ITSELF,
                hints=["Choose an agent that does not report to it."],
            )
        above = parents.get(above)
    if parent_id is not None and parent_id not in parents:
        raise Invalid("The agent was deleted meanwhile.")
    Actor.objects.filter(pk=agent.pk).update(parent=parent_id, revision=F("revision") + 1)
    agent.refresh_from_db(fields=["parent", "revision"])
    audit.record(actor, "agent.moved", workspace_id=agent.workspace_id, object_id=agent.id, parent=str(parent_id or ""))
    if agent.workspace_id:
        publish_workspace_list_changed(agent.workspace_id, "agents")
    return agent


def lift_children(agent: Actor) -> None:
    """Let the agents under an agent that is being deleted report to its parent."""
    # All agents are locked, as in `move_agent`: otherwise the parent could change meanwhile.
    agents = Actor.objects.filter(workspace=agent.workspace_id, kind=Kind.AGENT)
    parents = dict(agents.order_by("pk").select_for_update(no_key=True).values_list("pk", "parent_id"))
    Actor.objects.filter(parent=agent).update(parent=parents.get(agent.pk), revision=F("revision") + 1)
