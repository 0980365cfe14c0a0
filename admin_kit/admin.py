"""The admin page of the audit trail."""

import re
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from admin_kit.audit_objects import link_audited_object
from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import id_column, link_column
from admin_kit.model_admin import ReadOnlyAdmin
from events.models import AuditRecord

ACTION = re.compile(r"[a-z_]+\.[a-z_]+")


class DoneOrOpenedFilter(admin.SimpleListFilter):
    """Separates actions that changed something from rows that operators only opened, which are more numerous."""

    title = _("done or looked at")
    parameter_name = "done"
    OPENED = ("admin.opened", "admin.exported", "chat.read_by_operator")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [("yes", _("Done")), ("no", _("Looked at by operators"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditRecord]) -> QuerySet[AuditRecord]:
        if self.value() == "yes":
            return queryset.exclude(action__in=self.OPENED)
        return queryset.filter(action__in=self.OPENED) if self.value() == "no" else queryset


@admin.register(AuditRecord)
class AuditRecordAdmin(ReadOnlyAdmin):
    list_display = (
        "at",
        "action",
        link_column("actor"),
        link_audited_object,
        id_column("workspace_id", "workspaces.workspace", _("workspace")),
        link_column("on_behalf_of"),
    )
    list_filter = (DoneOrOpenedFilter, CreatedWithinFilter)
    list_select_related = ("actor", "on_behalf_of")
    search_fields = ("actor__name",)
    search_help_text = _("An action such as run.stopped, a name, or the id of a person, an object or a workspace")
    search_id_fields = ("object_id", "workspace_id", "actor_id")
    sortable_by = ()
    readonly_fields = (link_audited_object, id_column("workspace_id", "workspaces.workspace", _("the workspace")))

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Find the records of an action by its index, as the base class does for an id."""
        if ACTION.fullmatch(search_term.strip()):
            return queryset.filter(action=search_term.strip()), False
        return super().get_search_results(request, queryset, search_term)

    def record_opening(self, request: HttpRequest, row: Any) -> None:
        """Record nothing, because reading the audit trail would extend it."""
