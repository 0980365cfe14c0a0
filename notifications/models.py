"""Notifications: one row per person and event."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from common.models import Identified, build_display_name
from events.rows import NotificationKind, NotificationRow
from workspaces.models import Workspace


class Notification(Identified):
    """A notification of one person about one event. A person has one notification per `event`, a key that the listener builds.

    The ids are not foreign keys: when the person reads the notification, their rows may be deleted, or hidden from the person.
    """

    person = models.ForeignKey(
        "actors.Actor", verbose_name=_("person"), on_delete=models.CASCADE, related_name="notifications"
    )
    event = models.CharField(_("event"), max_length=80)
    type = models.CharField(_("type"), max_length=24, choices=NotificationKind.choices)
    workspace = models.ForeignKey(Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="+")
    actor_name = models.CharField(_("actor name"), max_length=80, blank=True, default="")
    agent_name = models.CharField(_("agent name"), max_length=80, blank=True, default="")
    chat_id = models.UUIDField(_("chat id"), null=True)
    agent_id = models.UUIDField(_("agent id"), null=True)
    message_id = models.UUIDField(_("message id"), null=True)
    suggestion_id = models.UUIDField(_("suggestion id"), null=True)
    merge_id = models.UUIDField(_("merge id"), null=True)
    tool_server_id = models.UUIDField(_("tool server id"), null=True)
    excerpt = models.CharField(_("excerpt"), max_length=200, blank=True, default="")
    read_at = models.DateTimeField(_("read at"), null=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("notification")
        verbose_name_plural = _("notifications")
        constraints = [models.UniqueConstraint(fields=["person", "event"], name="each_event_once_per_person")]
        indexes = [
            models.Index(fields=["person", "-created_at"], name="notifications_of"),
            models.Index(fields=["person"], condition=models.Q(read_at=None), name="unread_of"),
        ]

    def __str__(self) -> str:
        return f"{self.type} · {build_display_name(self, 'person')}"

    def to_row(self) -> NotificationRow:
        return NotificationRow(
            id=self.id,
            type=self.type,
            workspace_id=self.workspace_id,
            actor_name=self.actor_name,
            agent_name=self.agent_name,
            chat_id=self.chat_id,
            agent_id=self.agent_id,
            message_id=self.message_id,
            suggestion_id=self.suggestion_id,
            merge_id=self.merge_id,
            tool_server_id=self.tool_server_id,
            excerpt=self.excerpt,
            is_read=self.read_at is not None,
            created_at=self.created_at,
        )
