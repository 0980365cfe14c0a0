"""Marking notifications as read."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from actors.models import Actor
from chats.hooks import ReadCursor
from common.clock import now
from events.publish import notify_list_changed
from notifications.hot_queries import UNREAD_MENTIONS
from notifications.models import Notification


@transaction.atomic
def mark_read(actor: Actor, *, ids: Collection[UUID] | None = None, up_to: UUID | None = None) -> None:
    """Mark the actor's own notifications as read: those of `ids`, all up to and with `up_to`, or all."""
    rows = Notification.objects.filter(person=actor, read_at=None)
    if ids is not None:
        rows = rows.filter(pk__in=ids)
    if up_to is not None:
        last = Notification.objects.filter(person=actor, pk=up_to).values_list("created_at", "pk").first()
        if last is None:
            return
        created_at, pk = last
        rows = rows.filter(Q(created_at__lt=created_at) | Q(created_at=created_at, pk__lte=pk))
    if rows.update(read_at=now()):
        notify_list_changed([actor.pk], "notifications")


def mark_mentions_read(marks: Sequence[ReadCursor]) -> None:
    """Mark the mentions that people have seen by reading chats. It makes two queries, however many people there are."""
    seqs: dict[tuple[UUID, UUID | None], int] = {(mark.actor_id, mark.chat_id): mark.seq for mark in marks}
    found = UNREAD_MENTIONS.rows([mark.actor_id for mark in marks], list({mark.chat_id for mark in marks}))
    seen = {pk: person for pk, person, chat, seq in found if seq is not None and seq <= seqs.get((person, chat), -1)}
    if seen:
        Notification.objects.filter(pk__in=seen).update(read_at=now())
        notify_list_changed(set(seen.values()), "notifications")
