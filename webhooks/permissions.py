"""Rights on webhooks: those of the editors of the agent."""

from uuid import UUID

from actors.models import Actor
from agents.permissions import AgentVerb, get_agent_for
from common.errors import NotFound
from webhooks.models import Webhook


def get_webhook_for(actor: Actor, agent_id: UUID, webhook_id: UUID, *, lock: bool = False) -> Webhook:
    """Return a webhook of an agent if the actor may set the access to the agent. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SET_ACCESS)
    webhooks = Webhook.objects.filter(pk=webhook_id, agent=agent)
    webhook = (webhooks.select_for_update(of=("self",)) if lock else webhooks).select_related("agent").first()
    if webhook is None:
        raise NotFound("There is no such webhook.")
    return webhook
