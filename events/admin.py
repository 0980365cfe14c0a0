"""The audit trail, for operators."""

import re
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from events.admin_lists import When, linked, referred
from events.admin_objects import object_of
from events.admin_pages import Read
from events.models import AuditRecord

DEED = re.compile(r"[a-z]+\.[a-z_]+")


class DoneOrSeen(admin.SimpleListFilter):
    """Deeds apart from looks: operators look more often than they act."""

    title = _("done or looked at")
    parameter_name = "done"
    LOOKS = ("admin.opened", "chat.read_by_operator")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [("yes", _("Done")), ("no", _("Looked at by operators"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditRecord]) -> QuerySet[AuditRecord]:
        if self.value() == "yes":
            return queryset.exclude(deed__in=self.LOOKS)
        return queryset.filter(deed__in=self.LOOKS) if self.value() == "no" else queryset


@admin.register(AuditRecord)
class AuditRecordAdmin(Read):
    list_display = (
        "at",
        "deed",
        linked("actor"),
        object_of,
        referred("workspace_id", "workspaces.workspace"),
        linked("on_behalf_of"),
    )
    list_filter = (DoneOrSeen, When)
    search_fields = ("actor__name",)
    search_help_text = _("A deed such as run.stopped, a name, or the id of a person, an object or a workspace")
    found_by = ("object_id", "workspace_id", "actor_id")
    joined = ("actor", "on_behalf_of")
    also = (object_of, referred("workspace_id", "workspaces.workspace", _("the workspace")))
    sortable_by = ()

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """A deed is looked up by index, as an id is."""
        if DEED.fullmatch(search_term.strip()):
            return queryset.filter(deed=search_term.strip()), False
        return super().get_search_results(request, queryset, search_term)

    def log_opening(self, request: HttpRequest, row: Any) -> None:
        """Looking at the trail leaves no trail: it would never end."""
