"""The access of outside programs to an agent: its API tokens, and whether a program answers for it."""

from uuid import UUID

from django.db import transaction

from actors import services as actors
from actors.models import Actor, ApiToken
from agents.permissions import AgentVerb, get_agent_for
from events import audit
from events.publish import publish_workspace_list_changed
from webhooks.permissions import lock_agent_to_give_access


@transaction.atomic
def set_access(actor: Actor, agent_id: UUID, *, runs_outside: bool) -> Actor:
    """Set whether an outside program answers for an agent. Its wakes make no runs then. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SET_ACCESS, lock=True)
    Actor.objects.filter(pk=agent.pk).update(runs_outside=runs_outside)
    agent.runs_outside = runs_outside
    audit.record(
        actor, "agent.access_set", workspace_id=agent.workspace_id, object_id=agent.id, runs_outside=runs_outside
    )
    if agent.workspace_id:
        publish_workspace_list_changed(agent.workspace_id, "agents")
    return agent


@transaction.atomic
def create_agent_token(
    actor: Actor, agent_id: UUID, *, name: str, days: int | None, scope: str
) -> tuple[ApiToken, str]:
    """Create an API token of an agent. Return it with its text, which is not stored.

    Raises `NotFound`, `Forbidden`, `QuotaReached`.
    """
    agent = lock_agent_to_give_access(actor, agent_id)
    return actors.create_token(actor, name=name, days=days, scope=scope, agent=agent)


@transaction.atomic
def revoke_agent_token(actor: Actor, agent_id: UUID, token_id: UUID) -> None:
    """Revoke a token of an agent. Its sockets end at once. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SET_ACCESS)
    actors.revoke_token(actor, token_id, agent=agent)
