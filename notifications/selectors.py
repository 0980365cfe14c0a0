"""What somebody has been told, as they may see it today."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef

from actors.models import Actor
from chats.permissions import chats_visible_to
from events.rows import NotificationRow
from notifications.models import Notification
from workspaces.permissions import workspaces_visible_to

MOST_UNREAD = 100
"""Unread ones are counted so far and no further: the bell says "99+"."""
IN_CHAT = frozenset({"mention"})
"""Types whose excerpt was said in a chat. Others quote what every member of the workspace may read."""


def notifications_of(person: Actor) -> Any:
    """What the person was told, in workspaces they are in; each knows whether its chat is open to them."""
    rows = Notification.objects.filter(person=person, workspace__in=workspaces_visible_to(person).values("pk"))
    return rows.annotate(chat_is_open=Exists(chats_visible_to(person).filter(pk=OuterRef("chat_id"))))


def count_unread(person: Actor) -> int:
    """At most `MOST_UNREAD`."""
    found: int = notifications_of(person).filter(read_at=None).order_by()[:MOST_UNREAD].count()
    return found


def shown(found: Iterable[Any]) -> list[NotificationRow]:
    """Rows for the wire, of notifications that came from here. Of a chat that is closed to the person nothing is quoted, and
    nothing leads there (D1)."""
    return [_row(notification, notification.chat_is_open) for notification in found]


def _row(notification: Notification, is_open: bool) -> NotificationRow:
    row = notification.row()
    if is_open or row.chat_id is None:
        return row
    excerpt = "" if row.type in IN_CHAT else row.excerpt
    return row.model_copy(update={"chat_id": None, "message_id": None, "excerpt": excerpt})
