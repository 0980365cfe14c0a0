"""Which of its tools a run offers to its model: all or, if there are many, the system tools and those that the model found."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from agents.services.allowed_tools import ConfiguredTool
from llm.messages import ToolSchema
from tools.find_tools import FindTools
from tools.registry import FIND_TOOLS, RESERVED_NAMES, registry

MAX_OFFERED = 30
"""Tools that are all described in each request. If a run has more, its model finds all but the system tools by `find_tools`."""


def add_find_tools(tools: dict[str, ConfiguredTool]) -> dict[str, ConfiguredTool]:
    """Return the tools of a run, with `find_tools` if they are too many. It finds no other tools than these."""
    findable = [configured.tool for name, configured in tools.items() if _is_findable(name)]
    if len(tools) <= MAX_OFFERED or not findable:
        return tools
    tool = FindTools(findable)
    return tools | {FIND_TOOLS: ConfiguredTool(tool, tool.parse_config({}), "")}


def list_offered_tools(tools: Mapping[str, ConfiguredTool], found: Collection[str]) -> list[ConfiguredTool]:
    """Return the tools that the model is offered, in their order: all, or `find_tools`, the system tools and those in `found`."""
    is_limited = FIND_TOOLS in tools
    return [tool for name, tool in tools.items() if not is_limited or not _is_findable(name) or name in found]


def build_tool_schemas(tools: Mapping[str, ConfiguredTool], found: Collection[str]) -> list[ToolSchema]:
    """Return the descriptions of the offered tools for a request. Those of found tools have the instructions of the agent, which
    are in the system text for all others."""
    schemas = []
    for configured in list_offered_tools(tools, found):
        schema, instructions = configured.schema, configured.instructions.strip()
        if FIND_TOOLS in tools and instructions and _is_findable(schema.name):
            schema = replace(schema, description=f"{schema.description}\n\nHow to use it: {instructions}")
        schemas.append(schema)
    return schemas


def _is_findable(name: str) -> bool:
    return name not in registry and name not in RESERVED_NAMES
