"""The rows of outside programs: the wakes of agents, webhooks and deliveries."""

from datetime import datetime
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from events.row import Row


class WakeCause(models.TextChoices):
    """Why a message woke an agent; `hand` and `schedule`: a person or a schedule did; `added`: it was added to the chat."""

    MENTION = "mention", _("mention")
    REPLY = "reply", _("reply")
    ALWAYS = "always", _("always")
    HAND = "hand", _("by hand")
    SCHEDULE = "schedule", _("schedule")
    ADDED = "added", _("added to a chat")


class DeliveryState(models.TextChoices):
    """Whether a delivery waits for its next try, has succeeded, or has failed for the last time."""

    WAITING = "waiting", _("waiting")
    DELIVERED = "delivered", _("delivered")
    FAILED = "failed", _("failed")


class WakeRow(Row):
    """Messages of a chat that woke the agent, and that it has not read yet."""

    id: UUID
    chat_id: UUID
    message_ids: list[UUID]
    why: WakeCause
    created_at: datetime


class WebhookRow(Row):
    """A URL to which the wakes of an agent are posted. `failing_since`: when the deliveries began to fail; null if the last one
    succeeded."""

    id: UUID
    agent_id: UUID
    url: str
    is_enabled: bool
    failing_since: datetime | None
    created_at: datetime


class DeliveryRow(Row):
    """An event that is posted to a webhook. `status` is that of the last response; `next_at` is the time of the next try."""

    id: UUID
    event: str
    state: DeliveryState
    tries: int
    status: int | None
    error: str
    next_at: datetime | None
    created_at: datetime
