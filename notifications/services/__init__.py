"""The services of notifications."""

from notifications.services.notifying import notify
from notifications.services.reading import mark_read

__all__ = ["mark_read", "notify"]
