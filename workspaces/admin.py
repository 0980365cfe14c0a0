"""Workspaces, their members and keys, for operators; and the pages of granted rights, which other apps use, too."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from common.errors import AppError
from common.operators import may_operate
from events.admin_deeds import Deed
from events.admin_lists import Related, When, linked
from events.admin_pages import Read, operator_of, register
from workspaces import grants, services
from workspaces.models import Credential, Membership, Role, Workspace, WorkspaceGrant

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise as Text

    from actors.models import Actor

    GrantModelForm = forms.ModelForm[Any]
else:
    GrantModelForm = forms.ModelForm


def about(label: "Text", table: str, by: str, **more: Any) -> Related:
    """A list that is narrowed to the row by a foreign key."""
    return Related(label, table, f"{by}__id__exact", **more)


register(
    Workspace, "name", "handle", "created_at",
    search_fields=("name", "handle"), date_hierarchy="created_at",
    related=(
        about(_("Members"), "workspaces.membership", "workspace"),
        about(_("Model and key"), "workspaces.credential", "workspace"),
        about(_("Agents"), "actors.actor", "workspace"),
        about(_("Chats"), "chats.chat", "workspace"),
        about(_("Runs"), "agents.run", "workspace"),
        about(_("Model calls"), "agents.llmcall", "workspace"),
        about(_("Granted rights"), "workspaces.workspacegrant", "content_object"),
        Related(_("Grant a right…"), "workspaces.workspacegrant", "content_object", is_new=True),
        Related(_("Audit"), "events.auditrecord", "workspace_id"),
    ),
)  # fmt: skip


def held(membership: Membership) -> Workspace:
    """The workspace of a membership, held, as its services want it."""
    return Workspace.objects.select_for_update(no_key=True).get(pk=membership.workspace_id)


def make(role: Role) -> Any:
    """The service, with the arguments of a deed."""

    def act(membership: Membership, operator: "Actor") -> None:
        services.change_role(workspace=held(membership), actor=operator, member_id=membership.actor_id, role=role)

    return act


def remove(membership: Membership, operator: "Actor") -> None:
    """The service, with the arguments of a deed."""
    services.remove_member(workspace=held(membership), actor=operator, member_id=membership.actor_id)


@admin.register(Membership)
class MembershipAdmin(Read):
    list_display = ("joined_at", linked("actor", _("person")), linked("workspace"), "role")
    list_filter = ("role", When)
    search_fields = ("actor__name", "actor__email", "workspace__name")
    found_by = ("actor_id", "workspace_id")
    joined = ("actor", "workspace")
    related = (
        Related(_("Grants of this person here"), "workspaces.workspacegrant", "user__id__exact", value="actor_id"),
        Related(_("Audit of this person"), "events.auditrecord", "q", value="actor_id"),
    )
    deeds = (
        Deed("make_editor", _("Make an editor"), make(Role.EDITOR), _("They may do everything in this workspace."), "edit",
             when=lambda row: row.role != Role.EDITOR),
        Deed("make_suggester", _("Make a suggester"), make(Role.SUGGESTER), _("They keep drafts and suggestions."), "draw",
             when=lambda row: row.role != Role.SUGGESTER),
        Deed("remove", _("Remove from the workspace"), remove,
             _("They leave the workspace and all its chats at once. What they said stays."), "person_remove", is_grave=True),
    )  # fmt: skip


@admin.register(Credential)
class CredentialAdmin(Read):
    list_display = ("provider", linked("workspace"), "default_model", "api_base", "key_last4", "updated_at")
    list_filter = ("provider",)
    search_fields = ("workspace__name", "default_model")
    found_by = ("workspace_id",)
    hidden = ("sealed_key",)
    joined = ("workspace",)
    related = (Related(_("Model calls"), "agents.llmcall", "workspace__id__exact", value="workspace_id"),)
    deeds = (
        Deed("forget_key", _("Delete the key"), services.forget_key,
             _("The sealed key is deleted. Agents that need it fail until an editor sets another."), "key_off",
             when=lambda row: bool(row.sealed_key), is_grave=True),
    )  # fmt: skip


GRANT = {"user": _("Person"), "permission": _("Right"), "content_object": pgettext_lazy("right on", "On")}


class GrantForm(GrantModelForm):
    """A person, a right by its readable name, an object."""

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if fields.get("user") and fields.get("content_object"):
            try:
                grants.check_grant(person=fields["user"], target=fields["content_object"])
            except AppError as refusal:
                raise forms.ValidationError(gettext(refusal.message)) from refusal
        return fields


@admin.display(description=_("right"), ordering="permission__name")
def right(grant: Any) -> str:
    """The verb, by its readable name: the models say it (`Meta.permissions`), the catalogue translates it."""
    return gettext(grant.permission.name)


class GrantAdmin(Read):
    """Giving and taking a right on one object: the one thing that is filled in here. Who gave it is in the audit trail."""

    list_display = (right, linked("user", _("person")), linked("content_object", _("on")))
    search_fields = ("user__name", "user__email", "permission__name")
    found_by = ("user_id", "content_object_id")
    joined = ("user", "content_object", "permission")
    autocomplete_fields = ("user", "content_object")
    related = (
        Related(_("Audit of the object"), "events.auditrecord", "q", value="content_object_id"),
        Related(_("Audit of the person"), "events.auditrecord", "q", value="user_id"),
    )
    form = GrantForm

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate(request.user, self.model)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate(request.user, self.model)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("user", "permission", "content_object")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "permission":
            kwargs["queryset"] = grants.grantable_verbs(self.model)
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        choice: Any = field
        choice.label = GRANT[db_field.name]
        if db_field.name == "permission":
            choice.label_from_instance = lambda permission: gettext(permission.name)
        return field

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        given = grants.give(
            self.model, operator=operator_of(request), person=obj.user, permission=obj.permission,
            target=obj.content_object,
        )  # fmt: skip
        obj.pk = given.pk

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        grants.take(obj, operator_of(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for grant in queryset:
            grants.take(grant, operator_of(request))

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Not in Django's own log: the audit trail has it."""

    log_addition = log_change

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Not in Django's own log: the audit trail has it."""


admin.site.register(WorkspaceGrant, GrantAdmin)
