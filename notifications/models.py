"""What people are told of (S0.17): one row per person and event."""

from django.db import models

from common.models import Identified, called
from events.rows import NotificationRow
from workspaces.models import Workspace


class Notification(Identified):
    """One event for one person. `event` names it, so that telling twice is telling once. Ids are plain: what they lead to may
    be gone, or closed to the person, by the time they look; then nothing of it is shown."""

    person = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="notifications")
    event = models.CharField(max_length=80)
    type = models.CharField(max_length=24)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    actor_name = models.CharField(max_length=80, blank=True, default="")
    agent_name = models.CharField(max_length=80, blank=True, default="")
    chat_id = models.UUIDField(null=True)
    agent_id = models.UUIDField(null=True)
    message_id = models.UUIDField(null=True)
    suggestion_id = models.UUIDField(null=True)
    merge_id = models.UUIDField(null=True)
    excerpt = models.CharField(max_length=200, blank=True, default="")
    read_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "event"], name="each_event_once_per_person")]
        indexes = [
            models.Index(fields=["person", "-created_at"], name="notifications_of"),
            models.Index(fields=["person"], condition=models.Q(read_at=None), name="unread_of"),
        ]

    def __str__(self) -> str:
        return f"{self.type} · {called(self, 'person')}"

    def row(self) -> NotificationRow:
        return NotificationRow(
            id=self.id, type=self.type, workspace_id=self.workspace_id, actor_name=self.actor_name,
            agent_name=self.agent_name, chat_id=self.chat_id, agent_id=self.agent_id, message_id=self.message_id,
            suggestion_id=self.suggestion_id, merge_id=self.merge_id, excerpt=self.excerpt,
            is_read=self.read_at is not None, created_at=self.created_at,
        )  # fmt: skip
