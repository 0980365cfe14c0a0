"""Schedules, and the times at which they were due."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chats.models import Chat
from common.models import Identified, WithRevision, build_display_name
from events.rows import LastTimeRow, PauseReason, ScheduleRow
from schedules.expressions import list_next_times
from workspaces.models import Workspace


class Schedule(Identified, WithRevision):
    """When an agent is woken in a chat, and what it is to do. It works with the rights and the budgets of its owner.

    `next_at` is null while the schedule is off or paused. In a pause for a used-up budget it is set: each time is stored as missed.
    `grace_seconds`: a time that was missed by more is not made up for.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="schedules"
    )
    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="schedules")
    agent = models.ForeignKey(
        "actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="schedules"
    )
    owner = models.ForeignKey("actors.Actor", verbose_name=_("owner"), on_delete=models.PROTECT, related_name="+")
    name = models.CharField(_("name"), max_length=80)
    instructions = models.TextField(_("instructions"))
    expression = models.CharField(_("expression"), max_length=100)
    time_zone = models.CharField(_("time zone"), max_length=64)
    is_enabled = models.BooleanField(_("is enabled"), default=True)
    paused_reason = models.CharField(
        _("paused reason"), max_length=16, choices=PauseReason.choices, blank=True, default=""
    )
    next_at = models.DateTimeField(_("next at"), null=True)
    # Set after an error: the schedule stays due, but is not fired again before this time.
    retry_at = models.DateTimeField(_("retry at"), null=True, blank=True)
    grace_seconds = models.PositiveIntegerField(_("grace seconds"), default=3600)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("schedule")
        verbose_name_plural = _("schedules")
        constraints = [
            models.CheckConstraint(
                condition=Q(next_at=None) | Q(is_enabled=True, paused_reason__in=["", PauseReason.BUDGET_USED_UP]),
                name="next_at_of_active_schedule",
            ),
        ]
        indexes = [models.Index(fields=["next_at"], condition=Q(next_at__isnull=False), name="schedules_due")]

    def __str__(self) -> str:
        return self.name

    def to_row(self, *, last: "ScheduledTime | None", can_change: bool) -> ScheduleRow:
        """Return the row. The chat and the owner must be loaded."""
        is_active = self.next_at is not None
        later = list_next_times(self.expression, self.time_zone, after=self.next_at, count=2) if self.next_at else []
        return ScheduleRow(
            id=self.id,
            agent_id=self.agent_id,
            chat_id=self.chat_id,
            chat_title=self.chat.shown_title,
            name=self.name,
            instructions=self.instructions,
            expression=self.expression,
            time_zone=self.time_zone,
            is_enabled=self.is_enabled,
            owner_id=self.owner_id,
            owner_name=self.owner.name,
            grace_seconds=self.grace_seconds,
            paused_reason=PauseReason(self.paused_reason) if self.paused_reason else None,
            next_times=[self.next_at, *later] if is_active else [],
            last=last.to_row() if last else None,
            revision=self.revision,
            can_change=can_change,
        )


class ScheduledTime(Identified):
    """A time at which a schedule was due. The row, the message and the run are written in one transaction, once for each time."""

    schedule = models.ForeignKey(Schedule, verbose_name=_("schedule"), on_delete=models.CASCADE, related_name="times")
    due_at = models.DateTimeField(_("due at"))
    state = models.CharField(
        _("state"), max_length=6, choices=[("fired", _("fired")), ("missed", _("missed"))], default="fired"
    )
    # The number of times that were missed since the previous row, including this time if it was missed.
    missed = models.PositiveIntegerField(_("missed"), default=0)
    message_id = models.UUIDField(_("message id"), null=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("scheduled time")
        verbose_name_plural = _("scheduled times")
        constraints = [models.UniqueConstraint(fields=["schedule", "due_at"], name="each_time_once_per_schedule")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'schedule')} · {self.due_at:%Y-%m-%d %H:%M}"

    def to_row(self) -> LastTimeRow:
        return LastTimeRow.model_validate(self, from_attributes=True)
