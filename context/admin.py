"""The admin pages of summaries, their corrections, and the strategies of agents."""

from django.contrib import admin

from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import link_column
from admin_kit.model_admin import ReadOnlyAdmin
from context.models import AgentContext, HistorySummary, SummaryCorrection


@admin.register(HistorySummary)
class HistorySummaryAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("chat"), "state", "from_seq", "through_seq", "tokens", "model")
    list_filter = ("state", CreatedWithinFilter)
    list_select_related = ("chat",)
    search_fields = ("chat__title",)
    search_id_fields = ("chat_id", "job_id")
    sortable_by = ()


@admin.register(SummaryCorrection)
class SummaryCorrectionAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("chat"), link_column("person"), "new_text", "ended_at")
    list_filter = (CreatedWithinFilter,)
    list_select_related = ("chat", "person")
    search_fields = ("chat__title", "new_text")
    search_id_fields = ("chat_id", "person_id")
    sortable_by = ()


@admin.register(AgentContext)
class AgentContextAdmin(ReadOnlyAdmin):
    list_display = (link_column("chat"), link_column("agent"), "strategy", "changed_at")
    list_filter = ("strategy",)
    list_select_related = ("chat", "agent")
    search_fields = ("chat__title", "agent__name")
    search_id_fields = ("chat_id", "agent_id")
    sortable_by = ()
