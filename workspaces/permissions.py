"""Who may do what with a workspace: fetch-and-check."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import CharField, OuterRef, QuerySet, Subquery, Value
from django.db.models.expressions import Combinable

from common.access import Fetch, annotate_rights, compute_verbs
from workspaces.models import Membership, Role, Workspace, WorkspaceGrant

if TYPE_CHECKING:
    from actors.models import Actor

# The role of an agent in the workspace (or chat) that it belongs to.
AGENT = "agent"


class WorkspaceVerb(StrEnum):
    SEE = "see"
    CREATE_CHAT = "create_chat"
    CREATE_AGENT = "create_agent"
    INVITE = "invite"
    CHANGE_ROLE = "change_role"
    REMOVE_MEMBER = "remove_member"
    RENAME = "rename"
    SET_MODEL = "set_model"


ROLE_VERBS = {
    Role.EDITOR.value: frozenset(WorkspaceVerb),
    Role.SUGGESTER.value: frozenset({WorkspaceVerb.SEE, WorkspaceVerb.CREATE_CHAT}),
    AGENT: frozenset({WorkspaceVerb.SEE, WorkspaceVerb.CREATE_CHAT}),
}


def build_role_expression(actor: "Actor", workspace: str) -> Combinable:
    """An expression: the role of `actor` in the workspace that the column `workspace` names; null for strangers."""
    if actor.is_agent:
        return _own_workspace(actor, workspace)
    memberships = Membership.objects.filter(actor=actor, actor__is_active=True, workspace=OuterRef(workspace))
    return Subquery(memberships.values("role")[:1])


def _own_workspace(agent: "Actor", workspace: str) -> Combinable:
    from_agents = Workspace.objects.filter(pk=OuterRef(workspace), agents=agent, agents__status="ready")
    return Subquery(from_agents.annotate(as_agent=Value(AGENT, CharField())).values("as_agent")[:1])


def _with_rights(principals: list[Any]) -> QuerySet[Workspace]:
    rows: QuerySet[Workspace] = annotate_rights(
        Workspace.objects.all(), principals, role=lambda a: build_role_expression(a, "pk"), grants=WorkspaceGrant
    )
    return rows


def workspaces_visible_to(actor: "Actor") -> QuerySet[Workspace]:
    """The workspaces that `actor` is in, each with `role_0` and `granted_0`."""
    rows: Any = _with_rights([actor])
    visible: QuerySet[Workspace] = rows.filter(role_0__isnull=False)
    return visible


def compute_workspace_verbs(workspace: Workspace) -> frozenset[WorkspaceVerb]:
    """What the reader may do with a workspace that came from here."""
    return compute_verbs(workspace, 1, ROLE_VERBS, WorkspaceVerb)


_fetch = Fetch("workspace", _with_rights, role_verbs=ROLE_VERBS, verbs=WorkspaceVerb)


def get_workspace_for(
    actor: "Actor",
    workspace_id: UUID,
    verb: WorkspaceVerb,
    *,
    on_behalf_of: "Actor | None" = None,
    lock: bool = False,
) -> Workspace:
    """The workspace, when this may be done with it. Raises `NotFound`, `Forbidden`. `lock` holds its row."""
    return _fetch(actor, workspace_id, verb, on_behalf_of=on_behalf_of, lock=lock)
