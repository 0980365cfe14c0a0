"""Importing operations of an OpenAPI document as tools, and finding what changed when it is imported again."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from common.errors import Invalid
from common.quotas import check_quota
from common.request_types import StrictModel
from events.publish import publish_workspace_list_changed
from events.rows import OffReason, ServerKind, ToolEffect
from tools.http.form import Definition
from tools.models import ToolServer, WorkspaceTool
from tools.openapi.operations import MAX_CHOSEN, Operation
from tools.permissions import get_server_for
from tools.services.jobs import get_parsed_document
from tools.services.workspace_tools import build_workspace_tool, record_tool


class ChosenOperation(StrictModel):
    """An operation of a document that becomes a tool with this name. `effect`: null for that of its method."""

    key: str
    name: str
    effect: ToolEffect | None = None


@transaction.atomic
def import_operations(
    actor: Actor, server_id: UUID, *, job_id: UUID | str, chosen: Sequence[ChosenOperation]
) -> list[WorkspaceTool]:
    """Make tools of operations of a document that was read (`start_reading_document`). Return the new tools.

    The existing tools of the server are compared with the document. A tool with another definition is switched off until an editor
    approves the new one, or a document has the approved one again. A tool that the document no longer has is switched off until a
    document has it again unchanged. Raises `NotFound`, `Forbidden`, `Invalid`, `Conflict`, `QuotaReached`.
    """
    server = get_server_for(actor, server_id, lock=True)
    if server.kind != ServerKind.OPENAPI:
        raise Invalid("This server has no OpenAPI document.")
    if len(chosen) > MAX_CHOSEN:
        raise Invalid(f"At most {MAX_CHOSEN} operations are imported at once.")
    if len({one.key for one in chosen}) != len(chosen):
        raise Invalid("Each operation can be chosen once.")
    document = get_parsed_document(server.workspace_id, job_id)
    operations = {one.key: one for one in document.operations}
    existing = {tool.remote_name: tool for tool in server.tools.select_for_update(no_key=True)}
    for tool in existing.values():
        operation = operations.get(tool.remote_name)
        # Of a document that is too large, only a part is known: a tool that seems to be gone may be in the other part.
        if (operation and operation.definition) or not document.is_cut:
            _switch_by_document(actor, tool, operation.definition if operation else None)
    created = [_create(actor, server, one, operations.get(one.key)) for one in chosen if one.key not in existing]
    server.document_hash, server.document_url = document.hash, document.url
    server.save(update_fields=["document_hash", "document_url"])
    publish_workspace_list_changed(server.workspace_id, "tools")
    return created


def _create(actor: Actor, server: ToolServer, chosen: ChosenOperation, operation: Operation | None) -> WorkspaceTool:
    if operation is None or operation.definition is None:
        raise Invalid(f"The operation {chosen.key[:100]} cannot be imported.")
    check_quota("workspace_tools", WorkspaceTool.objects.filter(workspace=server.workspace_id))
    tool = build_workspace_tool(
        server, chosen.name, operation.definition, title=operation.summary[:120], remote_name=chosen.key
    )
    tool.effect = chosen.effect or operation.effect
    tool.save()
    record_tool(actor, "tool.created", tool)
    return tool


def _switch_by_document(actor: Actor, tool: WorkspaceTool, definition: Definition | None) -> None:
    """Switch a tool off if its operation changed or is gone, and on again once the operation is as it was approved.

    A tool that an editor has switched off stays off, but gets a new definition as `pending`.
    """
    is_same = definition is not None and definition.hash == tool.pinned_hash
    pending = None
    if definition and not is_same:
        pending = asdict(definition) | {"hash": definition.hash, "title": tool.title}
    if tool.off_reason == OffReason.EDITOR:
        if tool.pending == pending:
            return
        tool.pending = pending
        action = "tool.changed"
    elif is_same:
        if tool.off_reason not in (OffReason.CHANGED, OffReason.GONE):
            return
        tool.is_enabled, tool.off_reason, tool.pending = True, "", None
        action = "tool.switched_on"
    else:
        off_reason = OffReason.CHANGED if definition else OffReason.GONE
        if (tool.off_reason, tool.pending) == (off_reason, pending):
            return
        tool.is_enabled, tool.off_reason, tool.pending = False, off_reason, pending
        action = "tool.switched_off"
    tool.revision += 1
    tool.save()
    record_tool(actor, action, tool)
