"""The admin pages of workspaces, members, models and keys, and the admin class for grants, which other apps use as well."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextInputWidget

from actors.models import Actor
from admin_kit.actions import service_action
from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import RelatedLink, audit_link, link_column
from admin_kit.model_admin import ReadOnlyAdmin, action_menu, get_operator
from common.clock import now
from common.errors import AppError
from common.operators import may_operate
from events.rows import Role
from workspaces import grants
from workspaces import services as workspaces
from workspaces.models import Credential, DeletedMembership, Membership, PastMembership, Workspace, WorkspaceGrant

if TYPE_CHECKING:
    GrantModelForm = forms.ModelForm[Any]
else:
    GrantModelForm = forms.ModelForm


class DeletionForm(BaseDialogForm):  # type: ignore[misc]  # unfold has no types
    """The name of the workspace, as a confirmation."""

    workspace_name = forms.CharField(widget=UnfoldAdminTextInputWidget, label=_("Name of the workspace"), max_length=80)


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnlyAdmin):
    list_display = ("name", "handle", "created_at", "deleted_at")
    list_filter = (("deleted_at", admin.EmptyFieldListFilter),)
    search_fields = ("name", "handle")
    date_hierarchy = "created_at"
    related_links = (
        RelatedLink(_("Members"), "workspaces.membership", "workspace__id__exact"),
        RelatedLink(_("Model and key"), "workspaces.credential", "workspace__id__exact"),
        RelatedLink(_("Tools"), "tools.workspacetool", "workspace__id__exact"),
        RelatedLink(_("Agents"), "actors.actor", "workspace__id__exact"),
        RelatedLink(_("Chats"), "chats.chat", "workspace__id__exact"),
        RelatedLink(_("Runs"), "runs.run", "workspace__id__exact"),
        RelatedLink(_("Model calls"), "usage.llmcall", "workspace__id__exact"),
        RelatedLink(_("Budgets"), "usage.budget", "workspace__id__exact"),
        RelatedLink(_("Set a budget…"), "usage.budget", "workspace", is_add=True),
        RelatedLink(_("Granted access"), "workspaces.workspacegrant", "content_object__id__exact"),
        RelatedLink(_("Grant access…"), "workspaces.workspacegrant", "content_object", is_add=True),
        RelatedLink(_("Audit"), "events.auditrecord", "workspace_id"),
    )
    audit_prefixes = ("workspace",)
    actions_detail = ("delete_workspace", "restore_workspace")

    @service_action(
        _("Delete the workspace…"),
        _(
            "Its members lose it at once, and its runs stop. Operators can restore it until its content is deleted, after the days"
            " of WORKSPACE_PURGE_DAYS. Type its name to confirm."
        ),
        icon="delete_forever",
        is_dangerous=True,
        is_available=lambda workspace: workspace.deleted_at is None,
        form_class=DeletionForm,
    )
    def delete_workspace(self, workspace: Workspace, operator: Actor, workspace_name: str) -> None:
        workspaces.delete_workspace(operator, workspace.pk, name=workspace_name, as_operator=True)

    @service_action(
        _("Restore the workspace"),
        _("Its members, chats, agents, files and keys are as before the deletion. Its runs stay stopped."),
        icon="restore_from_trash",
        is_available=lambda workspace: workspace.purge_at is not None and workspace.purge_at > now(),
    )
    def restore_workspace(self, workspace: Workspace, operator: Actor) -> None:
        workspaces.restore_workspace(operator, workspace.pk, as_operator=True)


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display = ("joined_at", link_column("actor", _("person")), link_column("workspace"), "role")
    list_filter = ("role", CreatedWithinFilter)
    list_select_related = ("actor", "workspace")
    search_fields = ("actor__name", "actor__email", "workspace__name")
    search_id_fields = ("actor_id", "workspace_id")
    related_links = (
        RelatedLink(_("Grants of this person here"), "workspaces.workspacegrant", "user__id__exact", value="actor_id"),
        audit_link(_("Audit of this person"), value="actor_id"),
    )
    actions = ("make_editor", "make_suggester", "remove")
    actions_detail = action_menu("make_editor", "make_suggester", "remove")

    @service_action(
        _("Make an editor"),
        _("They can do everything in this workspace."),
        icon="edit",
        is_available=lambda membership: membership.role != Role.EDITOR,
    )
    def make_editor(self, membership: Membership, operator: Actor) -> None:
        workspaces.change_role(
            operator, membership.workspace_id, membership.actor_id, role=Role.EDITOR, as_operator=True
        )

    @service_action(
        _("Make a suggester"),
        _("They keep drafts and suggestions."),
        icon="draw",
        asks_reason=True,
        is_available=lambda membership: membership.role != Role.SUGGESTER,
    )
    def make_suggester(self, membership: Membership, operator: Actor) -> None:
        workspaces.change_role(
            operator, membership.workspace_id, membership.actor_id, role=Role.SUGGESTER, as_operator=True
        )

    @service_action(
        _("Remove from the workspace"),
        _("They leave the workspace and all its chats at once. What they said stays."),
        icon="person_remove",
        is_dangerous=True,
    )
    def remove(self, membership: Membership, operator: Actor) -> None:
        workspaces.remove_member(operator, membership.workspace_id, membership.actor_id, as_operator=True)


@admin.register(DeletedMembership)
class DeletedMembershipAdmin(ReadOnlyAdmin):
    list_display = ("joined_at", link_column("actor", _("person")), link_column("workspace"), "role")
    list_filter = ("role", CreatedWithinFilter)
    list_select_related = ("actor", "workspace")
    search_fields = ("actor__name", "actor__email", "workspace__name")
    search_id_fields = ("actor_id", "workspace_id")


@admin.register(PastMembership)
class PastMembershipAdmin(ReadOnlyAdmin):
    list_display = ("ended_at", link_column("actor", _("person")), link_column("workspace"), "role", "removed_at")
    list_filter = ("role", CreatedWithinFilter)
    list_select_related = ("actor", "workspace")
    search_fields = ("actor__name", "actor__email", "workspace__name")
    search_id_fields = ("actor_id", "workspace_id")
    ordering = ("-ended_at",)


@admin.register(Credential)
class CredentialAdmin(ReadOnlyAdmin):
    list_display = ("provider", link_column("workspace"), "default_model", "api_base", "key_last4", "updated_at")
    list_filter = ("provider",)
    list_select_related = ("workspace",)
    search_fields = ("workspace__name", "default_model")
    search_id_fields = ("workspace_id",)
    exclude = ("encrypted_key",)
    related_links = (RelatedLink(_("Model calls"), "usage.llmcall", "workspace__id__exact", value="workspace_id"),)
    audit_prefixes = ("model",)
    actions = ("delete_key",)
    actions_detail = ("delete_key",)

    @service_action(
        _("Delete the key"),
        _("The stored key is deleted. Agents that need it fail until an editor sets another."),
        icon="key_off",
        is_dangerous=True,
        is_available=lambda credential: bool(credential.encrypted_key),
    )
    def delete_key(self, credential: Credential, operator: Actor) -> None:
        workspaces.delete_key(operator, credential.workspace_id)


GRANT_LABELS = {"user": _("Person"), "permission": _("Right"), "content_object": pgettext_lazy("right on", "On")}


class GrantForm(GrantModelForm):
    """The form for a new grant."""

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if fields.get("user") and fields.get("content_object"):
            try:
                grants.check_grant(person=fields["user"], target=fields["content_object"])
            except AppError as refusal:
                raise forms.ValidationError(refusal.message) from refusal
        return fields


class GrantAdmin(ReadOnlyAdmin):
    """The admin of grants, each of one permission on one object. Operators create and delete them, which is audited."""

    list_display = ("permission_name", link_column("user", _("person")), link_column("content_object", _("on")))
    list_select_related = ("user", "content_object", "permission")
    search_fields = ("user__name", "user__email", "permission__name")
    search_id_fields = ("user_id", "content_object_id")
    autocomplete_fields = ("user", "content_object")
    related_links = (
        audit_link(_("Audit of the object"), value="content_object_id"),
        audit_link(_("Audit of the person"), value="user_id"),
    )
    form = GrantForm

    @admin.display(description=_("right"), ordering="permission__name")
    def permission_name(self, grant: Any) -> str:
        return gettext(grant.permission.name)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate(request.user, self.model)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate(request.user, self.model)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("user", "permission", "content_object")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "permission":
            kwargs["queryset"] = grants.list_grantable_permissions(self.model)
        field: Any = super().formfield_for_foreignkey(db_field, request, **kwargs)
        field.label = GRANT_LABELS[db_field.name]
        if db_field.name == "permission":
            field.label_from_instance = lambda permission: gettext(permission.name)
        return field

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        grant = grants.add_grant(
            self.model,
            operator=get_operator(request),
            person=obj.user,
            permission=obj.permission,
            target=obj.content_object,
        )
        obj.pk = grant.pk  # the service has stored the row, and Django redirects to it by `obj`

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        grants.revoke_grant(obj, get_operator(request))

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for grant in queryset:
            grants.revoke_grant(grant, get_operator(request))

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Write nothing to Django's own log, because the action is in the audit trail."""

    log_addition = log_change

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Write nothing to Django's own log, because the action is in the audit trail."""


admin.site.register(WorkspaceGrant, GrantAdmin)
