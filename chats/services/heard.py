"""What chats do when they hear news from below."""

from actors.models import Actor
from chats.models import ChatGrant
from chats.services.members import hold_places, leave_workspace_chats, show_anew
from workspaces.grants import end_grants
from workspaces.models import Workspace


def leave_chats_of_workspace(workspace: Workspace, actor: Actor, remover: Actor) -> list[None]:
    """Somebody is no longer a member: they leave its chats in the same transaction, and what they were granted on them ends."""
    leave_workspace_chats(workspace=workspace, actor=actor, remover=remover)
    end_grants(ChatGrant.objects.filter(content_object__workspace=workspace, user=actor), remover)
    return []


def show_new_name(actor: Actor) -> list[None]:
    """Somebody has another name: the rooms they are in show it."""
    show_anew(actor, hold_places(actor))
    return []
