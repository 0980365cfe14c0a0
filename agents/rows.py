"""Agents as they go over the wire."""

from actors.models import Actor
from agents.permissions import agent_verbs
from events.rows import AgentRow


def agent_row(agent: Actor, *, working: bool = False) -> AgentRow:
    """For the reader that `agent` was fetched for (`agents_visible_to`, `get_agent_for`)."""
    assert agent.current_spec is not None  # every agent is made with its first version
    return AgentRow(
        actor=agent.row(), spec=agent.current_spec.row(), state="working" if working else "idle",
        revision=agent.revision, verbs=sorted(agent_verbs(agent)), created_at=agent.created_at,
    )  # fmt: skip
