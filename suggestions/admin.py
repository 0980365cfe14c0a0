"""Suggestions and merges, for operators."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from events.admin_deeds import Deed
from events.admin_lists import Related, When, among, linked, named
from events.admin_pages import Read
from suggestions import services
from suggestions.models import UNDER_WAY, Merge, Suggestion
from workspaces.admin import about

METHODS = {"copied": _("copied"), "agent": _("by the merge agent"), "external": _("by a service"),
           "text": _("line by line")}  # fmt: skip
SUGGESTIONS = {"pending": "info", "accepted": "success", "rejected": "warning", "withdrawn": "default"}
MERGES = {"waiting": "info", "working": "primary", "done": "success", "failed": "danger", "stopped": "default"}


@admin.register(Suggestion)
class SuggestionAdmin(Read):
    list_display = ("created_at", linked("agent"), linked("author"), "stands", linked("base", _("made on")),
                    "summary_state", linked("chat"), linked("decided_by", _("decided by")))  # fmt: skip
    list_filter = ("state", "summary_state", When)
    search_fields = ("agent__name", "author__name", "note")
    search_help_text = _("An agent, a person, a note, or the id of a suggestion, an agent, a person, a chat or a merge")
    found_by = ("agent_id", "author_id", "chat_id", "merge_id", "line_id", "summary_run_id")
    joined = ("agent", "author", "base", "chat", "decided_by")
    leading = ("state", "agent", "author", "note", "summary", "summary_state", "summary_error")
    related = (Related(_("Audit"), "events.auditrecord", "q"),)

    @display(description=_("state"), label=SUGGESTIONS)  # type: ignore[untyped-decorator]
    def stands(self, suggestion: Suggestion) -> tuple[str, Any]:
        """The state, in its colour."""
        return suggestion.state, suggestion.get_state_display()


@admin.register(Merge)
class MergeAdmin(Read):
    list_display = ("created_at", linked("agent"), linked("by", _("asked by")), "stands", named("method", METHODS),
                    "error_code", linked("run"), linked("draft"), "ended_at")  # fmt: skip
    list_filter = ("state", among("method", METHODS), When)
    search_fields = ("agent__name", "by__name", "=error_code")
    search_help_text = _("An agent, a person, an error code, or the id of a merge, an agent, a person, a chat or a run")
    found_by = ("agent_id", "by_id", "chat_id", "run_id", "draft_id")
    joined = ("agent", "by", "run__agent", "draft__agent", "draft__chat")
    leading = ("state", "error_code", "error", "agent", "by", "chat", "draft", "run")
    related = (
        about(_("Suggestions"), "suggestions.suggestion", "merge"),
        Related(_("Audit"), "events.auditrecord", "q"),
    )
    deeds = (
        Deed("stop_merge", _("Stop"), services.stop_any_merge,
             _("No draft is made of these suggestions; they wait for a decision again."), "stop_circle",
             when=lambda merge: merge.state in UNDER_WAY, is_grave=True),
    )  # fmt: skip

    @display(description=_("state"), label=MERGES)  # type: ignore[untyped-decorator]
    def stands(self, merge: Merge) -> tuple[str, Any]:
        """The state, in its colour."""
        return merge.state, merge.get_state_display()
