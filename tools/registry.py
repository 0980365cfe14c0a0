"""The registry of tools. Each app registers its own in `agent_tools.py`; a wrong definition fails at start."""

import re
from typing import TypeVar

from events.rows import ToolRow
from tools.interface import Tool, ToolArgs, ToolConfig

# The names of functions that every provider accepts.
NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")

T = TypeVar("T", bound=type[Tool])

registry: dict[str, Tool] = {}
"""Every tool by its name. Only `register` adds to it."""


class ToolMisdefined(TypeError):
    """A tool's class breaks a rule of the interface."""


def register(cls: T) -> T:
    """Check a tool's class and add it to the registry. Raises `ToolMisdefined`, also for a name that is taken."""
    _check(cls)
    if cls.name in registry:
        raise ToolMisdefined(
            f"There are two tools called {cls.name!r}: {type(registry[cls.name]).__qualname__} is one."
        )
    registry[cls.name] = cls()
    return cls


def _check(cls: type[Tool]) -> None:
    rules = {
        "a name of letters, digits, _ and -": isinstance(getattr(cls, "name", None), str) and NAME.match(cls.name),
        "a docstring for the model": bool((cls.__dict__.get("__doc__") or "").strip()),
        "an effect, `read` or `write`": getattr(cls, "effect", None) in ("read", "write"),
        "Args, a subclass of ToolArgs": _is_subclass(getattr(cls, "Args", None), ToolArgs),
        "Config, a subclass of ToolConfig": _is_subclass(cls.Config, ToolConfig),
        "a method run(ctx, args)": callable(getattr(cls, "run", None)),
    }
    if missing := [rule for rule, is_met in rules.items() if not is_met]:
        raise ToolMisdefined(f"The tool {cls.__qualname__} needs {'; '.join(missing)}.")


def _is_subclass(candidate: object, base: type) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, base)


def build_tool_rows() -> list[ToolRow]:
    """Return the row of every tool, sorted by name."""
    return [
        ToolRow(
            name=tool.name,
            description=tool.description,
            effect=tool.effect,
            schema=tool.schema(),
            config_schema=tool.config_schema(),
        )  # fmt: skip
        for _, tool in sorted(registry.items())
    ]
