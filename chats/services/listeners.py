"""The listeners of chats on the hooks of workspaces and actors."""

from actors.models import Actor
from chats.models import ChatGrant
from chats.services.links import get_invitation
from chats.services.locking import lock_chats_of
from chats.services.participants import leave_workspace_chats, publish_participants, revoke_links
from common.errors import NotFound
from events.publish import publish_workspace_list_changed
from workspaces.grants import end_grants
from workspaces.models import Workspace


def leave_chats_of_workspace(workspace: Workspace, actor: Actor, remover: Actor) -> None:
    """Remove a former member of a workspace from its chats, and end their grants on these chats."""
    leave_workspace_chats(workspace=workspace, actor=actor, remover=remover)
    end_grants(ChatGrant.objects.filter(content_object__workspace=workspace, user=actor), remover)


def check_invitation(token: str) -> list[bool]:
    """Return, as the list of one item that the hook expects, whether a new person can join by the invite link with this token."""
    try:
        get_invitation(token)
    except NotFound:
        return [False]
    return [True]


def revoke_links_of_member(workspace: Workspace, actor: Actor, demoter: Actor) -> None:
    """Revoke the links that a member created for chats of the workspace, because they may not invite any more."""
    revoke_links(demoter, chat__workspace=workspace, created_by=actor)


def publish_profile(actor: Actor) -> None:
    """Publish the changed name, handle or avatar of a person in their chats and to the members of their workspaces."""
    publish_participants(actor, lock_chats_of(actor))
    for workspace_id in actor.memberships.values_list("workspace", flat=True):
        publish_workspace_list_changed(workspace_id, "members")
