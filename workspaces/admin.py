"""Workspaces, for operators. A grant adds one verb on one object to one person."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from events import audit
from events.admin_pages import Admin, operator_of, register
from events.publish import rights_changed
from workspaces.models import Credential, Membership, Workspace, WorkspaceGrant

register(Workspace, "name", "handle", "created_at", search=["name", "handle", "id"])
register(
    Membership, "actor", "workspace", "role", "joined_at", search=["actor__name", "workspace__name"], filters=["role"]
)
register(
    Credential, "workspace", "provider", "api_base", "default_model", "key_last4", "updated_at",
    search=["workspace__name"], filters=["provider"], hidden=("sealed_key",),
)  # fmt: skip


class GrantAdmin(Admin):
    """Giving and taking a verb on one object: the one thing here that is typed in by hand, and it is logged."""

    list_display = ("user", "permission", "content_object")
    search_fields = ("user__name", "permission__codename")
    autocomplete_fields = ("user", "content_object")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "permission":
            target = self.model._meta.get_field("content_object").related_model._meta
            known = db_field.related_model.objects.filter(
                content_type__app_label=target.app_label, content_type__model=target.model_name
            )
            kwargs["queryset"] = known.exclude(codename__regex=r"^(add|change|delete|view)_")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        self._log(request, obj, "grant.given")

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self._log(request, obj, "grant.taken")
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for obj in queryset:
            self.delete_model(request, obj)

    def _log(self, request: HttpRequest, obj: Any, deed: str) -> None:
        audit.record(operator_of(request), deed, object_id=obj.content_object_id, person=str(obj.user_id),
                     verb=obj.permission.codename)  # fmt: skip
        rights_changed(obj.user_id)


admin.site.register(WorkspaceGrant, GrantAdmin)
