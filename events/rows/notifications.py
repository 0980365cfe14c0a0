"""The rows of notifications."""

from datetime import datetime
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from events.row import Row


class NotificationKind(models.TextChoices):
    """What a person is notified of."""

    MENTION = "mention", _("mention")
    CHAT_INVITATION = "chat_invitation", _("added to a chat")
    SUGGESTION_CREATED = "suggestion_created", _("suggestion made")
    SUGGESTION_ACCEPTED = "suggestion_accepted", _("suggestion accepted")
    SUGGESTION_REJECTED = "suggestion_rejected", _("suggestion rejected")
    SUGGESTION_REOPENED = "suggestion_reopened", _("suggestion reopened")
    SUGGESTION_UNUSED = "suggestion_unused", _("suggestion merged, but not used")
    LOCK_LOST = "lock_lost", _("lock lost")
    DRAFT_REQUESTED = "draft_requested", _("draft requested")
    DRAFT_HANDED_OVER = "draft_handed_over", _("draft handed over")
    DRAFT_UNLOCKED = "draft_unlocked", _("draft unlocked")
    MERGE_DONE = "merge_done", _("merge done")
    MERGE_FAILED = "merge_failed", _("merge failed")
    APPROVAL_ASKED = "approval_asked", _("waits for approval")
    MODEL_CHANGED = "model_changed", _("model changed")
    AGENT_PUBLISHED = "agent_published", _("public agent published")
    AGENT_TAKEN_DOWN = "agent_taken_down", _("public agent taken down")
    BUDGET_WARNING = "budget_warning", _("most of a budget used")
    TOOLS_CHANGED = "tools_changed", _("tools changed by their server")
    WEBHOOK_DISABLED = "webhook_disabled", _("webhook switched off")
    SCHEDULE_PAUSED = "schedule_paused", _("schedule paused")
    SCHEDULE_FAILED = "schedule_failed", _("schedule failed")
    RUN_FAILED = "run_failed", _("run failed")
    BOARD_ENDED = "board_ended", _("board ended")
    BOARD_PAUSED = "board_paused", _("board paused")
    BOARD_WAITS = "board_waits", _("board waits to be started")
    GRANT_GIVEN = "grant_given", _("access granted")
    GRANT_TAKEN = "grant_taken", _("access taken")
    WORKSPACE_DELETED = "workspace_deleted", _("workspace deleted")


class NotificationRow(Row):
    """A notification of the reader. It stores the names at the time of the event; clients read the linked object."""

    id: UUID
    type: NotificationKind
    workspace_id: UUID
    actor_name: str
    agent_name: str
    chat_id: UUID | None
    agent_id: UUID | None
    message_id: UUID | None
    suggestion_id: UUID | None
    merge_id: UUID | None
    tool_server_id: UUID | None
    excerpt: str
    is_read: bool
    created_at: datetime
