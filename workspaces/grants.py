"""Object-level grants: an operator grants a person one verb on one object."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.auth.models import Permission
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from guardian.models import UserObjectPermissionBase

from common.errors import Invalid
from common.operators import check_operator
from events import audit
from events.publish import publish_list_changed, publish_rights_changed
from events.rows import NotificationKind, Role
from workspaces.hooks import grant_changed, rights_reduced
from workspaces.models import Membership, Workspace

if TYPE_CHECKING:
    from actors.models import Actor

GrantClass = type[UserObjectPermissionBase]


def list_grantable_permissions(grant_class: GrantClass) -> QuerySet[Permission]:
    """Return the permissions that grants of this class can have: those of the object's `Meta.permissions`."""
    column: Any = grant_class._meta.get_field("content_object")  # type: ignore[misc]  # every subclass has it
    target = column.related_model._meta
    known = Permission.objects.filter(content_type__app_label=target.app_label, content_type__model=target.model_name)
    return known.exclude(codename__regex=r"^(add|change|delete|view)_").order_by("name")


def check_grant(*, person: "Actor", target: Any) -> None:
    """Check that a person can be granted a verb on an object. Raises `Invalid`.

    The person must be an active member of the object's workspace, because a grant only adds to the rights of a role. Public
    agents belong to no workspace. Call it in a transaction: it locks the membership.
    """
    if not (person.is_human and person.is_active):
        raise Invalid(_("Rights are granted to people whose account is open."))
    workspace_id = _get_workspace_id(target)
    if workspace_id is None:
        raise Invalid(_("Nobody may change a public agent, so that nothing can be granted on it."))
    # The lock keeps a concurrent removal of the person from missing the new grant.
    members = Membership.objects.select_for_update(no_key=True)
    if members.filter(workspace=workspace_id, actor=person).first() is None:
        message = _("%(person)s is not in the workspace of %(object)s. A right can be granted to its members only.")
        raise Invalid(message % {"person": person.name, "object": target})


def _get_workspace_id(target: Any) -> UUID | None:
    """Return the id of the workspace of an object, which may be a workspace itself. Null for people and public agents."""
    workspace_id: UUID | None = target.pk if isinstance(target, Workspace) else target.workspace_id
    return workspace_id


@transaction.atomic
def add_grant(
    grant_class: GrantClass, *, operator: "Actor", person: "Actor", permission: Permission, target: Any
) -> Any:
    """Grant a person a permission on an object, or return the existing grant. Raises `Forbidden`, `Invalid`."""
    check_operator(operator, grant_class)
    check_grant(person=person, target=target)
    if not list_grantable_permissions(grant_class).filter(pk=permission.pk).exists():
        raise Invalid(_("This kind of access can't be granted here."))
    grant, is_new = grant_class._default_manager.get_or_create(
        user=person, permission=permission, content_object=target
    )
    if is_new:
        _record_and_notify(grant, operator, "grant.given", NotificationKind.GRANT_GIVEN)
    return grant


@transaction.atomic
def revoke_grant(grant: Any, operator: "Actor") -> None:
    """Revoke a grant. Raises `Forbidden`.

    The invite links of a person who can no longer invite are revoked.
    """
    check_operator(operator, type(grant))
    _record_and_notify(grant, operator, "grant.taken", NotificationKind.GRANT_TAKEN)
    grant.delete()
    target = grant.content_object
    if isinstance(target, Workspace) and grant.permission.codename == "invite_workspace":
        if not target.memberships.filter(actor=grant.user_id, role=Role.EDITOR).exists():
            rights_reduced.call(target, grant.user, operator)


def end_grants(grants: QuerySet[Any], by: "Actor") -> None:
    """Delete the grants of a person who leaves the workspace. `by` is the actor in the audit trail."""
    for grant in grants.select_related("content_object", "permission"):
        _record(grant, by, "grant.ended")
        grant.delete()


def _record(grant: Any, by: "Actor", action: str) -> None:
    target = grant.content_object
    audit.record(
        by,
        action,
        workspace_id=_get_workspace_id(target),
        object_id=target.pk,
        table=target._meta.label,
        person=str(grant.user_id),
        verb=grant.permission.codename,
    )


def _record_and_notify(grant: Any, operator: "Actor", action: str, kind: NotificationKind) -> None:
    _record(grant, operator, action)
    grant_changed.call(grant, operator, kind)
    publish_rights_changed(grant.user_id)
    for name in ("me", "agents", "chats"):
        publish_list_changed([grant.user_id], name)
