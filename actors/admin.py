"""People and agents, for operators."""

from django.contrib import admin

from actors import services as actors
from actors.models import Actor
from events.admin_pages import Read, each


@admin.register(Actor)
class ActorAdmin(Read):
    list_display = ("name", "kind", "handle", "email", "workspace", "is_active", "status", "created_at")
    list_filter = ("kind", "is_active", "status", "is_public", "is_staff")
    search_fields = ("name", "handle", "email", "id")
    hidden = ("password",)
    actions = (
        each(actors.deactivate, done="Deactivated", label="Deactivate people: signed out at once, everywhere"),
        each(actors.activate, done="Activated", label="Activate people again"),
        each(actors.suspend_agent, done="Suspended", label="Suspend agents: they start nothing new"),
        each(actors.resume_agent, done="Resumed", label="Let suspended agents work again"),
    )
