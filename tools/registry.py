"""The registry of system tools. Each app registers its tools in `agent_tools.py`. A wrong definition raises an error at start."""

import re
from typing import TypeVar, get_args
from uuid import UUID

from events.rows import ToolEffect, ToolRow
from tools.interface import Tool, ToolArgs, ToolConfig

# Names of functions that every provider accepts.
NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")

FIND_TOOLS = "find_tools"
"""The tool by which a model finds its other tools. It is built for each run (`tools.find_tools`), so it is not registered."""

PLAN_TASKS = "plan_tasks"
"""The tool by which an agent with a team plans. It is built for each run (`boards.agent_tools`), so it is not registered."""

SUBMIT_RESULT = "submit_result"
"""The tool by which an agent hands in the result of a task that has a schema (`runs.runtime.tasks`). It is not registered."""

AGENT_TOOL_NAME = re.compile(r"^agent_[0-9a-f]{32}$")
"""The names of public agents as tools. A name has the id of the agent and not its handle, which another publisher may have after a
takedown. The web app gets this pattern by `manage.py export_schema`."""

RESERVED_NAMES = frozenset({FIND_TOOLS, PLAN_TASKS, SUBMIT_RESULT})
"""Names that no workspace tool may have, besides those of registered tools."""

T = TypeVar("T", bound=type[Tool])

registry: dict[str, Tool] = {}
"""Every system tool by its name. Only `register` adds to it."""


class InvalidTool(TypeError):
    """A class of a tool that breaks a rule of the interface."""


def register(cls: T) -> T:
    """Check the class of a tool and add it to the registry. Raises `InvalidTool`, also if there is a tool of this name."""
    rules = {
        "a name of letters, digits, _ and -": isinstance(getattr(cls, "name", None), str) and NAME.match(cls.name),
        "a docstring for the model": bool((cls.__dict__.get("__doc__") or "").strip()),
        "an effect, `read` or `write`": getattr(cls, "effect", None) in get_args(ToolEffect),
        "Args, a subclass of ToolArgs": _is_subclass(getattr(cls, "Args", None), ToolArgs),
        "Config, a subclass of ToolConfig": _is_subclass(cls.Config, ToolConfig),
        "a method run(ctx, args)": callable(getattr(cls, "run", None)),
    }
    if missing := [rule for rule, is_met in rules.items() if not is_met]:
        raise InvalidTool(f"The tool {cls.__qualname__} needs {'; '.join(missing)}.")
    if cls.name in registry:
        raise InvalidTool(f"There are two tools called {cls.name!r}: {type(registry[cls.name]).__qualname__} is one.")
    registry[cls.name] = cls()
    return cls


def build_agent_tool_name(agent_id: UUID) -> str:
    """Return the name of a public agent as a tool, as it is stored in specs."""
    return f"agent_{agent_id.hex}"


def get_called_agent_id(tool: str) -> UUID | None:
    """Return the id of the public agent that is the tool of this name; null for any other name."""
    return UUID(tool.removeprefix("agent_")) if AGENT_TOOL_NAME.fullmatch(tool) else None


def _is_subclass(candidate: object, base: type) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, base)


def build_tool_rows() -> list[ToolRow]:
    """Return the rows of all system tools, sorted by name."""
    return [build_tool_row(tool) for _, tool in sorted(registry.items())]


def build_tool_row(tool: Tool) -> ToolRow:
    """Return the row of a tool."""
    return ToolRow(
        name=tool.name,
        description=tool.description,
        effect=tool.effect,
        schema=tool.build_schema(),
        output_schema=tool.build_output_schema(),
        config_schema=tool.build_config_schema(),
    )
