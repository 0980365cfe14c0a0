"""What people have seen."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q, QuerySet

from actors.models import Actor
from chats.models import Chat, Message
from common.clock import now
from events.bells import ring
from notifications.models import Notification


def mark_read(*, person: Actor, ids: Collection[UUID] | None = None, up_to: UUID | None = None) -> None:
    """Mark these as read, or everything up to one of them, or everything; other tabs are told. What is not the person's own
    is not there, and so nothing happens to it."""
    rows = Notification.objects.filter(person=person)
    if ids is not None:
        rows = rows.filter(pk__in=ids)
    if up_to is not None:
        last = Notification.objects.filter(person=person, pk=up_to).values_list("created_at", "pk").first()
        rows = rows.filter(_until(*last)) if last else rows.none()
    _mark(rows, person)


def mark_mentions_read(*, person: Actor, chat: Chat, seq: int) -> None:
    """Who has read a chat so far has seen where they were mentioned in it."""
    mentions = Notification.objects.filter(person=person, chat_id=chat.pk, type="mention")
    _mark(mentions.filter(message_id__in=Message.objects.filter(chat=chat, seq__lte=seq).values("pk")), person)


def _until(time: object, pk: UUID) -> Q:
    return Q(created_at__lt=time) | Q(created_at=time, pk__lte=pk)


def _mark(rows: QuerySet[Notification], person: Actor) -> None:
    if rows.filter(read_at=None).update(read_at=now()):
        ring([person.pk], "notifications")
