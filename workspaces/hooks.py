"""The hooks of workspaces, which call functions of the apps above. `config/hooks.py` lists these functions."""

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from common.hooks import CollectingHook, Hook
from events.rows import NotificationKind
from workspaces.models import Credential, Workspace

if TYPE_CHECKING:
    from actors.models import Actor

# Called when the requests of a workspace's agents will go to another provider or host, with the new model and the actor who set it.
model_changed: "Hook[[Credential, Actor]]" = Hook("model_changed")
# Called when the time zone of a workspace has been changed.
time_zone_changed: "Hook[[Workspace]]" = Hook("time_zone_changed")
# Called when a member is no editor any more, or a grant to invite is revoked, with the workspace, the member, and the actor who
# caused it.
rights_reduced: "Hook[[Workspace, Actor, Actor]]" = Hook("rights_reduced")
# Called when an operator has granted a person a right on an object or revoked it, with the grant, the operator, and the kind of the
# notification.
grant_changed: "Hook[[Any, Actor, NotificationKind]]" = Hook("grant_changed")
# Called when a membership has ended, with the workspace, the former member, and the actor who ended it.
member_left: "Hook[[Workspace, Actor, Actor]]" = Hook("member_left")
# Called when a workspace is deleted, with the actor who deletes it, before its memberships end.
workspace_deleted: "Hook[[Workspace, Actor]]" = Hook("workspace_deleted")
# Called when the deletion of a workspace has been undone, with the actor who undid it, after its memberships are restored.
workspace_restored: "Hook[[Workspace, Actor]]" = Hook("workspace_restored")
# Called to purge a deleted workspace. A listener returns the rows of its app that belong to the workspace, in the order in which
# they can be deleted. It raises `Unavailable` if that cannot be done yet.
collect_rows_to_purge: "CollectingHook[[Workspace], QuerySet[Any]]" = CollectingHook("collect_rows_to_purge")
