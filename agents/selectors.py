"""Reads of agents that join."""

from collections.abc import Iterable, Iterator

from actors.models import Actor
from agents.models import Run
from agents.models.runs import RunState
from agents.rows import agent_row
from events.rows import AgentRow


def agent_rows(agents: Iterable[Actor]) -> Iterator[AgentRow]:
    """Agents as their reader sees them, with whether they are at work anywhere. One query more than the agents'."""
    found = list(agents)
    at_work = Run.objects.filter(agent__in=[agent.pk for agent in found], state=RunState.RUNNING)
    working = set(at_work.values_list("agent_id", flat=True))
    return (agent_row(agent, working=agent.pk in working) for agent in found)
