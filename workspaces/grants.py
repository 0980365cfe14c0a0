"""Object-level grants: one verb on one object for one person, given and taken by an operator."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.auth.models import Permission
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from guardian.models import UserObjectPermissionBase

from common.errors import Invalid
from common.operators import check_operator
from events import audit
from events.publish import notify_list_changed, notify_rights_changed
from workspaces.hooks import member_demoted
from workspaces.models import Membership, Role, Workspace

if TYPE_CHECKING:
    from actors.models import Actor

Grants = type[UserObjectPermissionBase]


def list_grantable_permissions(grants: Grants) -> QuerySet[Permission]:
    """The verbs that can be granted on objects of this kind: those that its model names, without Django's own four."""
    column: Any = grants._meta.get_field("content_object")  # type: ignore[misc]  # every subclass has it
    target = column.related_model._meta
    known = Permission.objects.filter(
        content_type__app_label=target.app_label, content_type__model=target.model_name
    )  # fmt: skip
    return known.exclude(codename__regex=r"^(add|change|delete|view)_").order_by("name")


def check_grant(*, person: "Actor", target: Any) -> None:
    """Whether a grant would do anything. Raises `Invalid`.

    It adds to what somebody may see anyway and opens no door by itself; and nobody edits a public agent. The
    caller is in a transaction.
    """
    if not (person.is_human and person.is_active):
        raise Invalid(_("Rights are granted to people whose account is open."))
    workspace_id = workspace_of(target)
    if workspace_id is None:
        raise Invalid(_("Nobody may change a public agent, so that nothing can be granted on it."))
    # Held, so that nobody leaves meanwhile and keeps what they are about to be given.
    members = Membership.objects.select_for_update(no_key=True)
    if members.filter(workspace=workspace_id, actor=person).first() is None:
        refused = _("%(person)s is not in the workspace of %(object)s: a grant opens no door by itself.")
        raise Invalid(refused % {"person": person.name, "object": target})


def workspace_of(target: Any) -> UUID | None:
    """The workspace that an object belongs to, or is; null for what is public and for people."""
    found: UUID | None = getattr(target, "workspace_id", target.pk) if not _is_person(target) else None
    return found


def _is_person(target: Any) -> bool:
    return bool(getattr(target, "is_human", False))


def add_grant(grants: Grants, *, operator: "Actor", person: "Actor", permission: Permission, target: Any) -> Any:
    """Let `person` do this with `target`. A grant that exists is kept. Raises `Forbidden`, `Invalid`."""
    check_operator(operator, grants)
    check_grant(person=person, target=target)
    if not list_grantable_permissions(grants).filter(pk=permission.pk).exists():
        raise Invalid(_("This kind of access can't be granted here."))
    grant, is_new = grants._default_manager.get_or_create(user=person, permission=permission, content_object=target)
    if is_new:
        _record_and_notify(grant, operator, "grant.given")
    return grant


def revoke_grant(grant: Any, operator: "Actor") -> None:
    """Revoke a grant. Raises `Forbidden`.

    The invite links of a person who can no longer invite are revoked.
    """
    check_operator(operator, type(grant))
    _record_and_notify(grant, operator, "grant.taken")
    grant.delete()
    target = grant.content_object
    if isinstance(target, Workspace) and grant.permission.codename == "invite_workspace":
        if not target.memberships.filter(actor=grant.user_id, role=Role.EDITOR).exists():
            member_demoted(target, grant.user, operator)


def end_grants(grants: QuerySet[Any], by: "Actor") -> None:
    """End the grants of a person who leaves the workspace. They do not come back when the person does."""
    for grant in grants.select_related("content_object", "permission"):
        _record(grant, by, "grant.ended")
        grant.delete()


def _record(grant: Any, by: "Actor", action: str) -> None:
    target = grant.content_object
    audit.record(
        by, action, workspace_id=workspace_of(target), object_id=target.pk, table=target._meta.label,
        person=str(grant.user_id), verb=grant.permission.codename,
    )  # fmt: skip


def _record_and_notify(grant: Any, operator: "Actor", action: str) -> None:
    _record(grant, operator, action)
    notify_rights_changed(grant.user_id)
    for name in ("me", "agents", "chats"):
        notify_list_changed([grant.user_id], name)
