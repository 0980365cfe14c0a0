"""Reading the tools of a workspace, and its policies for tools."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from events.rows import OfferedToolRow, Policy, ToolServerRow
from tools import hooks
from tools.http.tool import HTTPTool
from tools.interface import Tool
from tools.mcp.tool import MCPTool
from tools.models import ToolPolicy, ToolServer, WorkspaceTool
from tools.prepared_queries import POLICIES
from tools.registry import AGENT_TOOL_NAME, registry
from tools.rows import build_offered_tool_row, build_server_row
from workspaces.models import Workspace

TOOL_CLASSES = {"http": HTTPTool, "openapi": HTTPTool, "mcp": MCPTool}
"""The class of the tools of each kind of server."""


def get_policies(workspace_id: UUID) -> dict[str, Policy]:
    """Return the policies that the editors of a workspace have set, by the name of the tool.

    A tool that is not among them has its `default_policy`.
    """
    return {row.tool: Policy(row.policy) for row in POLICIES.all(workspace_id)}


def parse_policies(rows: Iterable[Mapping[str, str]]) -> dict[str, Policy]:
    """Return the policies that `build_policies_expression` has read, as `get_policies` does."""
    return {row["tool"]: Policy(row["policy"]) for row in rows}


def get_tools(workspace_id: UUID | None, names: Iterable[str]) -> dict[str, Tool]:
    """Return the tools of these names that exist: system tools, public agents, and tools of the workspace, also if they are off.

    Makes no query if all are system tools. `workspace_id` is null for a public agent, which has no tools of a workspace.
    """
    names = list(names)
    tools = {name: registry[name] for name in names if name in registry}
    others = [name for name in names if name not in registry]
    if not others:
        return tools
    tools |= {tool.name: tool for tool in hooks.find_tools.call(others)}
    others = [name for name in others if name not in tools]
    if workspace_id is None or not others:
        return tools
    rows = WorkspaceTool.objects.filter(workspace_id=workspace_id, name__in=others).select_related("server")
    return tools | {row.name: build_tool(row) for row in rows}


def build_tool(row: WorkspaceTool) -> Tool:
    """Return the tool of a row that was read with its server."""
    return TOOL_CLASSES[row.server.kind](row)


def list_server_rows(workspace_id: UUID) -> list[ToolServerRow]:
    """Return the servers of a workspace with their tools, by name."""
    policies = get_policies(workspace_id)
    servers = ToolServer.objects.filter(workspace_id=workspace_id).order_by("name", "pk")
    found = servers.select_related("authorization__signed_in_by").prefetch_related("tools")
    return [build_server_row(server, policies) for server in found]


def list_offered_tool_rows(workspace_id: UUID) -> list[OfferedToolRow]:
    """Return the tools that the agents of a workspace can be given, also those that are off: system tools, its own tools, and the
    public agents that one of its agents has as a tool, or that have a policy here. All other public agents are in the
    directory."""
    policies = get_policies(workspace_id)
    rows = WorkspaceTool.objects.filter(workspace_id=workspace_id).select_related("server").order_by("name")
    tools = [tool for _, tool in sorted(registry.items())] + [build_tool(row) for row in rows]
    agent_names = {*hooks.list_names_in_use.call(workspace_id), *filter(AGENT_TOOL_NAME.fullmatch, policies)}
    agents = hooks.find_tools.call(sorted(agent_names)) if agent_names else []
    return [build_offered_tool_row(tool, policies) for tool in [*tools, *agents]]


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return all tool servers and policies of a deleted workspace, to purge them. A listener of `collect_rows_to_purge`."""
    return [ToolServer.objects.filter(workspace=workspace), ToolPolicy.objects.filter(workspace=workspace)]
