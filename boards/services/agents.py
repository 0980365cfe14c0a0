"""The agents that may be given the tasks of boards."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db.models import Q

from actors.models import Actor, AgentStatus, Kind
from agents.services.shipped import find_shipped_sub_agent
from chats.models import Chat, ChatActor
from events.rows import Policy
from runs.permissions import AGENT_TAKEN_DOWN, NO_TASKS
from tools.registry import build_agent_tool_name
from tools.selectors import get_policies


def find_agents_for_tasks(workspace_id: UUID, ids: Collection[UUID]) -> dict[UUID, Actor]:
    """Return those of these agents that may be given tasks in a workspace, by their ids: its own ones that accept tasks, those
    that come with the release, and public agents, unless the workspace has switched them off or wants a click before each of
    their tasks."""
    found = Actor.objects.filter(pk__in=ids, kind=Kind.AGENT, status=AgentStatus.READY, taken_down_at=None)
    own = Q(workspace=workspace_id, accepts_tasks=True, runs_outside=False)
    agents = {agent.id: agent for agent in found.filter(own | Q(is_public=True))}
    if not any(agent.is_public for agent in agents.values()):
        return agents
    policies = get_policies(workspace_id)
    return {id: agent for id, agent in agents.items() if not agent.is_public or _is_on(agent, policies)}


def find_agent_to_answer(chat: Chat, planned: Sequence[UUID]) -> Actor | None:
    """Return the agent that puts an answer together if none is named, or the one that is named cannot: the first of the `planned`
    ones that is in the chat, or another agent of the chat, so that its answer is one of a participant; else the first planned one.
    Null if none of them may be given tasks."""
    present = ChatActor.objects.filter(chat=chat, ended_at=None, actor__kind=Kind.AGENT).order_by("joined_at", "pk")
    present_ids = list(present.values_list("actor_id", flat=True))
    able = find_agents_for_tasks(chat.workspace_id, [*present_ids, *planned])
    candidates = [*(id for id in planned if id in present_ids), *present_ids, *planned]
    return next((able[id] for id in candidates if id in able), None)


def _is_on(agent: Actor, policies: Mapping[str, Policy]) -> bool:
    """Return whether a public agent may be given tasks; one of the release that only does jobs may not."""
    if agent.is_shipped and find_shipped_sub_agent(agent.handle) is None:
        return False
    return policies.get(build_agent_tool_name(agent.id), Policy.AUTO) == Policy.AUTO


def explain_refusal(agent: Actor) -> tuple[str, str]:
    """Return the code and the text of why an agent may not be given a task that a plan has for it."""
    if agent.taken_down_at is not None:
        return AGENT_TAKEN_DOWN
    if agent.status != AgentStatus.READY:
        return "agent_gone", f"{agent.name} was deleted or suspended."
    return NO_TASKS
