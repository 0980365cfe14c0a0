"""The rows of schedules."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from events.row import Row


class PauseReason(models.TextChoices):
    """Why a schedule is paused: its owner has left the chat or the workspace, its agent is not in the chat or does not answer,
    or a budget for runs of the agent for the owner is used up. In the last case it goes on by itself once the budget has room."""

    OWNER_LEFT = "owner_left", _("owner left")
    AGENT_REMOVED = "agent_removed", _("agent removed")
    BUDGET_USED_UP = "budget_used_up", _("budget used up")


class LastTimeRow(Row):
    """The last time at which a schedule was due. `missed`: how many earlier times were missed, and are done by this run; if the
    state is `missed`, that many were missed and nothing was done. `message_id`: the message that woke the agent."""

    due_at: datetime
    state: Literal["fired", "missed"]
    missed: int = 0
    message_id: UUID | None = None


class ScheduleRow(Row):
    """A schedule that wakes an agent in a chat. It works with the rights and the budgets of its owner. `next_times` are the next
    three runs; none if it is off or paused. `grace_seconds`: a time that was missed by more is not made up for. `can_change`:
    whether the reader may change it."""

    id: UUID
    agent_id: UUID
    chat_id: UUID
    chat_title: str
    name: str
    instructions: str
    expression: str
    time_zone: str
    is_enabled: bool
    owner_id: UUID
    owner_name: str
    grace_seconds: int
    paused_reason: PauseReason | None = None
    next_times: list[datetime] = []
    last: LastTimeRow | None = None
    revision: int
    can_change: bool


class NextTimesRow(Row):
    """The next three times of an expression that is being written."""

    next_times: list[datetime]
