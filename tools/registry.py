"""Which tools there are. Each app registers its own in `agent_tools.py`; what is misdefined fails at start."""

import re
from typing import TypeVar

from events.rows import ToolRow
from tools.interface import Tool, ToolArgs, ToolConfig

# What every provider takes as the name of a function.
NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")

T = TypeVar("T", bound=type[Tool])

_tools: dict[str, Tool] = {}


class ToolMisdefined(TypeError):
    """A tool's class breaks a rule of the interface: our mistake, told at start."""


def register(cls: T) -> T:
    """Check a tool's class and make it known. Raises `ToolMisdefined`, also for a name that is taken."""
    _check(cls)
    if cls.name in _tools:
        raise ToolMisdefined(f"There are two tools called {cls.name!r}: {type(_tools[cls.name]).__qualname__} is one.")
    _tools[cls.name] = cls()
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
    if missing := [rule for rule, holds in rules.items() if not holds]:
        raise ToolMisdefined(f"The tool {cls.__qualname__} needs {'; '.join(missing)}.")


def _is_subclass(candidate: object, base: type) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, base)


def tool_named(name: str) -> Tool | None:
    """The tool of this name, if there is one."""
    return _tools.get(name)


def all_tools() -> list[Tool]:
    """Every tool, by name."""
    return [_tools[name] for name in sorted(_tools)]


def tool_rows() -> list[ToolRow]:
    """Every tool, as it goes over the wire."""
    return [
        ToolRow(name=tool.name, description=tool.description, effect=tool.effect, schema=tool.schema())
        for tool in all_tools()
    ]
