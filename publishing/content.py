"""Which parts of a version are published."""

import json
import re
from collections.abc import Mapping, Sequence
from uuid import UUID

from pydantic import ValidationError

from agents.services.shipped import SHIPPED
from agents.services.teams import find_team_members, get_member_name
from agents.specs.content import SpecContent, ToolUse
from agents.sub_agents import Delegate, DelegateConfig
from common.handles import normalize_handle
from common.secret_search import find_secret_lines
from events.rows import DirectoryToolRow, SecretWarningRow, UnpublishedReason, UnpublishedToolRow
from files.pages import READ_PAGES
from tools.interface import Tool
from tools.selectors import get_tools

UNPUBLISHED_TOOLS: dict[str, UnpublishedReason] = {
    "revise_prompt": "editing",
    READ_PAGES: "pages",
    "remember": "memory",
    "forget": "memory",
    "send_message": "other_chats",
}
"""The system tools that are not published, and why. Nobody changes a public agent, the files of a workspace are its own, and a
public agent has no memory beyond the chat it is in: its publisher sees nothing of the chats of others. It also writes into no other
chat (ADR 0029)."""


def build_public_content(content: SpecContent, *, workspace_id: UUID | None = None) -> SpecContent:
    """Return the spec of a public copy: without the tools that are not published, without the agents of the workspace that it
    gives tasks to, and with a memory for each chat by itself. `workspace_id`: of the agent that is published."""
    tools = _find_public_tools(content)
    public = tuple(_remove_own_sub_agents(use) for use in content.tools if use.tool in tools)
    team = content.team.model_copy(update={"members": _find_public_members(content, workspace_id)})
    return content.model_copy(update={"tools": public, "memory": "chat", "team": team})


def build_tool_rows(content: SpecContent) -> list[DirectoryToolRow]:
    """Return the rows of the tools that a public agent has, in order."""
    return build_tool_rows_of_specs([content.tools])[0]


def build_tool_rows_of_specs(specs: Sequence[Sequence[ToolUse]]) -> list[list[DirectoryToolRow]]:
    """Return the rows of `build_tool_rows` for the tools of several specs. Makes one query at most."""
    names = {use.tool for uses in specs for use in uses}
    tools_by_name = get_tools(None, names)
    rows = []
    for uses in specs:
        tools = _select_public_tools(uses, tools_by_name)
        enabled = [tools[use.tool] for use in uses if use.is_enabled and use.tool in tools]
        rows.append(
            [DirectoryToolRow(name=one.name, description=one.description, effect=one.effect) for one in enabled]
        )
    return rows


def list_unpublished_tools(
    content: SpecContent, own_tools: frozenset[str], *, workspace_id: UUID | None = None
) -> list[UnpublishedToolRow]:
    """Return the rows of the tools that are not published, and of the agents of the workspace to which the agent gives tasks.
    `own_tools`: the names of the tools of the agent's workspace, `workspace_id`."""
    public = _find_public_tools(content)
    prompt_lines = content.prompt.split("\n")
    rows = []

    def add(name: str, reason: UnpublishedReason) -> None:
        pattern = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])")
        lines = [number for number, line in enumerate(prompt_lines, 1) if pattern.search(line)]
        rows.append(UnpublishedToolRow(name=name, reason=reason, lines=lines))

    for use in content.tools:
        if use.tool not in public:
            reason = UNPUBLISHED_TOOLS.get(use.tool)
            if reason is None and use.tool == Delegate.name:
                reason = "no_sub_agent"
            add(use.tool, reason or ("workspace" if use.tool in own_tools else "missing"))
        for handle in _list_sub_agents(use):
            if not _is_shipped(handle):
                add(handle, "sub_agent")
    public_members = _find_public_members(content, workspace_id)
    for handle in content.team.members:
        if handle not in public_members:
            add(handle, "member")
    return rows


def find_secrets(content: SpecContent) -> list[SecretWarningRow]:
    """Return where the published parts of a spec have what looks like a key or a password."""
    rows = []
    if lines := find_secret_lines(content.prompt):
        rows.append(SecretWarningRow(place="prompt", name="", lines=lines))
    if find_secret_lines(content.team.aggregation):
        rows.append(SecretWarningRow(place="team", name="", lines=[]))
    for use in build_public_content(content).tools:
        settings = json.dumps(use.custom_config, ensure_ascii=False)
        if find_secret_lines(f"{use.usage_instructions}\n{settings}"):
            rows.append(SecretWarningRow(place="tool", name=use.tool, lines=[]))
    return rows


def find_secrets_of_listing(description: str, examples: Sequence[str], message: str) -> list[SecretWarningRow]:
    """Return where the texts of a listing, which everybody reads, have what looks like a key or a password."""
    rows = []
    if find_secret_lines(description):
        rows.append(SecretWarningRow(place="description", name="", lines=[]))
    if numbers := [number for number, example in enumerate(examples, 1) if find_secret_lines(example)]:
        rows.append(SecretWarningRow(place="example", name="", lines=numbers))
    if find_secret_lines(message):
        rows.append(SecretWarningRow(place="message", name="", lines=[]))
    return rows


def _list_sub_agents(use: ToolUse) -> list[str]:
    """Return the handles of the agents to which `delegate` gives tasks; an empty list for another tool, or if its settings are not
    valid."""
    if use.tool != Delegate.name:
        return []
    try:
        config = Delegate().parse_config(use.custom_config)
    except ValidationError:
        return []
    handles = config.allowed_sub_agents if isinstance(config, DelegateConfig) else []
    return list(dict.fromkeys(map(normalize_handle, handles)))


def _find_public_members(content: SpecContent, workspace_id: UUID | None) -> tuple[str, ...]:
    """Return the members of the team that any workspace has: agents that come with the release, and public agents. In another
    workspace, an agent of that workspace may have the handle of one of this workspace."""
    members = find_team_members(workspace_id, content.team.members) if content.team.members else []
    return tuple(get_member_name(member) for member in members if member.is_public)


def _is_shipped(handle: str) -> bool:
    definition = SHIPPED.get(handle)
    return definition is not None and definition.is_sub_agent


def _remove_own_sub_agents(use: ToolUse) -> ToolUse:
    """Return `delegate` without the agents of the workspace, and any other tool as it is. These agents are not public, and in
    another workspace another agent may have the same handle."""
    handles = _list_sub_agents(use)
    shipped = [handle for handle in handles if _is_shipped(handle)]
    if shipped == handles:
        return use
    return use.model_copy(update={"custom_config": {**use.custom_config, "allowed_sub_agents": shipped}})


def _find_public_tools(content: SpecContent) -> dict[str, Tool]:
    """Return the tools of the spec that work in every workspace, by name."""
    return _select_public_tools(content.tools, get_tools(None, content.tool_names))


def _select_public_tools(uses: Sequence[ToolUse], tools_by_name: Mapping[str, Tool]) -> dict[str, Tool]:
    """Return those of the tools in use that work in every workspace, by name. `tools_by_name`: all tools that exist."""
    tools = {
        use.tool: tools_by_name[use.tool]
        for use in uses
        if use.tool in tools_by_name and use.tool not in UNPUBLISHED_TOOLS
    }
    # `delegate` keeps only shipped agents (`_remove_own_sub_agents`). Without any, it has nobody to give tasks to.
    if not any(_is_shipped(handle) for use in uses for handle in _list_sub_agents(use)):
        tools.pop(Delegate.name, None)
    return tools
