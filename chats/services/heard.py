"""What chats do when they hear news from below."""

from actors.models import Actor
from chats.services.members import leave_workspace_chats
from workspaces.models import Workspace


def leave_chats_of_workspace(workspace: Workspace, actor: Actor, remover: Actor) -> list[None]:
    """Somebody is no longer a member: they leave its chats in the same transaction."""
    leave_workspace_chats(workspace=workspace, actor=actor, remover=remover)
    return []
