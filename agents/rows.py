"""Build the rows of agents in the API."""

from actors.models import Actor, AgentStatus
from agents.permissions import AgentVerb, compute_agent_verbs, get_production
from agents.specs.content import SpecContent, ToolUse
from agents.sub_agents import build_task_tool
from events.rows import AgentRow, AgentState, ListedAgentRow

PUBLIC_FIELDS = frozenset({"model", "parameters", "limits", "memory", "context"})
"""The fields of a spec that have no text of its authors, so that everybody may see those of a public agent. Of the tools, only
their names are shown, and whether they are enabled."""


def build_agent_row(agent: Actor, *, state: AgentState = "idle") -> AgentRow:
    """Build the row of an agent, for the actor for whom the agent was fetched (`get_agent_for`). Without the right `see_spec`, the
    row has no prompt and no settings of tools."""
    listed = build_listed_agent_row(agent, state=state)
    production = get_production(agent)
    spec = production.to_row()
    if AgentVerb.SEE_SPEC not in listed.verbs:
        # People elsewhere see no text and no person of the publisher.
        content = _hide_texts(production.parse_content()).as_json()
        spec = spec.model_copy(update={"content": content, "message": "", "author_id": spec.agent_id})
    tool = build_task_tool(agent)
    return AgentRow(
        **dict(listed),
        spec=spec,
        revision=agent.revision,
        tool_name=tool.name if tool else None,
        tool_schema=tool.build_schema() if tool else None,
    )


def _hide_texts(content: SpecContent) -> SpecContent:
    fields = {name: getattr(content, name) for name in PUBLIC_FIELDS}
    tools = [ToolUse(tool=use.tool, is_enabled=use.is_enabled) for use in content.tools]
    return SpecContent.model_validate({**fields, "tools": tools})


def build_listed_agent_row(agent: Actor, *, state: AgentState) -> ListedAgentRow:
    """Build the row of an agent in a list, for the actor for whom the agent was fetched (`agents_visible_to`, `get_agent_for`)."""
    return ListedAgentRow(
        actor=agent.to_row(),
        state=state,
        is_suspended=agent.status == AgentStatus.SUSPENDED,
        verbs=sorted(compute_agent_verbs(agent)),
        accepts_tasks=agent.accepts_tasks,
        role=agent.role,
        parent_id=agent.parent_id,
        created_at=agent.created_at,
    )
