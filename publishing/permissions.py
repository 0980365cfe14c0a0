"""Find public agents, for the actor who asks. Rights on them are those of agents (`agents/permissions.py`)."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from actors.models import Actor, AgentStatus
from agents.permissions import agents_visible_to
from common.errors import Code, Conflict, NotFound
from common.handles import HANDLE_PATTERN, normalize_handle
from runs.services.runs import AGENT_OF_JOB
from workspaces.models import Membership

PUBLIC = {"is_public": True, "taken_down_at": None}


def public_agents_visible_to(actor: Actor) -> QuerySet[Any]:
    """Return the public agents of the directory, annotated for `compute_agent_verbs` and with `is_yours`: whether the actor is a
    member of the workspace that published it. Agents that only do jobs, such as summaries, are not among them."""
    own = Membership.objects.filter(workspace=OuterRef("published_by_workspace_id"), actor=actor)
    agents = agents_visible_to(actor).filter(**PUBLIC, status=AgentStatus.READY)
    jobs = Actor.objects.filter(is_shipped=True, handle__in=AGENT_OF_JOB.values())
    return agents.exclude(pk__in=jobs.values("pk")).annotate(is_yours=Exists(own))


def get_public_agent(actor: Actor, handle: str) -> Any:
    """Return the public agent with this handle, with its version, listing and publisher. Raises `NotFound`."""
    agents = public_agents_visible_to(actor).select_related("current_spec", "listing", "published_by_workspace")
    handle = normalize_handle(handle)
    agent = agents.filter(handle=handle).first() if HANDLE_PATTERN.fullmatch(handle) else None
    if agent is None:
        raise NotFound("There is no such public agent.")
    return agent


def find_public_copy(origin: Actor) -> Actor | None:
    """Return the public copy of an agent, or null."""
    return origin.published_copies.filter(**PUBLIC).select_related("listing", "current_spec").first()


def get_public_copy(origin: Actor) -> Actor:
    """Return the public copy of an agent. Raises `Conflict` (`not_public`)."""
    copy = find_public_copy(origin)
    if copy is None:
        raise build_not_public_error(origin.name)
    return copy


def build_not_public_error(name: str) -> Conflict:
    return Conflict(f"{name} is not public.", code=Code.NOT_PUBLIC)
