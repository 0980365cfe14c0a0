"""The admin page of approvals: which calls waited for people, and what they decided."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import id_column, link_column
from admin_kit.model_admin import ReadOnlyAdmin
from approvals.models import Approval


@admin.register(Approval)
class ApprovalAdmin(ReadOnlyAdmin):
    list_display = (
        "asked_at",
        "tool",
        link_column("agent"),
        link_column("chat"),
        link_column("person"),
        "reason",
        "decision",
        link_column("decided_by"),
        "decided_at",
    )
    list_filter = ("decision", "reason", CreatedWithinFilter)
    list_select_related = ("agent", "chat", "person", "decided_by")
    search_fields = ("agent__name", "chat__title", "=tool")
    search_id_fields = ("run_id", "chat_id", "agent_id", "person_id", "decided_by_id")
    sortable_by = ()
    readonly_fields = (id_column("run_id", "runs.run", _("run")),)
