"""Creating, changing, approving and deleting the tools of a workspace, and setting the policies for all tools."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from common.errors import Code, Conflict, Invalid, NotFound
from common.quotas import check_quota
from common.text import normalize_name
from events import audit
from events.publish import publish_workspace_list_changed
from events.rows import OffReason, Policy, ServerKind, ToolEffect
from tools.credentials import check_no_credential_argument
from tools.http.form import Definition, ToolForm
from tools.models import ToolPolicy, ToolServer, WorkspaceTool
from tools.permissions import get_server_for, get_workspace_tool_for
from tools.registry import AGENT_TOOL_NAME, NAME, RESERVED_NAMES, registry
from tools.selectors import get_tools
from workspaces.permissions import WorkspaceVerb, get_workspace_for


@transaction.atomic
def create_tool(
    actor: Actor,
    server_id: UUID,
    *,
    name: str,
    form: ToolForm,
    title: str = "",
    is_idempotent: bool = False,
    timeout_s: float = 30.0,
) -> WorkspaceTool:
    """Add a tool to an HTTP server by a form. Raises `NotFound`, `Forbidden`, `Invalid`, `Conflict`, `QuotaReached`."""
    server = get_server_for(actor, server_id, lock=True)
    if server.kind != ServerKind.HTTP:
        raise Invalid("The tools of this server come from its own description.")
    check_quota("workspace_tools", WorkspaceTool.objects.filter(workspace=server.workspace_id))
    tool = build_workspace_tool(server, name, form.build_definition(), title=title)
    tool.is_idempotent, tool.timeout_s = is_idempotent, timeout_s
    tool.save()
    record_tool(actor, "tool.created", tool)
    return tool


@transaction.atomic
def change_tool(
    actor: Actor, tool_id: UUID, *, revision: int, form: ToolForm | None = None, **changes: Any
) -> WorkspaceTool:
    """Change `name`, `title`, `effect`, `is_idempotent`, `timeout_s` or `is_enabled` of a tool, and with `form` its definition.

    Specs keep the old name; the policy goes with the tool. Raises `NotFound`, `Forbidden`, `Invalid`, and `Conflict`, also if the
    tool cannot be switched on: its definition has changed or is gone, or nobody has approved it (`approve_tool`).
    """
    tool = get_workspace_tool_for(actor, tool_id, lock=True)
    if tool.revision != revision:
        raise Conflict("Somebody else has changed the tool meanwhile.", hints=["Look again, then change it."])
    if form is not None:
        if tool.server.kind != ServerKind.HTTP:
            raise Invalid("The definition of this tool comes from its server.")
        set_definition(tool, form.build_definition())
    if (name := changes.pop("name", tool.name)) != tool.name:
        check_tool_name(tool.server, name)
        policies = ToolPolicy.objects.filter(workspace=tool.workspace_id)
        policies.filter(tool=name).delete()  # left from a deleted tool of this name
        policies.filter(tool=tool.name).update(tool=name)
        tool.name = name
    if (is_enabled := changes.pop("is_enabled", tool.is_enabled)) != tool.is_enabled:
        if is_enabled and (tool.off_reason != OffReason.EDITOR or not tool.pinned_hash or tool.pending):
            raise Conflict("Its server has changed it.", hints=["Look at the new description and approve it."])
        tool.is_enabled, tool.off_reason = is_enabled, "" if is_enabled else OffReason.EDITOR
    for field, value in changes.items():
        setattr(tool, field, normalize_name(value) if field == "title" else value)
    return save_tool(actor, "tool.changed", tool)


@transaction.atomic
def approve_tool(actor: Actor, tool_id: UUID, *, definition_hash: str, effect: ToolEffect) -> WorkspaceTool:
    """Approve the pending definition of a tool, and switch the tool on. `definition_hash`: of the definition that the actor has
    read. `effect`: whether its calls read or write.

    Raises `NotFound`, `Forbidden`, `Invalid` (see `set_definition`), and `Conflict` if the server describes the tool in another way
    by now, or no definition waits.
    """
    tool = get_workspace_tool_for(actor, tool_id, lock=True)
    if tool.pending is None or tool.pending["hash"] != definition_hash:
        raise Conflict("The server has changed this tool meanwhile.", hints=["Look again, then approve it."])
    check_no_credential_argument(tool.server, tool.pending.get("request"))
    tool.apply_definition(tool.pending)
    tool.pinned_hash, tool.pending, tool.effect = definition_hash, None, effect
    tool.is_enabled, tool.off_reason = True, ""
    return save_tool(actor, "tool.approved", tool)


@transaction.atomic
def delete_tool(actor: Actor, tool_id: UUID) -> None:
    """Delete a tool and its policy. Specs keep its name; agents work without it. Raises `NotFound`, `Forbidden`."""
    tool = get_workspace_tool_for(actor, tool_id, lock=True)
    ToolPolicy.objects.filter(workspace=tool.workspace_id, tool=tool.name).delete()
    record_tool(actor, "tool.deleted", tool)
    tool.delete()


def build_workspace_tool(
    server: ToolServer, name: str, definition: Definition, *, title: str, remote_name: str = ""
) -> WorkspaceTool:
    """Return an unsaved tool of a server. Raises `Invalid`, and `Conflict` for its name."""
    check_tool_name(server, name)
    tool = WorkspaceTool(
        workspace=server.workspace, server=server, name=name, title=normalize_name(title)[:120], remote_name=remote_name
    )
    set_definition(tool, definition)
    return tool


def set_definition(tool: WorkspaceTool, definition: Definition) -> None:
    """Set the definition of a tool: what a model reads, and what is sent. It is approved, because the editor who calls this has
    written or chosen it. Raises `Invalid` if an argument takes the place of the server's credential."""
    check_no_credential_argument(tool.server, definition.request)
    tool.apply_definition(asdict(definition) | {"title": tool.title})
    tool.effect, tool.pinned_hash, tool.pending = definition.effect, definition.hash, None


def check_tool_name(server: ToolServer, name: str) -> None:
    """Check a name of a tool. Raises `Invalid`, and `Conflict` if another tool has it."""
    if not NAME.match(name):
        raise Invalid("The name of a tool has letters, digits, _ and -, at most 64.")
    others = WorkspaceTool.objects.filter(workspace=server.workspace_id, name=name)
    is_reserved = name in registry or name in RESERVED_NAMES or AGENT_TOOL_NAME.fullmatch(name)
    if is_reserved or others.exists():
        raise Conflict(f"There is a tool named {name} already.", code=Code.HANDLE_TAKEN)


def save_tool(actor: Actor, action: str, tool: WorkspaceTool) -> WorkspaceTool:
    """Store a changed tool under its next revision, and record the change."""
    tool.revision += 1
    tool.save()
    record_tool(actor, action, tool)
    return tool


def record_tool(actor: Actor, action: str, tool: WorkspaceTool) -> None:
    """Write the audit record of a change, and let open clients read the tools again."""
    audit.record(
        actor,
        action,
        workspace_id=tool.workspace_id,
        object_id=tool.id,
        tool=tool.name,
        effect=tool.effect,
        hash=tool.pinned_hash[:12],
    )
    publish_workspace_list_changed(tool.workspace_id, "tools")


@transaction.atomic
def set_policy(actor: Actor, workspace_id: UUID, tool: str, *, policy: Policy) -> ToolPolicy:
    """Set whether the calls of a tool are made at once, ask first, or are off, for all agents of the workspace. The tool may be any
    public agent.

    Raises `NotFound`, also for an unknown tool, and `Forbidden`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_TOOLS, lock=True)
    if tool not in get_tools(workspace.id, [tool]):
        raise NotFound("There is no such tool.")
    row, _ = ToolPolicy.objects.update_or_create(workspace=workspace, tool=tool, defaults={"policy": policy})
    audit.record(actor, "tool.policy_set", workspace_id=workspace.id, object_id=row.id, tool=tool, policy=str(policy))
    publish_workspace_list_changed(workspace.id, "tools")
    return row
