"""Listings of public agents in the directory, and reports about them. The public agent itself is an `Actor`."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.models import Identified, build_display_name
from events.rows import AgentReportRow, ListingCategory, ReportReason, ReportState

MAX_EXAMPLES = 4
MAX_LANGUAGES = 12


class Listing(Identified):
    """The listing of a public agent that a workspace has published. It stays when the agent is taken down.

    `origin_version`: the version of the original that the newest version of the public agent was made of. `search_text`: what the
    directory is searched in (`publishing/search.py`). The last three fields are set when the agent is taken down.
    """

    agent = models.OneToOneField(
        "actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="listing"
    )
    category = models.CharField(_("category"), max_length=12, choices=ListingCategory.choices)
    languages = ArrayField(models.CharField(max_length=12), verbose_name=_("languages"), default=list)
    examples = ArrayField(models.CharField(max_length=400), verbose_name=_("examples"), default=list)
    origin_version = models.PositiveIntegerField(_("origin version"))
    search_text = models.TextField(_("search text"))
    published_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("published by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)
    taken_down_by = models.ForeignKey(
        "actors.Actor",
        verbose_name=_("taken down by"),
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    taken_down_by_operator = models.BooleanField(_("taken down by an operator"), default=False)
    takedown_reason = models.CharField(_("takedown reason"), max_length=600, blank=True, default="")

    class Meta:
        verbose_name = _("public agent")
        verbose_name_plural = _("public agents")
        constraints = [
            models.CheckConstraint(condition=Q(category__in=ListingCategory.values), name="listing_category_known"),
        ]

    def __str__(self) -> str:
        return build_display_name(self, "agent")


class AgentUse(Identified):
    """The use of a public agent in the last 30 days, which is counted every hour (`publishing/services/use.py`). An agent that was
    not used has no row.

    `run_count`: its replies. `workspace_count`: the workspaces in whose chats they are. A count is null if it is one to four,
    because it would tell what single workspaces do.
    """

    agent = models.OneToOneField(
        "actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="public_use"
    )
    run_count = models.PositiveIntegerField(_("replies"), null=True)
    workspace_count = models.PositiveIntegerField(_("workspaces"), null=True)
    counted_at = models.DateTimeField(_("counted at"))

    class Meta:
        verbose_name = _("use of a public agent")
        verbose_name_plural = _("use of public agents")

    def __str__(self) -> str:
        return build_display_name(self, "agent")


class PendingUpdate(Identified):
    """A new version, profile or takedown of a public agent, with which not all its chats and users are up to date
    (`publishing/services/updates.py`). The row is deleted when they are.

    `version` is null for a new profile (name or description) and for a takedown. Chats up to `after_chat` and workspaces up to
    `after_workspace` are done. At `resume_at` the sweeper sends the task again.
    """

    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="+")
    version = models.ForeignKey(
        "agents.AgentSpec", verbose_name=_("version"), null=True, on_delete=models.CASCADE, related_name="+"
    )
    after_chat = models.UUIDField(_("after chat"), null=True)
    after_workspace = models.UUIDField(_("after workspace"), null=True)
    has_failed_chats = models.BooleanField(_("has failed chats"), default=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    resume_at = models.DateTimeField(_("resume at"))

    class Meta:
        verbose_name = _("pending update")
        verbose_name_plural = _("pending updates")

    def __str__(self) -> str:
        return build_display_name(self, "agent")


class AgentReport(Identified):
    """A report of a person about a public agent, for the operators. A person has one open report about an agent."""

    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="reports")
    reporter = models.ForeignKey(
        "actors.Actor", verbose_name=_("reporter"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    reason = models.CharField(_("reason"), max_length=12, choices=ReportReason.choices)
    text = models.TextField(_("text"), blank=True, default="")
    state = models.CharField(_("state"), max_length=8, choices=ReportState.choices, default=ReportState.OPEN)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    closed_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("closed by"), null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    closed_at = models.DateTimeField(_("closed at"), null=True, blank=True)

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "reporter"], condition=Q(state="open"), name="one_open_report_per_person_and_agent"
            ),
            models.CheckConstraint(condition=Q(reason__in=ReportReason.values), name="report_reason_known"),
            models.CheckConstraint(
                condition=Q(state="open", closed_at=None) | Q(state="closed", closed_at__isnull=False),
                name="closed_report_has_its_time",
            ),
        ]
        indexes = [models.Index(fields=["state", "-created_at"], name="reports_by_state")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'agent')} · {self.get_reason_display()}"

    def to_row(self) -> AgentReportRow:
        return AgentReportRow(
            id=self.id,
            agent_id=self.agent_id,
            reason=ReportReason(self.reason),
            text=self.text,
            state=ReportState(self.state),
            created_at=self.created_at,
        )
