"""Fetch the servers and tools of a workspace: members read them, editors manage them."""

from typing import TypeVar
from uuid import UUID

from django.db.models import QuerySet

from actors.models import Actor
from common.access import replace_not_found
from common.errors import NotFound
from events.rows import ServerKind
from tools.models import ToolServer, WorkspaceTool
from workspaces.permissions import WorkspaceVerb, get_workspace_for

T = TypeVar("T", ToolServer, WorkspaceTool)


def get_server_for(actor: Actor, server_id: UUID, *, kind: ServerKind | None = None, lock: bool = False) -> ToolServer:
    """Return a server (of this kind) that the actor may manage. `lock`: until the transaction ends. Raises `NotFound`,
    `Forbidden`."""
    rows = ToolServer.objects.select_related("workspace")
    return _get(actor, rows.filter(kind=kind) if kind else rows, server_id, "server", lock=lock)


def get_workspace_tool_for(actor: Actor, tool_id: UUID, *, lock: bool = False) -> WorkspaceTool:
    """Return a tool, with its server, that the actor may manage. `lock` as in `get_server_for`. Raises `NotFound`, `Forbidden`."""
    return _get(actor, WorkspaceTool.objects.select_related("server"), tool_id, "tool", lock=lock)


def _get(actor: Actor, rows: QuerySet[T], id: UUID, what: str, *, lock: bool) -> T:
    """Return the row if the actor may manage it. It is locked after the check, so that nobody locks what they may not see."""
    row = rows.filter(pk=id).first()
    with replace_not_found(what):
        if row is None:
            raise NotFound(f"There is no such {what}.")
        get_workspace_for(actor, row.workspace_id, WorkspaceVerb.SET_TOOLS)
        if lock and (row := rows.select_for_update(of=("self",), no_key=True).filter(pk=id).first()) is None:
            raise NotFound(f"There is no such {what}.")
    return row
