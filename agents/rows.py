"""Agents as rows of the API."""

from actors.models import Actor
from agents.permissions import agent_verbs, get_production
from events.rows import AgentRow, AgentSummaryRow


def agent_row(agent: Actor, *, working: bool = False) -> AgentRow:
    """Return the row of an agent for the reader that it was fetched for (`get_agent_for`)."""
    summary = agent_summary_row(agent, working=working)
    return AgentRow(**dict(summary), spec=get_production(agent).to_row(), revision=agent.revision)


def agent_summary_row(agent: Actor, *, working: bool) -> AgentSummaryRow:
    """Return the row of a list for the reader that `agent` was fetched for (`agents_visible_to`, `get_agent_for`)."""
    return AgentSummaryRow(
        actor=agent.to_row(), state="working" if working else "idle", verbs=sorted(agent_verbs(agent)),
        created_at=agent.created_at,
    )  # fmt: skip
