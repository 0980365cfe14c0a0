"""Building the rows of workspaces and of their models."""

from common.model_settings import ChatModelSettings, ModelSettings
from events.rows import DeletedWorkspaceRow, ModelRow, WorkspaceRow
from workspaces.models import Workspace
from workspaces.permissions import compute_workspace_verbs


def build_workspace_row(workspace: Workspace) -> WorkspaceRow:
    """Return the row of a workspace from `workspaces_visible_to` or `get_workspace_for`, with the role and verbs of the
    actor for whom it was fetched."""
    return WorkspaceRow(
        id=workspace.id,
        name=workspace.name,
        handle=workspace.handle,
        former_handles=workspace.former_handles,
        time_zone=workspace.time_zone,
        revision=workspace.revision,
        role=getattr(workspace, "role_0"),  # noqa: B009  # of the first principal, annotated by `_with_rights`
        verbs=sorted(compute_workspace_verbs(workspace)),
    )


def build_deleted_workspace_row(workspace: Workspace) -> DeletedWorkspaceRow:
    """Return the row of a workspace from `workspaces_restorable_by`."""
    if workspace.deleted_at is None or workspace.purge_at is None:
        raise ValueError("The workspace is not deleted.")
    return DeletedWorkspaceRow(
        id=workspace.id,
        name=workspace.name,
        deleted_at=workspace.deleted_at,
        purge_at=workspace.purge_at,
        deleted_by=workspace.deleted_by and workspace.deleted_by.to_row(),
    )


def build_model_row(settings: ModelSettings | None) -> ModelRow:
    """Return the row of a model. Without settings it is the demo model at revision 0, also if the operator's model answers."""
    if settings is None:
        return ModelRow(provider="demo", default_model="demo", revision=0)
    return ModelRow(
        provider=settings.provider,
        api_base=settings.api_base or None,
        options=settings.options,
        default_model=settings.default_model,
        key_last4=settings.key_last4 or None,
        has_key=bool(settings.encrypted_key),
        context_size=settings.context_size if isinstance(settings, ChatModelSettings) else None,
        revision=settings.revision,
    )
