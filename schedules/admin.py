"""The admin pages of schedules and of the times at which they were due."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import link_column
from admin_kit.model_admin import ReadOnlyAdmin
from schedules.models import Schedule, ScheduledTime


@admin.register(Schedule)
class ScheduleAdmin(ReadOnlyAdmin):
    list_display = (
        "name",
        link_column("agent"),
        link_column("chat"),
        link_column("owner"),
        "expression",
        "time_zone",
        "is_enabled",
        "paused_reason",
        "next_at",
    )
    list_filter = ("is_enabled", "paused_reason")
    list_select_related = ("agent", "chat", "owner")
    search_fields = ("name", "agent__name", "chat__title")
    search_help_text = _("A name, an agent, a chat, or the id of a schedule, an agent, a chat or a person")
    search_id_fields = ("agent_id", "chat_id", "owner_id")
    sortable_by = ()


@admin.register(ScheduledTime)
class ScheduledTimeAdmin(ReadOnlyAdmin):
    list_display = ("due_at", link_column("schedule"), "state", "missed", "created_at")
    list_filter = ("state", CreatedWithinFilter)
    list_select_related = ("schedule",)
    search_fields = ("schedule__name",)
    search_help_text = _("A schedule, or the id of a message")
    search_id_fields = ("schedule_id", "message_id")
    sortable_by = ()
