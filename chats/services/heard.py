"""What chats do when they hear news from below."""

from actors.models import Actor
from chats.services.members import hold_places, leave_workspace_chats, show_anew
from workspaces.models import Workspace


def leave_chats_of_workspace(workspace: Workspace, actor: Actor, remover: Actor) -> list[None]:
    """Somebody is no longer a member: they leave its chats in the same transaction."""
    leave_workspace_chats(workspace=workspace, actor=actor, remover=remover)
    return []


def show_new_name(actor: Actor) -> list[None]:
    """Somebody has another name: the rooms they are in show it."""
    show_anew(actor, hold_places(actor))
    return []
