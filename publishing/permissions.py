"""Find public agents, for the actor who asks. Rights on them are those of agents (`agents/permissions.py`)."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from actors.models import Actor, AgentStatus
from agents.permissions import AgentVerb, agents_visible_to, compute_agent_verbs
from agents.services.shipped import SHIPPED
from common.errors import Code, Conflict, NotFound
from common.handles import HANDLE_PATTERN, normalize_handle
from publishing.models import Listing
from tools.registry import get_called_agent_id
from workspaces.models import Membership

PUBLIC = {"is_public": True, "taken_down_at": None}
ID_LENGTH = 36


def public_agents_visible_to(actor: Actor) -> QuerySet[Any]:
    """Return the public agents of the directory, annotated for `compute_agent_verbs` and with `is_yours`: whether the actor is a
    member of the workspace that published it. Agents that only do jobs, such as summaries, are not among them."""
    return _list_published_agents(actor).filter(status=AgentStatus.READY)


def _list_published_agents(actor: Actor) -> QuerySet[Any]:
    """Return the agents of `public_agents_visible_to`, also those that are suspended."""
    own = Membership.objects.filter(workspace=OuterRef("published_by_workspace_id"), actor=actor)
    agents = agents_visible_to(actor).filter(**PUBLIC)
    handles = [handle for handle, definition in SHIPPED.items() if not definition.is_sub_agent]
    jobs = Actor.objects.filter(is_shipped=True, handle__in=handles)
    return agents.exclude(pk__in=jobs.values("pk")).annotate(is_yours=Exists(own))


def get_public_agent(actor: Actor, handle: str) -> Any:
    """Return the public agent with this handle, id or name as a tool, with its version, listing, publisher and use.

    Raises `NotFound`, with the code `taken_down` if the agent was taken down. One that is suspended is found only by those who may
    take it down.
    """
    agents = _list_published_agents(actor).select_related(
        "current_spec", "listing", "published_by_workspace", "public_use"
    )
    handle = normalize_handle(handle)
    matches = Q(handle=handle) if HANDLE_PATTERN.fullmatch(handle) else Q(pk__in=[])
    with suppress(ValueError):
        # A handle may look like an id. The id of a public agent finds only this agent: not another one with that handle.
        id = UUID(handle) if len(handle) == ID_LENGTH else get_called_agent_id(handle)
        matches = Q(pk=id) if id and Actor.objects.filter(pk=id, is_public=True).exists() else matches
    agent = agents.filter(matches).first()
    if agent is not None and (agent.status == AgentStatus.READY or AgentVerb.TAKE_DOWN in compute_agent_verbs(agent)):
        return agent
    taken_down = Listing.objects.filter(agent__in=Actor.objects.filter(matches, taken_down_at__isnull=False))
    listing = taken_down.select_related("agent").order_by("-agent__taken_down_at").first()
    if listing is not None:
        raise _build_taken_down_error(actor, listing)
    raise NotFound("There is no such public agent.")


def get_original_for(actor: Actor, copy: Actor) -> Actor | None:
    """Return the original of a public agent if the actor may publish it anew, or null."""
    original = agents_visible_to(actor).filter(published_copies=copy).first()
    return original if original is not None and AgentVerb.PUBLISH in compute_agent_verbs(original) else None


def _build_taken_down_error(actor: Actor, listing: Listing) -> NotFound:
    agent: Any = listing.agent
    original = get_original_for(actor, agent)
    anew = Actor.objects.filter(**PUBLIC, status=AgentStatus.READY, published_from_agent=agent.published_from_agent_id)
    published_anew = anew.first() if agent.published_from_agent_id else None
    return NotFound(
        f"{agent.name} was taken down.",
        code=Code.TAKEN_DOWN,
        data={
            "agent_id": str(agent.id),
            "name": agent.name,
            "reason": listing.takedown_reason,
            "by_operator": listing.taken_down_by_operator,
            "taken_down_at": agent.taken_down_at.isoformat(),
            "origin_id": str(original.id) if original else None,
            "origin_workspace_id": str(original.workspace_id) if original else None,
            "new_handle": published_anew.handle if published_anew else None,
            "new_name": published_anew.name if published_anew else None,
        },
    )


def find_public_copy(original: Actor) -> Actor | None:
    """Return the public copy of an agent, or null."""
    return original.published_copies.filter(**PUBLIC).select_related("listing", "current_spec").first()


def get_public_copy(original: Actor) -> Actor:
    """Return the public copy of an agent. Raises `Conflict` (`not_public`)."""
    copy = find_public_copy(original)
    if copy is None:
        raise build_not_public_error(original.name)
    return copy


def build_not_public_error(name: str) -> Conflict:
    return Conflict(f"{name} is not public.", code=Code.NOT_PUBLIC)
