"""Create notifications."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from actors.models import Actor, Kind
from common.clock import now
from common.writing import insert
from events.publish import publish_list_changed
from notifications.models import Notification

MAX_NOTIFICATION_AGE = timedelta(days=90)
MAX_DELETED = 500
"""The number of old rows that one call deletes at most, so that it stays short."""


def notify(
    people: Iterable[UUID], *, event: str, type: str, workspace_id: UUID, actor: Actor | None, **fields: Any
) -> list[UUID]:
    """Create a notification for each of these people, and return the ids of those who were notified.

    The actor and people who are not members of the workspace are left out. A person is notified once of the same `event`.
    `people` may be a query set of ids; `fields` are fields of `Notification`. Call it in the transaction of the event: on commit
    a `list_changed` frame is published to the people.
    """
    members = Actor.objects.filter(kind=Kind.HUMAN, is_active=True, memberships__workspace=workspace_id)
    if actor is not None:
        members = members.exclude(pk=actor.pk)
    notified = list(members.filter(pk__in=people).order_by("pk").values_list("pk", flat=True))
    if not notified:
        return []
    fields |= {"event": event, "type": type, "workspace_id": workspace_id, "actor_name": actor.name if actor else ""}
    insert([Notification(person_id=person_id, **fields) for person_id in notified], ignore_conflicts=True)
    _delete_old(notified)
    publish_list_changed(notified, "notifications")
    return notified


def _delete_old(people: list[UUID]) -> None:
    """Delete notifications of these people that are older than `MAX_NOTIFICATION_AGE`.

    Doing it here saves a periodic task. Rows that another transaction deletes are skipped, so that two calls for the same people
    never wait for each other.
    """
    old = Notification.objects.filter(person__in=people, created_at__lt=now() - MAX_NOTIFICATION_AGE)
    # Read first: PostgreSQL may evaluate a subquery with LIMIT and SKIP LOCKED more than once.
    if ids := list(old.select_for_update(skip_locked=True).values_list("pk", flat=True)[:MAX_DELETED]):
        Notification.objects.filter(pk__in=ids).delete()
