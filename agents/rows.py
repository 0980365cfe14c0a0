"""Build the rows of agents in the API."""

from actors.models import Actor
from agents.permissions import AgentVerb, compute_agent_verbs, get_production
from agents.sub_agents import build_task_tool
from events.rows import AgentRow, AgentState, ListedAgentRow, ToolConfigRow


def build_agent_row(agent: Actor, *, state: AgentState = "idle") -> AgentRow:
    """Build the row of an agent, for the actor for whom the agent was fetched (`get_agent_for`). Without the right `see_spec`, the
    row has no prompt and no settings of tools."""
    listed = build_listed_agent_row(agent, state=state)
    spec = get_production(agent).to_row()
    if AgentVerb.SEE_SPEC not in listed.verbs:
        # Of a public agent, people elsewhere see the tools, the model and the limits, but no text and no person of its publisher.
        tools = [ToolConfigRow(tool=use.tool, is_enabled=use.is_enabled) for use in spec.tools]
        spec = spec.model_copy(update={"prompt": "", "message": "", "tools": tools, "author_id": spec.agent_id})
    tool = build_task_tool(agent)
    return AgentRow(
        **dict(listed),
        spec=spec,
        revision=agent.revision,
        tool_name=tool.name if tool else None,
        tool_schema=tool.build_schema() if tool else None,
    )


def build_listed_agent_row(agent: Actor, *, state: AgentState) -> ListedAgentRow:
    """Build the row of an agent in a list, for the actor for whom the agent was fetched (`agents_visible_to`, `get_agent_for`)."""
    return ListedAgentRow(
        actor=agent.to_row(),
        state=state,
        verbs=sorted(compute_agent_verbs(agent)),
        accepts_tasks=agent.accepts_tasks,
        role=agent.role,
        parent_id=agent.parent_id,
        created_at=agent.created_at,
    )
