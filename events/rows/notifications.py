"""The rows of notifications."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from events.row import Row


class NotificationRow(Row):
    """A notification of the reader. It stores the names at the time of the event; clients read the linked object."""

    id: UUID
    type: Literal[
        "mention", "suggestion_created", "suggestion_accepted", "suggestion_rejected", "suggestion_reopened",
        "suggestion_unused", "lock_lost",
        "draft_requested", "draft_unlocked", "draft_handed_over", "merge_done", "merge_failed", "model_changed",
    ]  # fmt: skip
    workspace_id: UUID
    actor_name: str
    agent_name: str
    chat_id: UUID | None
    agent_id: UUID | None
    message_id: UUID | None
    suggestion_id: UUID | None
    merge_id: UUID | None
    excerpt: str
    is_read: bool
    created_at: datetime
