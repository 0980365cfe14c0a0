"""The admin pages of public agents and of the reports about them."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils.formats import localize
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextareaWidget

from actors.models import Actor
from admin_kit.actions import service_action
from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import RelatedLink, audit_link, link_column
from admin_kit.model_admin import ReadOnlyAdmin
from events.rows import ReportState
from publishing import services as publishing
from publishing.models import AgentReport, AgentUse, Listing, PendingUpdate
from publishing.selectors import count_affected, list_affected_agents, list_affected_workspaces

MAX_NAMES = 20
"""Names of affected workspaces and agents that are shown."""
LISTING_COLOURS = {"public": "success", "taken_down": "danger"}
REPORT_COLOURS = {"open": "warning", "closed": "default"}


def is_public(listing: Listing) -> bool:
    return listing.agent.taken_down_at is None


def describe_affected(agent: Actor) -> str:
    """Return whom a takedown of the agent affects, with names, for operators."""
    affected = count_affected(agent)
    workspaces = [f"{one.name} ({one.chat_count})" for one in list_affected_workspaces(agent)[:MAX_NAMES]]
    agents = [f"{one.name} ({one.workspace or '–'})" for one in list_affected_agents(agent)[:MAX_NAMES]]
    parts = [
        _join(ngettext("%d workspace", "%d workspaces", affected["workspaces"]) % affected["workspaces"], workspaces),
        ngettext("%d chat", "%d chats", affected["chats"]) % affected["chats"],
        _join(ngettext("a tool of %d agent", "a tool of %d agents", affected["agents"]) % affected["agents"], agents),
        ngettext("%d run under way", "%d runs under way", affected["runs"]) % affected["runs"],
    ]
    return "; ".join(parts)


def _join(text: str, names: list[str]) -> str:
    return f"{text}: {', '.join(names)}" if names else text


def _format_time(time: datetime | None) -> str:
    """Return a computed time as Django shows the columns of a row."""
    return localize(localtime(time)) if time is not None else "–"


class TakedownForm(BaseDialogForm):  # type: ignore[misc]  # unfold has no types
    """Shows whom a takedown affects, and asks for its reason. The service gets no field whose name begins with `_`."""

    _affected = forms.CharField(
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}), label=_("It affects"), disabled=True, required=False
    )
    reason = forms.CharField(
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        label=_("What its users and its publisher read"),
        max_length=600,
    )

    def __init__(self, request: Any, object_id: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        listing = Listing.objects.select_related("agent").filter(pk=object_id).first()
        if listing is not None:
            self.fields["_affected"].initial = describe_affected(listing.agent)


@admin.register(Listing)
class ListingAdmin(ReadOnlyAdmin):
    list_display = ("name", "coloured_state", "publisher", "category", "published_at", "open_reports", "taken_down_at")
    list_filter = ("category", ("agent__taken_down_at", admin.EmptyFieldListFilter), CreatedWithinFilter)
    list_select_related = ("agent__published_by_workspace", "published_by", "taken_down_by")
    search_fields = ("agent__name", "agent__handle", "agent__published_by_workspace__name")
    search_id_fields = ("agent_id", "agent__published_from_agent_id", "agent__published_by_workspace_id")
    first_fields = ("agent", "publisher", "affected", "published_at", "taken_down_at", "takedown_reason", "category")
    readonly_fields = ("publisher", "affected", "published_at", "taken_down_at")
    related_links = (
        RelatedLink(_("Reports"), "publishing.agentreport", "agent__id__exact", value="agent_id"),
        RelatedLink(_("Versions"), "agents.agentspec", "agent__id__exact", value="agent_id"),
        RelatedLink(_("Participations"), "chats.chatactor", "actor__id__exact", value="agent_id"),
        RelatedLink(_("Runs"), "runs.run", "agent__id__exact", value="agent_id"),
        RelatedLink(_("Model calls"), "usage.llmcall", "agent__id__exact", value="agent_id"),
        audit_link(value="agent_id"),
    )
    actions_detail = ("take_down",)

    def get_queryset(self, request: Any) -> Any:
        open_reports = AgentReport.objects.filter(agent=OuterRef("agent"), state=ReportState.OPEN).order_by()
        count = open_reports.values("agent").annotate(count=Count("pk")).values("count")
        return super().get_queryset(request).annotate(report_count=Coalesce(Subquery(count), 0))

    # The first column is no link to the agent, because Django makes it the link to the listing.
    @admin.display(description=_("agent"), ordering="agent__name")
    def name(self, listing: Listing) -> str:
        return str(listing.agent)

    @display(description=_("state"), label=LISTING_COLOURS)  # type: ignore[untyped-decorator]
    def coloured_state(self, listing: Listing) -> tuple[str, Any]:
        if is_public(listing):
            return "public", _("public")
        return "taken_down", _("taken down by an operator") if listing.taken_down_by_operator else _("taken down")

    @admin.display(description=_("publisher"), ordering="agent__published_by_workspace__name")
    def publisher(self, listing: Listing) -> str:
        return str(listing.agent.published_by_workspace or "–")

    @admin.display(description=_("published at"), ordering="agent__published_at")
    def published_at(self, listing: Listing) -> str:
        return _format_time(listing.agent.published_at)

    @admin.display(description=_("taken down at"), ordering="agent__taken_down_at")
    def taken_down_at(self, listing: Listing) -> str:
        return _format_time(listing.agent.taken_down_at)

    @admin.display(description=_("open reports"), ordering="report_count")
    def open_reports(self, listing: Any) -> int:
        return int(listing.report_count)

    @admin.display(description=_("used by"))
    def affected(self, listing: Listing) -> str:
        return describe_affected(listing.agent)

    @service_action(
        _("Take down"),
        _("It stops at once, in all chats. Its name is free again, and its publisher can publish anew."),
        icon="block",
        is_dangerous=True,
        is_available=is_public,
        form_class=TakedownForm,
    )
    def take_down(self, listing: Listing, operator: Actor, reason: str) -> None:
        publishing.take_down_agent(operator, listing.agent_id, reason=reason, as_operator=True)


@admin.register(AgentReport)
class AgentReportAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        link_column("agent"),
        "coloured_state",
        "reason",
        "text",
        link_column("reporter"),
        "closed_at",
    )
    list_filter = ("state", "reason", CreatedWithinFilter)
    list_select_related = ("agent", "reporter", "closed_by")
    search_fields = ("agent__name", "agent__handle", "reporter__name", "text")
    search_id_fields = ("agent_id", "reporter_id")
    first_fields = ("state", "agent", "reason", "text", "reporter")
    related_links = (
        RelatedLink(_("Listing and takedown"), "publishing.listing", "agent__id__exact", value="agent_id"),
        audit_link(value="agent_id"),
    )
    audit_prefixes = ("report",)
    actions = ("close",)
    actions_detail = ("close",)

    @display(description=_("state"), label=REPORT_COLOURS)  # type: ignore[untyped-decorator]
    def coloured_state(self, report: AgentReport) -> tuple[str, Any]:
        return report.state, report.get_state_display()

    @service_action(
        _("Close the report"),
        _("Nothing is done. The person who has reported the agent can report it again."),
        icon="check",
        is_available=lambda report: report.state == ReportState.OPEN,
    )
    def close(self, report: AgentReport, operator: Actor) -> None:
        publishing.close_report(operator, report.pk)


@admin.register(PendingUpdate)
class PendingUpdateAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("agent"), "version", "has_failed_chats", "resume_at")
    list_select_related = ("agent", "version")
    search_fields = ("agent__name", "agent__handle")
    search_id_fields = ("agent_id",)


@admin.register(AgentUse)
class AgentUseAdmin(ReadOnlyAdmin):
    list_display = (link_column("agent"), "workspace_count", "run_count", "counted_at")
    list_select_related = ("agent",)
    search_fields = ("agent__name", "agent__handle")
    search_id_fields = ("agent_id",)
