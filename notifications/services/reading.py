"""What people have seen."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery

from actors.models import Actor
from chats.hooks import ReadMark
from chats.models import Message
from common.clock import now
from common.prepared_query import PreparedQuery, is_any_of
from events.publish import notify_list_changed
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


def mark_mentions_read(marks: Sequence[ReadMark]) -> None:
    """Mark the mentions that people have seen by reading chats so far. Two queries, however many people."""
    seqs: dict[tuple[UUID, UUID | None], int] = {(mark.actor_id, mark.chat_id): mark.seq for mark in marks}
    found = _UNREAD_MENTIONS.rows([mark.actor_id for mark in marks], list({mark.chat_id for mark in marks}))
    seen = {pk: person for pk, person, chat, seq in found if seq is not None and seq <= seqs.get((person, chat), -1)}
    if seen:
        Notification.objects.filter(pk__in=seen).update(read_at=now())
        notify_list_changed(set(seen.values()), "notifications")


def _unread_mentions(people: list[UUID], chats: list[UUID]) -> QuerySet[Notification, tuple[Any, ...]]:
    unread = Notification.objects.filter(
        is_any_of("person_id", people), is_any_of("chat_id", chats), type="mention", read_at=None
    )
    seq = Subquery(Message.objects.filter(pk=OuterRef("message_id")).values("seq")[:1])
    return unread.annotate(seq=seq).values_list("pk", "person_id", "chat_id", "seq")


_UNREAD_MENTIONS = PreparedQuery(_unread_mentions, list[UUID], list[UUID])


def _until(time: object, pk: UUID) -> Q:
    return Q(created_at__lt=time) | Q(created_at=time, pk__lte=pk)


def _mark(rows: QuerySet[Notification], person: Actor) -> None:
    if rows.filter(read_at=None).update(read_at=now()):
        notify_list_changed([person.pk], "notifications")
