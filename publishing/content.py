"""Which parts of a version are published."""

import re
from typing import Literal

from agents.specs.content import SpecContent
from agents.sub_agents import list_named_tools
from events.rows import DirectoryToolRow, UnpublishedToolRow
from files.pages import READ_PAGES
from tools.interface import Tool

UNPUBLISHED_TOOLS: dict[str, Literal["editing", "pages", "memory"]] = {
    "revise_prompt": "editing",
    READ_PAGES: "pages",
    "remember": "memory",
    "forget": "memory",
}
"""The system tools that are not published, and why. Nobody changes a public agent, the files of a workspace are its own, and a
public agent has no memory beyond the chat it is in: its publisher sees nothing of the chats of others."""


def build_public_content(content: SpecContent) -> SpecContent:
    """Return the spec of a public copy: without the tools that are not published, and with a memory for each chat by itself."""
    tools = _find_public_tools(content)
    public = tuple(use for use in content.tools if use.tool in tools)
    return content.model_copy(update={"tools": public, "memory": "chat"})


def build_tool_rows(content: SpecContent) -> list[DirectoryToolRow]:
    """Return the rows of the tools that a public agent has, in order."""
    tools = _find_public_tools(content)
    names = [use.tool for use in content.tools if use.is_enabled and use.tool in tools]
    return [
        DirectoryToolRow(name=name, description=tools[name].description, effect=tools[name].effect) for name in names
    ]


def list_unpublished_tools(content: SpecContent, own_tools: frozenset[str]) -> list[UnpublishedToolRow]:
    """Return the tools that are not published. `own_tools` are the names of the tools that the agent's workspace has."""
    public = _find_public_tools(content)
    lines = content.prompt.split("\n")
    rows = []
    for name in (use.tool for use in content.tools if use.tool not in public):
        pattern = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])")
        reason = UNPUBLISHED_TOOLS.get(name) or ("workspace" if name in own_tools else "missing")
        named = [number for number, line in enumerate(lines, 1) if pattern.search(line)]
        rows.append(UnpublishedToolRow(name=name, reason=reason, lines=named))
    return rows


def _find_public_tools(content: SpecContent) -> dict[str, Tool]:
    """Return the tools of the spec that work in every workspace."""
    return {name: tool for name, tool in list_named_tools(None, content).items() if name not in UNPUBLISHED_TOOLS}
