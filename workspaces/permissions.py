"""Rights on workspaces: verbs of the members' roles, and grants."""

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.db.models import CharField, Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.expressions import Combinable

from common.access import Fetch, annotate_rights, compute_verbs
from common.clock import now
from events.rows import Role
from workspaces.models import DeletedMembership, Membership, PastMembership, Workspace, WorkspaceGrant

if TYPE_CHECKING:
    from actors.models import Actor

AGENT = "agent"
"""The role of an agent in its workspace, and in the chats that it is in."""


class WorkspaceVerb(StrEnum):
    SEE = "see"
    CREATE_CHAT = "create_chat"
    CREATE_AGENT = "create_agent"
    INVITE = "invite"
    CHANGE_ROLE = "change_role"
    REMOVE_MEMBER = "remove_member"
    RENAME = "rename"
    SET_MODEL = "set_model"
    SET_TOOLS = "set_tools"
    UPLOAD_FILE = "upload_file"
    DELETE_ANY_FILE = "delete_any_file"
    SEE_USAGE_OF_OTHERS = "see_usage_of_others"
    SET_BUDGETS = "set_budgets"
    DELETE = "delete_workspace"


ROLE_VERBS = {
    Role.EDITOR.value: frozenset(WorkspaceVerb),
    Role.SUGGESTER.value: frozenset({WorkspaceVerb.SEE, WorkspaceVerb.CREATE_CHAT, WorkspaceVerb.UPLOAD_FILE}),
    AGENT: frozenset({WorkspaceVerb.SEE, WorkspaceVerb.CREATE_CHAT, WorkspaceVerb.UPLOAD_FILE}),
}


def build_role_expression(actor: "Actor", workspace: str) -> Combinable:
    """Return the expression for the actor's role in the workspace of the column `workspace`; null if the actor is not in it."""
    if actor.is_agent:
        own = Workspace.objects.filter(pk=OuterRef(workspace), agents=actor, agents__status="ready")
        return Subquery(own.annotate(agent_role=Value(AGENT, CharField())).values("agent_role")[:1])
    memberships = Membership.objects.filter(actor=actor.pk, actor__is_active=True, workspace=OuterRef(workspace))
    return Subquery(memberships.values("role")[:1])


def _with_rights(principals: list[Any]) -> QuerySet[Workspace]:
    rows: QuerySet[Workspace] = annotate_rights(
        Workspace.objects.all(), principals, role=lambda a: build_role_expression(a, "pk"), grant_class=WorkspaceGrant
    )
    return rows


def workspaces_visible_to(actor: "Actor") -> QuerySet[Workspace]:
    """Return the workspaces that the actor is in, annotated with the role (`role_0`) and grants (`granted_0`)."""
    rows: Any = _with_rights([actor])
    visible: QuerySet[Workspace] = rows.filter(role_0__isnull=False)
    return visible


def list_unpurged_workspaces() -> QuerySet[Workspace]:
    """Return the deleted workspaces whose deletion can still be undone."""
    deleted = Workspace.objects.filter(deleted_at__isnull=False, purged_at=None)
    return deleted.filter(deleted_at__gt=now() - timedelta(days=settings.WORKSPACE_PURGE_DAYS))


def list_workspaces_to_purge() -> QuerySet[Workspace]:
    """Return the deleted workspaces whose deletion can no longer be undone, and whose content is not purged completely."""
    deleted = Workspace.objects.filter(deleted_at__isnull=False, purged_at=None)
    return deleted.filter(deleted_at__lte=now() - timedelta(days=settings.WORKSPACE_PURGE_DAYS))


def select_former_editors(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return those of the memberships (of any of the three tables) whose people may undo the deletion of the workspace although
    they were no editors then: another member had taken this role from them in the `WORKSPACE_PURGE_DAYS` days before the
    deletion, and they had it earlier than the editor who deleted the workspace. So a new editor cannot shut out the earlier ones,
    and who was removed by earlier editors does not come back in.
    """
    period = timedelta(days=settings.WORKSPACE_PURGE_DAYS)
    return rows.filter(
        workspace__deleted_at__lt=F("editor_until") + period, workspace__deleted_by_editor_since__gt=F("editor_since")
    )


def workspaces_restorable_by(person: "Actor") -> QuerySet[Workspace]:
    """Return the deleted workspaces whose deletion this person can undo: those of which they were an editor when another editor,
    or they themselves, deleted it, or a former editor (`select_former_editors`). A deletion by an operator is undone by operators
    only.
    """
    own = {"workspace": OuterRef("pk"), "actor": person, "actor__is_active": True}
    members, past = DeletedMembership.objects.filter(**own), PastMembership.objects.filter(**own)
    return list_unpurged_workspaces().filter(
        Exists(members.filter(role=Role.EDITOR))
        | Exists(select_former_editors(members))
        | Exists(select_former_editors(past)),
        deleted_by_operator=False,
    )


def compute_workspace_verbs(workspace: Workspace) -> frozenset[WorkspaceVerb]:
    """Return the verbs of the actor for whom a function of this module returned the workspace."""
    return compute_verbs(workspace, count=1, role_verbs=ROLE_VERBS, verbs=WorkspaceVerb)


_fetch = Fetch("workspace", _with_rights, role_verbs=ROLE_VERBS, verbs=WorkspaceVerb)


def get_workspace_for(
    actor: "Actor",
    workspace_id: UUID,
    verb: WorkspaceVerb,
    *,
    on_behalf_of: "Actor | None" = None,
    lock: bool = False,
) -> Workspace:
    """Return the workspace if the actor has this right on it, and so has the person for whom the actor works (`on_behalf_of`).

    `lock` locks the row until the transaction ends. Raises `NotFound`, `Forbidden`.
    """
    return _fetch(actor, workspace_id, verb, on_behalf_of=on_behalf_of, lock=lock)
