"""Build the rows of agents in the API."""

from actors.models import Actor
from agents.permissions import compute_agent_verbs, get_production
from events.rows import AgentRow, AgentState, AgentSummaryRow


def build_agent_row(agent: Actor, *, state: AgentState = "idle") -> AgentRow:
    """Build the row of an agent for the actor for whom it was fetched (`get_agent_for`)."""
    summary = build_agent_summary_row(agent, state=state)
    return AgentRow(**dict(summary), spec=get_production(agent).to_row(), revision=agent.revision)


def build_agent_summary_row(agent: Actor, *, state: AgentState) -> AgentSummaryRow:
    """Build the row of an agent in a list, for the actor for whom it was fetched (`agents_visible_to`, `get_agent_for`)."""
    return AgentSummaryRow(
        actor=agent.to_row(), state=state, verbs=sorted(compute_agent_verbs(agent)),
        created_at=agent.created_at,
    )  # fmt: skip
