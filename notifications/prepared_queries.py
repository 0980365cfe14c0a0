"""The prepared query of notifications. It runs whenever people read messages of a chat."""

from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from chats.models import Message
from common.prepared_query import PreparedQuery, is_any_of
from events.rows import NotificationKind
from notifications.models import Notification

TYPES_READ_IN_CHATS = (
    NotificationKind.MENTION.value,
    NotificationKind.CHAT_INVITATION.value,
    NotificationKind.RUN_FAILED.value,
    NotificationKind.BOARD_ENDED.value,
)
"""The types of notifications that are marked as read when the person reads the chat: a mention, a failed run or the end of a board
when they read the message about it, an invitation when they read any message."""


def _query_unread_in_chats(people: list[UUID], chats: list[UUID]) -> QuerySet[Notification, tuple[Any, ...]]:
    unread = Notification.objects.filter(
        is_any_of("person_id", people), is_any_of("chat_id", chats), type__in=TYPES_READ_IN_CHATS, read_at=None
    )
    seq = Subquery(Message.objects.filter(pk=OuterRef("message_id")).values("seq")[:1])
    return unread.annotate(seq=Coalesce(seq, 0)).values_list("pk", "person_id", "chat_id", "seq")


UNREAD_IN_CHATS = PreparedQuery(_query_unread_in_chats, list[UUID], list[UUID])
