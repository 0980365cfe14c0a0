"""Specs, drafts, runs and the ledger, for operators."""

from django.contrib import admin

from agents.models import AgentGrant, AgentSpec, AgentToolConfig, Draft, LLMCall, Run, Step
from agents.services import drafts
from events.admin_pages import Read, each, register
from workspaces.admin import GrantAdmin


@admin.register(Draft)
class DraftAdmin(Read):
    list_display = ("agent", "chat", "status", "holder", "held_until", "revision", "apply_count", "updated_at")
    search_fields = ("agent__name", "chat__id", "holder__name")
    list_filter = ("ended_how",)
    actions = (each(drafts.free_draft, done="Freed", label="Free the editing lock; the text stays"),)


register(
    AgentSpec, "agent", "number", "origin", "author", "message", "created_at", search=["agent__name", "agent__id"],
    filters=["origin"], ordering=["-created_at"],
)  # fmt: skip
register(AgentToolConfig, "spec", "tool", "is_enabled", search=["tool"])
register(
    Run, "agent", "chat", "state", "origin", "attempt", "crashes", "error_code", "created_at", "ended_at",
    search=["id", "agent__name", "chat__id"], filters=["state", "origin", "error_code"], ordering=["-created_at"],
)  # fmt: skip
register(Step, "run", "number", "index", "kind", "state", "name", "started_at", "ended_at", search=["run__id"])
register(
    LLMCall, "created_at", "agent", "workspace", "provider", "model", "input_tokens", "output_tokens", "cost_micro",
    "paid_by", "tries", "error_code", search=["agent__name", "workspace__name", "model", "run__id"],
    filters=["provider", "paid_by", "error_code"], ordering=["-created_at"],
)  # fmt: skip
admin.site.register(AgentGrant, GrantAdmin)
