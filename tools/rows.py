"""The rows of servers and their tools."""

import json

from events.rows import (
    OfferedToolRow,
    OffReason,
    Policy,
    ToolDefinitionRow,
    ToolRequestRow,
    ToolServerRow,
    ToolType,
    WorkspaceToolRow,
)
from tools.interface import Tool
from tools.models import ToolServer, WorkspaceTool
from tools.registry import build_tool_row
from tools.stored_tool import StoredTool

HAN_TOKENS = 1.1
"""Tokens of a Chinese character, which most tokenizers do not join with others."""


def build_server_row(server: ToolServer, policies: dict[str, Policy]) -> ToolServerRow:
    """Return the row of a server."""
    authorization = getattr(server, "authorization", None)
    person = authorization and authorization.signed_in_by
    return ToolServerRow(
        id=server.id,
        kind=server.kind,
        name=server.name,
        base_url=server.base_url,
        auth=server.auth,
        auth_name=server.auth_name,
        credential_last4=server.credential_last4 or None,
        state=server.state,
        tested_at=server.tested_at,
        error_code=server.error_code or None,
        last_error=server.last_error,
        can_sign_in=authorization is not None,
        signed_in_by=person and person.name,
        revision=server.revision,
        tools=[
            build_workspace_tool_row(tool, policies) for tool in sorted(server.tools.all(), key=lambda one: one.name)
        ],
    )


def build_workspace_tool_row(tool: WorkspaceTool, policies: dict[str, Policy]) -> WorkspaceToolRow:
    """Return the row of a tool. Its policy is that of the workspace, else its default."""
    return WorkspaceToolRow(
        id=tool.id,
        server_id=tool.server_id,
        name=tool.name,
        remote_name=tool.remote_name,
        title=tool.title,
        description=tool.description,
        effect=tool.effect,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        is_enabled=tool.is_enabled,
        off_reason=OffReason(tool.off_reason) if tool.off_reason else None,
        hash=tool.pinned_hash,
        pending=ToolDefinitionRow(**tool.pending | {"request": tool.pending.get("request") or None})
        if tool.pending
        else None,
        policy=policies.get(tool.name, StoredTool(tool).default_policy),
        revision=tool.revision,
        is_idempotent=tool.is_idempotent,
        timeout_s=tool.timeout_s,
        annotations=tool.annotations,
        request=ToolRequestRow(**tool.request) if tool.request else None,
    )


def build_offered_tool_row(tool: Tool, policies: dict[str, Policy]) -> OfferedToolRow:
    """Return the row of a tool for a workspace with these policies."""
    stored = tool.row if isinstance(tool, StoredTool) else None
    agent = tool.called_agent
    described = f"{tool.name} {tool.description} {json.dumps(tool.build_schema(), ensure_ascii=False)}"
    return OfferedToolRow(
        **build_tool_row(tool).model_dump(by_alias=True),
        id=stored and stored.id,
        title=stored.title if stored else agent.name if agent else "",
        tool_type=ToolType(stored.tool_type) if stored else ToolType.AGENT if agent else ToolType.SYSTEM,
        agent=agent.to_row() if agent else None,
        publisher_name=agent.published_by_workspace.name if agent and agent.published_by_workspace else None,
        server_name=tool.server_name,
        policy=policies.get(tool.name, tool.default_policy),
        is_available=tool.is_available,
        schema_tokens=estimate_schema_tokens(described),
    )


def estimate_schema_tokens(text: str) -> int:
    """Return about how many tokens a text has: a Chinese character is one, four others are one."""
    han = sum("\u2e80" <= char <= "\u9fff" for char in text)
    return round(han * HAN_TOKENS + (len(text) - han) / 4)
