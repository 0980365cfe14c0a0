"""The tools that an agent may use, with their settings.

The author of an applied text may add tools that write, or change their settings, only if they may save the agent.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from pydantic import ValidationError

from actors.models import Actor
from agents.models import AgentSpec
from agents.permissions import AgentVerb, compute_agent_verbs, get_agent_for
from agents.specs.content import SpecContent, ToolUse
from common.errors import Forbidden, NotFound
from events.rows import SpecOrigin
from llm.messages import ToolSchema
from tools.interface import Tool, ToolConfig
from tools.registry import registry

logger = logging.getLogger(__name__)


def list_added_tools(production: SpecContent, content: SpecContent) -> list[str]:
    """Return the names of the tools that write and that production lacks, or has with other settings."""
    writing = [use for use in content.tools if use.is_enabled and _is_writing(use)]
    if not writing:
        return []
    existing = {_describe_use(use) for use in production.tools if use.is_enabled}
    return [use.tool for use in writing if _describe_use(use) not in existing]


def list_allowed_tools(agent: Actor, spec: AgentSpec | None, content: SpecContent) -> list[ToolUse]:
    """Return the tools of the spec that answers, without those that its author may not add to the agent.

    This is checked for every run, because production may lose a tool, or the author the right to save, while a text is applied.
    """
    uses = list(content.tools)
    if spec is None or spec.origin != SpecOrigin.APPLIED or not any(_is_writing(use) for use in uses):
        return uses
    production = agent.current_spec.content() if agent.current_spec else SpecContent(prompt="")
    added = list_added_tools(production, content)
    if not added or _can_save(spec.author, agent):
        return uses
    return [use for use in uses if use.tool not in added]


@dataclass(frozen=True)
class ConfiguredTool:
    """A tool with the settings of an agent."""

    tool: Tool
    config: ToolConfig
    instructions: str

    @cached_property
    def schema(self) -> ToolSchema:
        """The tool as it is offered to the model."""
        return ToolSchema(self.tool.name, self.tool.description, self.tool.build_schema())


def configure_tools(uses: Iterable[ToolUse], *, only_reading: bool = False) -> dict[str, ConfiguredTool]:
    """Return the tools of a spec by name. Leave out tools that do not exist, and those whose settings are no longer valid.

    `only_reading` also leaves out tools that write: in a comparison two runs answer the same message and would write twice.
    """
    configured: dict[str, ConfiguredTool] = {}
    for use in uses:
        tool = registry.get(use.tool)
        if tool is None or not use.is_enabled or (only_reading and tool.effect != "read"):
            continue
        try:
            configured[use.tool] = ConfiguredTool(tool, tool.parse_config(use.custom_config), use.usage_instructions)
        except ValidationError:
            logger.warning("The settings of the tool %s are no longer valid; the agent works without it.", use.tool)
    return configured


def _can_save(author: Actor, agent: Actor) -> bool:
    try:
        return AgentVerb.SAVE in compute_agent_verbs(get_agent_for(author, agent.pk, AgentVerb.SEE))
    except (NotFound, Forbidden):
        return False


def _is_writing(use: ToolUse) -> bool:
    tool = registry.get(use.tool)
    return tool is not None and tool.effect == "write"


def _describe_use(use: ToolUse) -> tuple[str, str]:
    """Return the tool and its effective settings as JSON, with the defaults of the tool filled in."""
    tool = registry.get(use.tool)
    return use.tool, tool.parse_config(use.custom_config).model_dump_json() if tool else ""
