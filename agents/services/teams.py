"""The agents that an agent may give tasks to, by their handles."""

from collections.abc import Sequence
from uuid import UUID

from actors.models import Actor
from agents.prepared_queries import OWN_SUB_AGENTS, PUBLIC_AGENTS
from agents.services.shipped import find_shipped_sub_agent
from common.handles import normalize_handle
from tools.registry import build_agent_tool_name, get_called_agent_id


def find_sub_agents(agent: Actor, handles: Sequence[str]) -> list[Actor]:
    """Return the agents that this one may give tasks to by `delegate`, in order: those that come with the release, and agents of
    its own workspace that accept tasks. Of two with the same handle, the one that comes with the release is returned."""
    return _find_agents(agent.workspace_id, handles)


def find_team_members(workspace_id: UUID | None, names: Sequence[str]) -> list[Actor]:
    """Return the members of a team (`Team.members`), in order, without those that may get no tasks. Of two with the same handle,
    the one that comes with the release is returned. `workspace_id`: that of the agent whose team it is; null for a public agent."""
    ids = {name: id for name in names if (id := get_called_agent_id(name)) is not None}
    public = {found.pk: found for found in PUBLIC_AGENTS.all(list(ids.values()))} if ids else {}
    others = {found.handle: found for found in _find_agents(workspace_id, [name for name in names if name not in ids])}
    found = [public.get(ids[name]) if name in ids else others.get(name) for name in names]
    return [member for member in found if member is not None]


def get_member_name(agent: Actor) -> str:
    """Return the name of an agent in `Team.members`."""
    return build_agent_tool_name(agent.pk) if agent.is_public and not agent.is_shipped else agent.handle


def _find_agents(workspace_id: UUID | None, handles: Sequence[str]) -> list[Actor]:
    handles = list(dict.fromkeys(map(normalize_handle, handles)))
    own: dict[str, Actor] = {}
    if workspace_id is not None:
        own = {found.handle: found for found in OWN_SUB_AGENTS.all(workspace_id, handles)}
    found = [find_shipped_sub_agent(handle) or own.get(handle) for handle in handles]
    return [sub_agent for sub_agent in found if sub_agent is not None]
