"""The services of notifications."""

from notifications.services.notifying import notify
from notifications.services.reading import mark_read, mark_read_in_chats

__all__ = ["mark_read_in_chats", "mark_read", "notify"]
