"""What a workspace sets for its boards."""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from common.errors import Conflict
from events import audit
from events.publish import publish_workspace_list_changed
from workspaces.models import Workspace
from workspaces.permissions import WorkspaceVerb, get_workspace_for


@transaction.atomic
def change_board_settings(actor: Actor, workspace_id: UUID, *, ask_above_micro: int | None, revision: int) -> Workspace:
    """Set above which estimate, in millionths of a dollar, a board without a supervisor waits for a person; null: none waits.

    Raises `NotFound`, `Forbidden`, and `Conflict` if the settings have changed since `revision`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_BUDGETS, lock=True)
    if revision != workspace.boards_revision:
        raise Conflict("Somebody else has changed this meanwhile.", hints=["Look again, then change it."])
    workspace.boards_ask_above_micro, workspace.boards_revision = ask_above_micro, revision + 1
    workspace.save(update_fields=["boards_ask_above_micro", "boards_revision"])
    audit.record(
        actor,
        "workspace.boards_changed",
        workspace_id=workspace.id,
        object_id=workspace.id,
        ask_above_micro=ask_above_micro,
    )
    publish_workspace_list_changed(workspace.id, "budgets")
    return workspace
