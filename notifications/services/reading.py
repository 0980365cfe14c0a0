"""Mark notifications as read."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from actors.models import Actor
from approvals.models import Approval
from approvals.selectors import list_asked_people
from chats.hooks import ReadCursor
from common.clock import now
from events.publish import publish_list_changed
from notifications.models import Notification
from notifications.prepared_queries import UNREAD_IN_CHATS


@transaction.atomic
def mark_read(actor: Actor, *, ids: Collection[UUID] | None = None, up_to: UUID | None = None) -> None:
    """Mark the actor's own notifications as read: those with these `ids`, or all up to and including `up_to`.

    Without `ids` and `up_to`, all are marked.
    """
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
        publish_list_changed([actor.pk], "notifications")


def mark_approvals_read(approvals: Sequence[Approval]) -> None:
    """Mark the notifications about the calls of a run as read once none of them waits: one notification is about several calls.
    The approvals are those of one run that were decided. A listener of `approvals_decided`."""
    decisions = dict(Approval.objects.filter(run_id=approvals[0].run_id).values_list("pk", "decision"))
    if None in decisions.values():
        return
    people = {id for approval in approvals for id in list_asked_people(approval)}
    notifications = Notification.objects.filter(message_id__in=decisions, type="approval_asked", person__in=people)
    notifications.filter(read_at=None).update(read_at=now())
    # Also to those who have read the notification already: the chat waits for them no more.
    publish_list_changed(people, "notifications")


def mark_read_in_chats(cursors: Sequence[ReadCursor]) -> None:
    """Mark as read the notifications of messages that people have read in chats (`TYPES_READ_IN_CHATS`, such as mentions). Two
    queries for any number of people.

    A listener of `chats.hooks.chats_read`.
    """
    last_read = {(cursor.actor_id, cursor.chat_id): cursor.seq for cursor in cursors}
    unread = UNREAD_IN_CHATS.rows([cursor.actor_id for cursor in cursors], list({cursor.chat_id for cursor in cursors}))
    seen = {pk: person_id for pk, person_id, chat_id, seq in unread if seq <= last_read.get((person_id, chat_id), -1)}
    if seen:
        Notification.objects.filter(pk__in=seen).update(read_at=now())
        publish_list_changed(set(seen.values()), "notifications")
