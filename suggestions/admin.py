"""The admin pages of suggestions and merges."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from actors.models import Actor
from admin_kit.actions import service_action
from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import RelatedLink, audit_link, link_column
from admin_kit.model_admin import ReadOnlyAdmin
from suggestions import services as suggestions
from suggestions.models import UNDER_WAY, Merge, Suggestion

SUGGESTION_COLOURS = {
    "pending": "info",
    "accepted": "success",
    "rejected": "warning",
    "withdrawn": "default",
    "unused": "warning",
}
MERGE_COLOURS = {"waiting": "info", "working": "primary", "done": "success", "failed": "danger", "stopped": "default"}


@admin.register(Suggestion)
class SuggestionAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        link_column("agent"),
        link_column("author"),
        "coloured_state",
        link_column("base", _("made on")),
        "summary_state",
        link_column("chat"),
        link_column("decided_by", _("decided by")),
    )
    list_filter = ("state", "summary_state", CreatedWithinFilter)
    list_select_related = ("agent", "author", "base", "chat", "decided_by")
    search_fields = ("agent__name", "author__name", "note")
    search_help_text = _("An agent, a person, a note, or the id of a suggestion, an agent, a person, a chat or a merge")
    search_id_fields = ("agent_id", "author_id", "chat_id", "merge_id", "message_id", "summary_run_id")
    first_fields = ("state", "agent", "author", "note", "summary", "summary_state", "summary_error")
    related_links = (audit_link(),)

    @display(description=_("state"), label=SUGGESTION_COLOURS)  # type: ignore[untyped-decorator]
    def coloured_state(self, suggestion: Suggestion) -> tuple[str, str]:
        return suggestion.state, suggestion.get_state_display()


@admin.register(Merge)
class MergeAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        link_column("agent"),
        link_column("by", _("requested by")),
        "coloured_state",
        "method",
        "error_code",
        link_column("run"),
        link_column("draft"),
        "ended_at",
    )
    list_filter = ("state", "method", CreatedWithinFilter)
    list_select_related = ("agent", "by", "run__agent", "draft__agent", "draft__chat")
    search_fields = ("agent__name", "by__name", "=error_code")
    search_help_text = _("An agent, a person, an error code, or the id of a merge, an agent, a person, a chat or a run")
    search_id_fields = ("agent_id", "by_id", "chat_id", "run_id", "draft_id")
    first_fields = ("state", "error_code", "error", "agent", "by", "chat", "draft", "run")
    related_links = (RelatedLink(_("Suggestions"), "suggestions.suggestion", "merge__id__exact"), audit_link())
    actions = ("stop_merge",)
    actions_detail = ("stop_merge",)

    @display(description=_("state"), label=MERGE_COLOURS)  # type: ignore[untyped-decorator]
    def coloured_state(self, merge: Merge) -> tuple[str, str]:
        return merge.state, merge.get_state_display()

    @service_action(
        _("Stop"),
        _("No draft is made of these suggestions; they wait for a decision again."),
        icon="stop_circle",
        is_dangerous=True,
        is_available=lambda merge: merge.state in UNDER_WAY,
    )
    def stop_merge(self, merge: Merge, operator: Actor) -> None:
        suggestions.stop_merge(operator, merge.pk, as_operator=True)
