"""Store what a server says of its tools, and switch off what an editor has not approved (SEC31)."""

import re
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from common.clock import now
from events.publish import publish_workspace_list_changed
from events.rows import OffReason, ServerState
from mcp_client.protocol import MCPError, MCPListing, MCPToolDescription
from tools.hooks import tools_changed
from tools.models import ToolServer, WorkspaceTool
from tools.registry import RESERVED_NAMES, registry

MAX_NAME_CHARACTERS = 64
"""Characters of a name that every provider of models accepts."""
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")


def store_listing(server_id: UUID, base_url: str, listing: MCPListing) -> None:
    """Store the tools that the server has listed, unless its address has changed meanwhile.

    New tools are off until an editor approves them. An approved tool whose description has changed is switched off, with the new
    description beside the approved one. A tool that the server no longer has is off until the server has it
    again unchanged, or it is deleted if nobody has approved it.
    """
    with transaction.atomic():
        server = ToolServer.objects.select_for_update().filter(pk=server_id, base_url=base_url).first()
        if server is None:
            return
        listed = {tool.name: tool for tool in listing.tools}
        rows = {row.remote_name: row for row in server.tools.select_for_update()}
        if not listing.is_cut:
            for name in rows.keys() - listed.keys():
                _remove_tool(rows[name])
        # How many more tools the workspace may have, null for any number.
        most: int = settings.QUOTAS["workspace_tools"]
        free = max(0, most - WorkspaceTool.objects.filter(workspace=server.workspace_id).count()) if most else None
        new = [tool for name, tool in listed.items() if name not in rows]
        changed = [rows[name] for name in sorted(rows.keys() & listed.keys()) if _update_tool(rows[name], listed[name])]
        for tool in new[:free]:
            _create_tool(server, tool)
        server.state, server.error_code, server.tested_at = ServerState.OK, "", now()
        server.last_error = _describe_left_out(listing, 0 if free is None else len(new[free:]))
        server.save(update_fields=["state", "error_code", "last_error", "tested_at"])
        publish_workspace_list_changed(server.workspace_id, "tools")
        if changed:
            tools_changed.call(changed)


def _describe_left_out(listing: MCPListing, beyond_quota: int) -> str:
    parts = [f"{name}: {reason}" for name, reason in listing.left_out.items()]
    if beyond_quota:
        parts.insert(0, f"The workspace has as many tools as it can: {beyond_quota} are left out.")
    if listing.is_cut:
        parts.insert(0, f"It has more tools than the {len(listing.tools)} that are used.")
    return " ".join(parts)[:500]


def store_failure(server_id: UUID, base_url: str, error: MCPError, needs_sign_in: bool) -> None:
    """Store that the server did not list its tools. Its tools stay as they are: each call checks its description."""
    state = ServerState.SIGN_IN if needs_sign_in else ServerState.FAILED
    text = f"{error} {error.server_text}".strip()[:500]
    with transaction.atomic():
        rows = ToolServer.objects.filter(pk=server_id, base_url=base_url)
        if rows.update(state=state, error_code=error.code, last_error=text, tested_at=now()):
            publish_workspace_list_changed(rows.values_list("workspace_id", flat=True).get(), "tools")


def build_definition(tool: MCPToolDescription) -> dict[str, Any]:
    """Return the definition of a tool as it is stored in `WorkspaceTool.pending`, from the description that the server gives."""
    return {
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "annotations": tool.annotations,
        "effect": "read" if tool.is_read_only else "write",
        "hash": tool.hash,
    }


def _create_tool(server: ToolServer, tool: MCPToolDescription) -> None:
    definition = build_definition(tool)
    row = WorkspaceTool(
        workspace_id=server.workspace_id,
        server=server,
        name=_find_free_name(server, tool.name),
        remote_name=tool.name,
        effect="write",
        is_enabled=False,
        off_reason=OffReason.EDITOR,
        pending=definition,
    )
    row.apply_definition(definition)
    row.save(force_insert=True)


def _update_tool(row: WorkspaceTool, tool: MCPToolDescription) -> bool:
    """Store the description of a tool. Return whether the tool is off from now on because its description has changed."""
    definition = build_definition(tool)
    was_off_for_editor = row.off_reason in (OffReason.CHANGED, OffReason.EDITOR)
    before = (row.is_enabled, row.off_reason, row.pending)
    if not row.pinned_hash:
        row.pending = definition
        row.apply_definition(definition)
    elif tool.hash != row.pinned_hash:
        row.is_enabled, row.off_reason, row.pending = False, OffReason.CHANGED, definition
    elif row.off_reason == OffReason.GONE:
        row.is_enabled, row.off_reason, row.pending = True, "", None
    elif row.off_reason == OffReason.CHANGED:
        row.pending = definition  # the approved one again; the tool stays off until an editor approves it
    if (row.is_enabled, row.off_reason, row.pending) == before:
        return False
    row.revision += 1
    row.save()
    return row.off_reason == OffReason.CHANGED and not was_off_for_editor


def _remove_tool(row: WorkspaceTool) -> None:
    """Delete a tool that nobody has approved, and switch off an approved one. One that is off already keeps its reason, so that it
    is not switched on when the server has it again."""
    if not row.pinned_hash:
        row.delete()
    elif row.is_enabled:
        row.is_enabled, row.off_reason = False, OffReason.GONE
        row.revision += 1
        row.save()


def _find_free_name(server: ToolServer, remote_name: str) -> str:
    """Return a name for agents that begins with the server's, and that no other tool of the workspace or of the system has."""
    words = (_NOT_IN_NAMES.sub("_", text).strip("_") for text in (server.name.lower(), remote_name))
    base = "_".join(word for word in words if word)[:MAX_NAME_CHARACTERS] or "tool"
    taken = set(WorkspaceTool.objects.filter(workspace=server.workspace_id).values_list("name", flat=True))
    taken |= registry.keys() | RESERVED_NAMES
    names = (base, *(f"{base[: MAX_NAME_CHARACTERS - 4]}_{number}" for number in range(2, 1000)))
    return next(name for name in names if name not in taken)
