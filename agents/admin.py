"""Specs, drafts, runs and the ledger, for operators."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from agents.models import (
    AgentGrant,
    AgentSpec,
    AgentToolConfig,
    Draft,
    DraftWish,
    EarlierText,
    LLMCall,
    Run,
    RunState,
    Step,
)
from agents.models.runs import ACTIVE
from agents.services import drafts, runs
from events.admin_deeds import Deed
from events.admin_lists import Related, When, among, linked, named, referred
from events.admin_pages import Read, register
from workspaces.admin import GrantAdmin, about
from workspaces.models import Provider

PAYERS = {"workspace": _("workspace"), "system": _("system"), "demo": _("demo")}
ORIGINS = {"wake": _("wake"), "retry": _("retry"), "compare": _("comparison"), "summary": _("summary"),
           "merge": _("merge")}  # fmt: skip
PROVIDERS = {value: _(label) for value, label in Provider.choices}
ENDINGS = {"saved": _("saved"), "discarded": _("discarded"), "suggested": _("suggested")}
WHYS = {"takeover": _("takeover"), "merge": _("merge"), "revise": _("revised by the agent"), "rebase": _("rebase")}
DRAFTS = {"drafting": _("drafting"), "applied": _("applied"), "ended": _("ended")}
STATES = {
    "queued": "info",
    "running": "primary",
    "waiting_approval": "warning",
    "waiting_child": "info",
    "completed": "success",
    "failed": "danger",
    "stopped": "default",
}


@admin.display(description=_("standing"))
def standing(draft: Draft) -> str:
    """Whether it is being typed, answers in its chat, or is over."""
    return str(DRAFTS[draft.status])


@admin.register(Draft)
class DraftAdmin(Read):
    list_display = ("updated_at", linked("agent"), linked("chat"), standing, linked("holder"), "held_until", "revision",
                    "apply_count")  # fmt: skip
    list_filter = (among("ended_how", ENDINGS), When)
    search_fields = ("agent__name", "chat__title", "holder__name")
    found_by = ("agent_id", "chat_id", "holder_id")
    joined = ("agent", "chat", "holder")
    also = (standing,)
    date_hierarchy = "created_at"
    related = (
        about(_("Earlier texts"), "agents.earliertext", "draft"),
        about(_("Wishes"), "agents.draftwish", "draft"),
        Related(_("Audit"), "events.auditrecord", "q"),
    )
    deeds = (
        Deed("free_draft", _("Free the lock"), drafts.free_draft,
             _("Whoever holds it can write no more; the text stays, and others can take it."), "lock_open",
             when=lambda draft: draft.ended_at is None and draft.holder_id is not None),
    )  # fmt: skip


@admin.display(description=_("cost"), ordering="cost_micro")
def cost(row: Any) -> str:
    """US dollars; a dash where the price is not known."""
    return "–" if row.cost_micro is None else f"${row.cost_micro / 1_000_000:.4f}"


@admin.register(Run)
class RunAdmin(Read):
    list_display = ("created_at", linked("agent"), linked("chat"), linked("on_behalf_of", _("for")), "stands",
                    named("origin", ORIGINS), "attempt", "error_code", cost, "ended_at")  # fmt: skip
    list_filter = ("state", among("origin", ORIGINS), When)
    search_fields = ("agent__name", "chat__title", "=error_code")
    search_help_text = _("An agent, a chat, an error code, or the id of a run, an agent, a chat, a person or a message")
    found_by = ("agent_id", "chat_id", "on_behalf_of_id", "trigger_id", "root_id")
    joined = ("agent", "chat", "on_behalf_of")
    leading = ("state", "error_code", "error", "agent", "chat", "on_behalf_of", "workspace", "created_at", "ended_at")
    also = (referred("trigger_id", "chats.message", _("the message that woke it")),)
    sortable_by = ()
    related = (
        about(_("Steps"), "agents.step", "run"),
        about(_("Model calls"), "agents.llmcall", "run"),
        about(_("Children"), "agents.run", "parent"),
        Related(_("Messages"), "chats.message", "run_id"),
        Related(_("Audit"), "events.auditrecord", "q"),
    )
    deeds = (
        Deed("stop_run", _("Stop"), runs.stop_any_run, _("It and everything it started ends; what was said so far stays."),
             "stop_circle", when=lambda run: run.state in ACTIVE, is_grave=True),
        Deed("retry_run", _("Repeat"), runs.retry_any_run, _("The same message is answered anew, for the same person."),
             "replay", when=lambda run: run.chat_id is not None and run.state in (RunState.FAILED, RunState.STOPPED)),
    )  # fmt: skip

    @display(description=_("state"), label=STATES)  # type: ignore[untyped-decorator]
    def stands(self, run: Run) -> tuple[str, str]:
        """The state, in its colour."""
        return run.state, run.get_state_display()


register(
    AgentSpec, "__str__", linked("agent"), "origin", linked("author"), "message", "model", "created_at",
    search_fields=("agent__name", "message"), list_filter=("origin", When), found_by=("agent_id", "author_id"),
    joined=("agent", "author"), date_hierarchy="created_at",
    related=(about(_("Tools"), "agents.agenttoolconfig", "spec"), about(_("Runs"), "agents.run", "spec")),
)  # fmt: skip
register(
    EarlierText, "created_at", linked("draft"), "revision", linked("author"), named("why", WHYS),
    search_fields=("draft__agent__name", "draft__chat__title", "author__name"), found_by=("draft_id", "author_id"),
    list_filter=(among("why", WHYS), When), joined=("draft__agent", "draft__chat", "author"),
)  # fmt: skip
register(
    DraftWish, "created_at", linked("draft"), linked("person"), "is_waiting", "asked_at",
    search_fields=("draft__agent__name", "draft__chat__title", "person__name"), found_by=("draft_id", "person_id"),
    list_filter=("is_waiting", When), joined=("draft__agent", "draft__chat", "person"),
)  # fmt: skip
register(
    AgentToolConfig, "tool", linked("spec"), linked("spec__agent", _("agent")), "is_enabled",
    search_fields=("=tool", "spec__agent__name"), list_filter=("is_enabled",), found_by=("spec_id",),
    joined=("spec__agent",),
)  # fmt: skip
register(
    Step, "started_at", linked("run"), "number", "index", "kind", "state", "name", "ended_at",
    search_fields=("=name",), search_help_text = _("A tool's name, or the id of a step or a run"), found_by=("run_id",),
    list_filter=("kind", "state", When), joined=("run__agent",), sortable_by=(),
)  # fmt: skip
register(
    LLMCall, "created_at", linked("agent"), linked("workspace"), linked("run"), "provider", "model", "input_tokens",
    "output_tokens", cost, named("paid_by", PAYERS), "tries", "error_code",
    search_fields=("agent__name", "workspace__name", "=model"),
    list_filter=(among("provider", PROVIDERS), among("paid_by", PAYERS), When),
    found_by=("run_id", "agent_id", "workspace_id"), joined=("agent", "workspace", "run__agent"), sortable_by=(),
)  # fmt: skip
admin.site.register(AgentGrant, GrantAdmin)
