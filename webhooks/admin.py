"""The admin pages of webhooks, their deliveries, and the wakes of agents."""

from django.contrib import admin

from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import link_column
from admin_kit.model_admin import ReadOnlyAdmin
from webhooks.models import AgentWake, Delivery, Webhook


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("agent"), "url", "is_enabled", "failing_since")
    list_filter = ("is_enabled", CreatedWithinFilter)
    list_select_related = ("agent",)
    search_fields = ("url", "agent__name")
    exclude = ("encrypted_secret",)
    audit_prefixes = ("webhook",)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("webhook"), "event", "state", "tries", "status", "error")
    list_filter = ("state", CreatedWithinFilter)
    list_select_related = ("webhook",)
    search_fields = ("webhook__url", "error")


@admin.register(AgentWake)
class AgentWakeAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("agent"), link_column("chat"), "why")
    list_filter = ("why", CreatedWithinFilter)
    list_select_related = ("agent", "chat")
    search_fields = ("agent__name",)
