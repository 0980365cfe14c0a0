"""What somebody has been told, as they may see it today."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from actors.models import Actor
from chats.permissions import chats_visible_to
from events.rows import NotificationRow
from notifications.models import Notification
from workspaces.permissions import workspaces_visible_to

MAX_UNREAD = 100
"""Unread ones are counted so far and no further: the bell says "99+"."""
IN_CHAT = frozenset({"mention"})
"""Types whose excerpt was said in a chat. Others quote what every member of the workspace may read."""


def list_notifications(person: Actor, *, only_unread: bool) -> Any:
    """Return the notifications of a person in the workspaces they are in, annotated with whether they may see the chat."""
    found = _list_visible(person).filter(read_at=None) if only_unread else _list_visible(person)
    return found.annotate(chat_is_open=Exists(chats_visible_to(person).filter(pk=OuterRef("chat_id"))))


def count_unread(person: Actor) -> int:
    """Return the number of unread notifications, at most `MAX_UNREAD`."""
    return len(_list_visible(person).filter(read_at=None).values_list("pk")[:MAX_UNREAD])


def _list_visible(person: Actor) -> QuerySet[Notification]:
    return Notification.objects.filter(person=person, workspace__in=workspaces_visible_to(person).values("pk"))


def shown(found: Iterable[Any]) -> list[NotificationRow]:
    """Rows for the wire, of notifications that came from here. Of a chat that is closed to the person nothing is quoted, and
    nothing leads there (SEC1)."""
    return [_row(notification, notification.chat_is_open) for notification in found]


def _row(notification: Notification, is_open: bool) -> NotificationRow:
    row = notification.to_row()
    if is_open or row.chat_id is None:
        return row
    excerpt = "" if row.type in IN_CHAT else row.excerpt
    return row.model_copy(update={"chat_id": None, "message_id": None, "excerpt": excerpt})
