"""The admin pages of runs and their steps."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from actors.models import Actor
from admin_kit.actions import service_action
from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import RelatedLink, audit_link, id_column, link_column
from admin_kit.model_admin import ReadOnlyAdmin, action_menu
from runs.kinds import get_kind
from runs.models import NOT_ENDED, Run, RunState, Step
from runs.services import runs
from usage.admin import cost

STATE_COLOURS = {
    "queued": "info",
    "running": "primary",
    "waiting_approval": "warning",
    "waiting_child": "info",
    "waiting_board": "info",
    "completed": "success",
    "failed": "danger",
    "stopped": "default",
}


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        link_column("agent"),
        link_column("chat"),
        link_column("on_behalf_of", _("for")),
        "coloured_state",
        "kind",
        "origin",
        "attempt",
        "error_code",
        cost,
        "ended_at",
    )
    list_filter = ("state", "kind", "origin", CreatedWithinFilter)
    list_select_related = ("agent", "chat", "on_behalf_of")
    search_fields = ("agent__name", "chat__title", "=error_code")
    search_help_text = _("An agent, a chat, an error code, or the id of a run, an agent, a chat, a person or a message")
    search_id_fields = ("agent_id", "chat_id", "on_behalf_of_id", "trigger_id", "root_id")
    sortable_by = ()
    first_fields = (
        "state",
        "error_code",
        "error",
        "agent",
        "chat",
        "on_behalf_of",
        "workspace",
        "created_at",
        "ended_at",
    )
    readonly_fields = (id_column("trigger_id", "chats.message", _("the message that woke it")),)
    related_links = (
        RelatedLink(_("Steps"), "runs.step", "run__id__exact"),
        RelatedLink(_("Model calls"), "usage.llmcall", "run_id"),
        RelatedLink(_("Children"), "runs.run", "parent__id__exact"),
        RelatedLink(_("Messages"), "chats.message", "run_id"),
        audit_link(),
    )
    audit_prefixes = ("run",)
    actions = ("stop_run", "retry_run")
    actions_detail = action_menu("stop_run", "retry_run")

    @display(description=_("state"), label=STATE_COLOURS)  # type: ignore[untyped-decorator]
    def coloured_state(self, run: Run) -> tuple[str, str]:
        return run.state, run.get_state_display()

    @service_action(
        _("Stop"),
        _("It and everything it started ends; what was said so far stays."),
        icon="stop_circle",
        is_dangerous=True,
        is_available=lambda run: run.state in NOT_ENDED,
    )
    def stop_run(self, run: Run, operator: Actor) -> None:
        runs.stop_run(operator, run.pk, as_operator=True)

    @service_action(
        _("Retry"),
        _("The same message is answered anew, for the same person."),
        icon="replay",
        is_available=lambda run: (
            get_kind(run).retry_refusal is None and run.state in (RunState.FAILED, RunState.STOPPED)
        ),
    )
    def retry_run(self, run: Run, operator: Actor) -> None:
        runs.retry_run(operator, run.pk, as_operator=True)


@admin.register(Step)
class StepAdmin(ReadOnlyAdmin):
    list_display = ("started_at", link_column("run"), "number", "index", "kind", "state", "name", "effect", "ended_at")
    list_filter = ("kind", "state", CreatedWithinFilter)
    list_select_related = ("run__agent",)
    search_fields = ("=name",)
    search_help_text = _("A tool's name, or the id of a step or a run")
    search_id_fields = ("run_id",)
    sortable_by = ()
