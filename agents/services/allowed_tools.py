"""The tools that an agent may use, with their settings.

The author of an applied draft may add tools that write, or change their settings, only if they may save the agent.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from actors.models import Actor
from agents.hooks import find_team_tools
from agents.models import AgentSpec
from agents.permissions import AgentVerb, compute_agent_verbs, get_agent_for
from agents.services.teams import find_sub_agents, find_team_members
from agents.specs.content import SpecContent, ToolUse
from agents.sub_agents import Delegate, DelegateConfig
from common.errors import Forbidden, NotFound
from events.rows import Policy, SpecOrigin
from llm.messages import ToolSchema
from tools.interface import Tool, ToolConfig
from tools.registry import build_agent_tool_name
from tools.selectors import get_policies, get_tools

logger = logging.getLogger(__name__)


def list_changed_writing_tools(production: SpecContent, content: SpecContent, tools: Mapping[str, Tool]) -> list[str]:
    """Return the names of the tools that write and that production lacks, or has with other settings (`custom_config`).

    `tools` are those that `content` names (`get_tools`): what a tool does now counts, not what it did when it was added.
    """
    writing = [use for use in content.tools if use.is_enabled and _is_writing(use, tools)]
    if not writing:
        return []
    existing = {_get_effective_settings(use, tools) for use in production.tools if use.is_enabled}
    return [use.tool for use in writing if _get_effective_settings(use, tools) not in existing]


def list_allowed_tools(
    agent: Actor, spec: AgentSpec | None, content: SpecContent, tools: Mapping[str, Tool]
) -> list[ToolUse]:
    """Return the tools of the spec that answers, without those that its author may not add to the agent.

    This is checked for every run. While a draft is applied, production may lose a tool, its author may lose the right to save, and
    a tool that only read before may get the effect `write`.
    """
    uses = list(content.tools)
    if spec is None or spec.origin != SpecOrigin.APPLIED or not any(_is_writing(use, tools) for use in uses):
        return uses
    production = agent.current_spec.parse_content() if agent.current_spec else SpecContent(prompt="")
    added = list_changed_writing_tools(production, content, tools)
    if not added or _can_save(spec.author, agent):
        return uses
    return [use for use in uses if use.tool not in added]


@dataclass(frozen=True)
class ConfiguredTool:
    """A tool with the settings of an agent, and the policy of the workspace in which the run works."""

    tool: Tool
    config: ToolConfig
    instructions: str
    policy: Policy = Policy.AUTO

    @cached_property
    def schema(self) -> ToolSchema:
        """The tool as it is offered to the model."""
        return ToolSchema(self.tool.name, self.tool.description, self.tool.build_schema())

    def get_policy(self, args: Any) -> Policy:
        """Return the policy for a call with these arguments."""
        return Policy.ASK if self.tool.needs_approval(args) else self.policy


def get_run_tools(
    agent: Actor,
    spec: AgentSpec | None,
    content: SpecContent,
    workspace_id: UUID,
    *,
    policies: Mapping[str, Policy] | None = None,
    only_reading: bool = False,
    with_team: bool = False,
) -> dict[str, ConfiguredTool]:
    """Return the tools of a run in this workspace, by name. An agent of another workspace has no workspace tools: neither those of
    its own workspace, whose credentials are not for people elsewhere, nor others that happen to have the same names. `policies`:
    those of the workspace, if they have been read. `with_team`: the run may plan for the members of the agent's team, if it has
    any."""
    tools = get_tools(workspace_id if agent.workspace_id == workspace_id else None, content.tool_names)
    allowed = list_allowed_tools(agent, spec, content, tools)
    members = find_team_members(agent.workspace_id, content.team.members) if with_team and content.team.members else []
    if policies is None:
        policies = get_policies(workspace_id) if allowed or members else {}
    configured = configure_tools(allowed, tools, policies, only_reading=only_reading)
    if delegate := configured.pop(Delegate.name, None):
        config = delegate.config
        handles = config.allowed_sub_agents if isinstance(config, DelegateConfig) else []
        # A public agent has the same policy whether it is called by its own tool or by `delegate`.
        policy_of = {found: policies.get(build_agent_tool_name(found.pk)) for found in find_sub_agents(agent, handles)}
        if sub_agents := [found for found, policy in policy_of.items() if policy != Policy.OFF]:
            asked_ids = {found.pk for found, policy in policy_of.items() if policy == Policy.ASK}
            configured[Delegate.name] = replace(delegate, tool=Delegate(sub_agents, asked_ids=asked_ids))
    for tool in _find_team_tools(content, members, policies):
        configured[tool.name] = ConfiguredTool(tool, tool.parse_config({}), content.team.aggregation.strip())
    return configured


def _find_team_tools(content: SpecContent, members: Sequence[Actor], policies: Mapping[str, Policy]) -> list[Tool]:
    """Return the tools by which an agent gives these members of its team tasks; none if none of them may be given any. A public
    agent gets none if the workspace has switched it off, or wants a click before each of its tasks."""

    def may_get_tasks(member: Actor) -> bool:
        policy = policies.get(build_agent_tool_name(member.pk), Policy.AUTO)
        return not member.is_public or policy == Policy.AUTO

    allowed = list(filter(may_get_tasks, members))
    return find_team_tools.call(content.team, allowed) if allowed else []


def has_reading_tool(content: SpecContent, name: str, policies: Mapping[str, Policy]) -> bool:
    """Return whether a run of this spec has a system tool that only reads, which is refused to no author of a draft. `policies`:
    those of the workspace. Makes no query."""
    uses = [use for use in content.tools if use.tool == name]
    return bool(configure_tools(uses, get_tools(None, [name]), policies))


def has_descriptions_from_outside(tools: Mapping[str, ConfiguredTool], workspace_id: UUID) -> bool:
    """Return whether a public agent of another workspace is one of these tools, or a member of the team: its description is written
    outside, and no editor of this workspace has approved it. What a run writes after it has read such a description waits for a
    click (FAIR8). An `AgentTool` is always a public agent."""
    agents = [agent for configured in tools.values() for agent in configured.tool.described_agents if agent.is_public]
    return any(not agent.is_shipped and agent.published_by_workspace_id != workspace_id for agent in agents)


def configure_tools(
    uses: Iterable[ToolUse], tools: Mapping[str, Tool], policies: Mapping[str, Policy], *, only_reading: bool = False
) -> dict[str, ConfiguredTool]:
    """Return the tools of a spec by name. Leave out tools that do not exist or cannot be called now, those whose settings are no
    longer valid, and those that are off in the spec or in the workspace.

    `policies` are the workspace's (`tools.selectors.get_policies`); a tool that is not among them has its default policy.
    `only_reading` also leaves out tools that write, and those that give tasks: in a comparison two runs answer the same message and
    would do it twice.
    """
    configured: dict[str, ConfiguredTool] = {}
    for use in uses:
        tool = tools.get(use.tool)
        if tool is None or not tool.is_available or not use.is_enabled:
            continue
        policy = policies.get(use.tool, tool.default_policy)
        if policy == Policy.OFF or (only_reading and (tool.effect != "read" or tool.wait_kind)):
            continue
        try:
            config = tool.parse_config(use.custom_config)
        except ValidationError:
            logger.warning("The settings of the tool %s are no longer valid; the agent works without it.", use.tool)
        else:
            configured[use.tool] = ConfiguredTool(tool, config, use.usage_instructions, policy)
    return configured


def _can_save(author: Actor, agent: Actor) -> bool:
    try:
        return AgentVerb.SAVE in compute_agent_verbs(get_agent_for(author, agent.pk, AgentVerb.SEE))
    except (NotFound, Forbidden):
        return False


def _is_writing(use: ToolUse, tools: Mapping[str, Tool]) -> bool:
    tool = tools.get(use.tool)
    return tool is not None and tool.effect == "write"


def _get_effective_settings(use: ToolUse, tools: Mapping[str, Tool]) -> tuple[str, str]:
    """Return the tool and its effective settings as JSON, with the defaults of the tool filled in. The settings are empty if the
    tool does not exist or if they are no longer valid: `configure_tools` leaves the tool out then."""
    tool = tools.get(use.tool)
    try:
        return use.tool, tool.parse_config(use.custom_config).model_dump_json() if tool else ""
    except ValidationError:
        return use.tool, ""
