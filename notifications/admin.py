"""The admin page of notifications."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import id_column, link_column
from admin_kit.model_admin import ReadOnlyAdmin
from notifications.models import Notification


@admin.register(Notification)
class NotificationAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        link_column("person"),
        "type",
        "actor_name",
        "agent_name",
        link_column("workspace"),
        "read_at",
    )
    list_filter = ("type", CreatedWithinFilter)
    list_select_related = ("person", "workspace")
    search_fields = ("person__name", "person__email", "actor_name", "agent_name")
    search_id_fields = ("person_id", "chat_id", "agent_id", "message_id", "suggestion_id", "merge_id", "tool_server_id")
    sortable_by = ()
    readonly_fields = (
        id_column("chat_id", "chats.chat", _("chat")),
        id_column("message_id", "chats.message", _("message")),
        id_column("suggestion_id", "suggestions.suggestion", _("suggestion")),
        id_column("merge_id", "suggestions.merge", _("merge")),
        id_column("tool_server_id", "tools.toolserver", _("tool server")),
    )
