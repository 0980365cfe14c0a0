"""The states of agents: whether they work, wait for people, or do nothing."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from common.sql_constant import SqlConstant
from events.frames import AgentStates
from events.publish import publish_now
from events.rows import AgentState
from runs.models import Run, RunState

AgentKey = tuple[UUID, UUID]
"""The ids of a workspace and of an agent with runs there."""


def find_agent_states(keys: Iterable[AgentKey]) -> dict[AgentKey, AgentState]:
    """Return the states of these agents, by one query. An agent that works in one chat and waits in another is working."""
    keys = set(keys)
    states: dict[AgentKey, AgentState] = dict.fromkeys(keys, "idle")
    busy = (RunState.RUNNING, RunState.WAITING_APPROVAL, RunState.WAITING_CHILD, RunState.WAITING_BOARD)
    shown = Run.objects.filter(
        agent_id__in={agent_id for _, agent_id in keys}, state__in=[SqlConstant(state) for state in busy]
    )
    for workspace_id, agent_id, state in shown.values_list("workspace_id", "agent_id", "state"):
        key = workspace_id, agent_id
        if key in states and states[key] != "working":
            states[key] = "waiting" if state == RunState.WAITING_APPROVAL else "working"
    return states


def publish_states(states: dict[AgentKey, AgentState]) -> None:
    """Publish the states of agents to their workspaces now, one frame for each workspace."""
    frames: dict[UUID, AgentStates] = {}
    for (workspace_id, agent_id), state in states.items():
        frame = frames.setdefault(workspace_id, AgentStates(topic=f"workspace:{workspace_id}"))
        getattr(frame, state).append(agent_id)
    publish_now(*frames.values())


def publish_agent_states(runs: Iterable[Run]) -> None:
    """Publish, on commit, the states of the agents of runs that no worker executes. Workers publish those of their own runs."""
    keys = {(run.workspace_id, run.agent_id) for run in runs}
    transaction.on_commit(lambda: publish_states(find_agent_states(keys)), robust=True)
