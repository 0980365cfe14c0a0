"""The writes of notifications, one door each."""

from notifications.services.reading import mark_mentions_read, mark_read
from notifications.services.telling import tell

__all__ = ["mark_mentions_read", "mark_read", "tell"]
