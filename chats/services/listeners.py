"""What chats do when they hear news from below."""

from actors.models import Actor
from chats.models import ChatGrant
from chats.services.links import get_invitation
from chats.services.locking import lock_chats_of
from chats.services.participants import leave_workspace_chats, publish_participants, revoke_links
from common.errors import NotFound
from events.publish import notify_workspace_list_changed
from workspaces.grants import end_grants
from workspaces.models import Workspace


def leave_chats_of_workspace(workspace: Workspace, actor: Actor, remover: Actor) -> None:
    """Somebody is no longer a member: they leave its chats in the same transaction, and what they were granted on them ends."""
    leave_workspace_chats(workspace=workspace, actor=actor, remover=remover)
    end_grants(ChatGrant.objects.filter(content_object__workspace=workspace, user=actor), remover)


def is_invitation(token: str) -> list[bool]:
    """Return whether the invite link of this token lets a new person in."""
    try:
        get_invitation(token)
    except NotFound:
        return [False]
    return [True]


def revoke_links_of_member(workspace: Workspace, actor: Actor, demoter: Actor) -> None:
    """A member may not invite any more: the links that they made into its chats end."""
    revoke_links(demoter, chat__workspace=workspace, created_by=actor)


def publish_profile(actor: Actor) -> None:
    """Show somebody's new name or avatar in the chats they are in, and in the lists of members of their workspaces."""
    publish_participants(actor, lock_chats_of(actor))
    for workspace_id in actor.memberships.values_list("workspace", flat=True):
        notify_workspace_list_changed(workspace_id, "members")
