"""The agents that an agent may give tasks to, by their handles."""

from collections.abc import Sequence
from uuid import UUID

from actors.models import Actor
from agents.prepared_queries import OWN_SUB_AGENTS, PUBLIC_AGENTS
from agents.services.shipped import find_shipped_sub_agent
from common.handles import normalize_handle


def find_sub_agents(agent: Actor, handles: Sequence[str]) -> list[Actor]:
    """Return the agents that this one may give tasks to by `delegate`, in order: those that come with the release, and agents of
    its own workspace that accept tasks. Of two with the same handle, the one that comes with the release is returned."""
    return _find_agents(agent.workspace_id, handles, {})


def find_team_members(workspace_id: UUID | None, handles: Sequence[str]) -> list[Actor]:
    """Return the members of a team with these handles, in order: agents that come with the release, agents of the workspace that
    accept tasks, and public agents. Of those with the same handle, the first in this order is returned. `workspace_id`: that of
    the agent whose team it is; null for a public agent."""
    public = {found.handle: found for found in PUBLIC_AGENTS.all(list(handles))} if handles else {}
    return _find_agents(workspace_id, handles, public)


def _find_agents(workspace_id: UUID | None, handles: Sequence[str], public: dict[str, Actor]) -> list[Actor]:
    handles = list(dict.fromkeys(map(normalize_handle, handles)))
    own: dict[str, Actor] = {}
    if workspace_id is not None:
        own = {found.handle: found for found in OWN_SUB_AGENTS.all(workspace_id, handles)}
    found = [find_shipped_sub_agent(handle) or own.get(handle) or public.get(handle) for handle in handles]
    return [sub_agent for sub_agent in found if sub_agent is not None]
