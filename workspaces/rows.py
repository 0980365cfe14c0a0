"""Building the rows of workspaces and of their models."""

from events.rows import ModelRow, WorkspaceRow
from workspaces.models import Credential, Workspace
from workspaces.permissions import compute_workspace_verbs


def build_workspace_row(workspace: Workspace) -> WorkspaceRow:
    """Return the row of a workspace from `workspaces_visible_to` or `get_workspace_for`, with the role and verbs of that actor."""
    return WorkspaceRow(
        id=workspace.id, name=workspace.name, handle=workspace.handle, revision=workspace.revision,
        role=getattr(workspace, "role_0"),  # noqa: B009  # an annotation, unknown to the type
        verbs=sorted(compute_workspace_verbs(workspace)),
    )  # fmt: skip


def build_model_row(credential: Credential | None) -> ModelRow:
    """Return the row of the workspace's model. Without one it is the demo model (or the operator's), at revision 0."""
    if credential is None:
        return ModelRow(provider="demo", default_model="demo", revision=0)
    return ModelRow(
        provider=credential.provider, api_base=credential.api_base or None, options=credential.options,
        default_model=credential.default_model,
        key_last4=credential.key_last4 or None, has_key=bool(credential.encrypted_key), revision=credential.revision,
    )  # fmt: skip
