"""What the models of a workspace read of long chats."""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from common.errors import Conflict
from events import audit
from events.payloads import ContextStrategy
from events.publish import publish_workspace_list_changed
from workspaces.models import Workspace
from workspaces.permissions import WorkspaceVerb, get_workspace_for


@transaction.atomic
def change_context_settings(
    actor: Actor,
    workspace_id: UUID,
    *,
    strategy: ContextStrategy,
    max_tokens: int | None,
    revision: int,
) -> Workspace:
    """Set the strategy and the limit of agents that have none of their own.

    Raises `NotFound`, `Forbidden`, and `Conflict` if the settings have changed since `revision`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_MODEL, lock=True)
    if revision != workspace.context_revision:
        raise Conflict("Somebody else has changed this meanwhile.", hints=["Look again, then change it."])
    workspace.context_strategy, workspace.context_max_tokens = strategy, max_tokens
    workspace.context_revision = revision + 1
    workspace.save(update_fields=["context_strategy", "context_max_tokens", "context_revision"])
    audit.record(actor, "context.changed", workspace_id=workspace.id, object_id=workspace.id, strategy=strategy)
    publish_workspace_list_changed(workspace.id, "context")
    return workspace
