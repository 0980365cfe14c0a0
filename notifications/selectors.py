"""What somebody has been told, as they may see it today."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from actors.models import Actor
from chats.permissions import chats_visible_to
from common.access import person_of
from common.paging import Paged
from common.prepared_query import PreparedQuery
from events.rows import NotificationRow
from notifications.models import Notification
from workspaces.permissions import workspaces_visible_to

MAX_UNREAD = 100
"""Unread ones are counted so far and no further: the bell says "99+"."""
IN_CHAT = frozenset({"mention"})
"""Types whose excerpt was said in a chat. Others quote what every member of the workspace may read."""


def _told(person_id: UUID) -> QuerySet[Notification]:
    mine = workspaces_visible_to(person_of(person_id)).values("pk")
    return Notification.objects.filter(person=person_id, workspace__in=mine)


def _as_told(person_id: UUID) -> Any:
    """What the person was told, in workspaces they are in; each knows whether its chat is open to them."""
    chat = chats_visible_to(person_of(person_id)).filter(pk=OuterRef("chat_id"))
    return _told(person_id).annotate(chat_is_open=Exists(chat))


TOLD: Paged[Notification] = Paged(_as_told, UUID, by="-created_at")
TOLD_UNREAD: Paged[Notification] = Paged(
    lambda person_id: _as_told(person_id).filter(read_at=None), UUID, by="-created_at"
)
"""What a person was told, newest first: all of it, or what is unread."""


_UNREAD: PreparedQuery[Notification] = PreparedQuery(
    lambda person_id: _told(person_id).filter(read_at=None).values_list("pk")[:MAX_UNREAD], UUID
)


def count_unread(person: Actor) -> int:
    """At most `MAX_UNREAD`. Asked by every tab whenever the bell rings."""
    return len(_UNREAD.rows(person.pk))


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
