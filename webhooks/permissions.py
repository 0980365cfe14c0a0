"""Rights on webhooks and on the access to an agent: those of the editors of the agent."""

from uuid import UUID

from actors.models import Actor
from agents.permissions import AgentVerb, get_agent_for
from common.errors import NotFound
from webhooks.models import Webhook
from workspaces.models import Workspace


def lock_agent_to_give_access(actor: Actor, agent_id: UUID) -> Actor:
    """Lock an agent and its workspace, and return the agent if the actor may set the access to it. Raises `NotFound`, `Forbidden`.

    What people have made for an agent ends when they lose this right (`end_access_of_maker`), with the workspace locked. So the
    right is checked after that lock: nothing is made while the right is withdrawn, and left over.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.SET_ACCESS)
    if agent.workspace_id is not None:
        Workspace.objects.select_for_update(no_key=True).get(pk=agent.workspace_id)
    return get_agent_for(actor, agent_id, AgentVerb.SET_ACCESS, lock=True)


def get_webhook_for(actor: Actor, agent_id: UUID, webhook_id: UUID, *, lock: bool = False) -> Webhook:
    """Return a webhook of an agent if the actor may set the access to the agent. Raises `NotFound`, `Forbidden`. `lock`: lock it,
    and before it the agent and the workspace."""
    if lock:
        agent = lock_agent_to_give_access(actor, agent_id)
    else:
        agent = get_agent_for(actor, agent_id, AgentVerb.SET_ACCESS)
    webhooks = Webhook.objects.filter(pk=webhook_id, agent=agent)
    webhook = (webhooks.select_for_update(of=("self",)) if lock else webhooks).select_related("agent").first()
    if webhook is None:
        raise NotFound("There is no such webhook.")
    return webhook
