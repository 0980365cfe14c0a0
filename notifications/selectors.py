"""Reads of notifications, as the person may see them today."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from actors.models import Actor
from chats.permissions import chats_visible_to
from events.rows import NotificationRow
from notifications.models import Notification
from workspaces.permissions import workspaces_visible_to

MAX_UNREAD_NOTIFICATIONS = 100
"""Unread notifications are counted up to this number: the web app shows "99+"."""
QUOTING_TYPES = frozenset({"mention"})
"""Types whose excerpt quotes a message of a chat. Others quote what every member of the workspace may read."""


def _list_of(person: Actor) -> QuerySet[Notification]:
    workspaces = workspaces_visible_to(person).values("pk")
    return Notification.objects.filter(person=person, workspace__in=workspaces)


def list_notifications(person: Actor, *, unread: bool = False) -> QuerySet[Any]:
    """Return the person's notifications, for `build_notification_rows`, each with `chat_is_open`."""
    chat = chats_visible_to(person).filter(pk=OuterRef("chat_id"))
    notifications = _list_of(person).annotate(chat_is_open=Exists(chat))
    return notifications.filter(read_at=None) if unread else notifications


def count_unread(person: Actor) -> int:
    """Return the number of unread notifications, at most `MAX_UNREAD_NOTIFICATIONS`."""
    return _list_of(person).filter(read_at=None)[:MAX_UNREAD_NOTIFICATIONS].count()


def build_notification_rows(notifications: Iterable[Any]) -> list[NotificationRow]:
    """Serialize notifications from `list_notifications`. A chat that the person may not see is neither quoted nor linked."""
    rows = []
    for notification in notifications:
        row = notification.to_row()
        if row.chat_id is not None and not notification.chat_is_open:
            excerpt = "" if row.type in QUOTING_TYPES else row.excerpt
            row = row.model_copy(update={"chat_id": None, "message_id": None, "excerpt": excerpt})
        rows.append(row)
    return rows
