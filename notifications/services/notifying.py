"""Create notifications."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from actors.models import Actor, Kind
from common.clock import now
from common.writing import insert
from events.publish import publish_list_changed
from notifications.models import Notification
from workspaces.models import Membership

MAX_NOTIFICATION_AGE = timedelta(days=90)
NOTIFIED_AT_ONCE = 1000
"""People who are notified by one statement, which may have 65,535 parameters."""
MAX_DELETED = 500
"""The number of old rows that one call deletes at most, so that it stays short."""


def notify(
    people: Iterable[UUID],
    *,
    event: str,
    type: str,
    workspace_id: UUID,
    actor: Actor | None,
    former_members: Iterable[UUID] = (),
    **fields: Any,
) -> list[UUID]:
    """Create a notification for each of these people, and return the ids of those who were notified, now or before.

    The actor and people who are not members of the workspace are left out, except `former_members`, who are notified too. A
    person is notified once of the same `event`.
    `people` may be a query set of ids; `fields` are fields of `Notification`. Call it in the transaction of the event: on commit
    a `list_changed` frame is published to the people.
    """
    everybody = Actor.objects.filter(kind=Kind.HUMAN, is_active=True)
    if actor is not None:
        everybody = everybody.exclude(pk=actor.pk)
    members = everybody.filter(memberships__workspace=workspace_id)
    notified = list(members.filter(pk__in=people).order_by("pk").values_list("pk", flat=True))
    if former_members:
        former = everybody.filter(pk__in=former_members).values_list("pk", flat=True)
        notified = sorted({*notified, *former})
    fields |= {"event": event, "type": type, "workspace_id": workspace_id, "actor_name": actor.name if actor else ""}
    _insert([Notification(person_id=person_id, **fields) for person_id in notified])
    return notified


def notify_in_workspaces(
    people: Mapping[UUID, Collection[UUID]],
    *,
    event: str,
    type: str,
    actor: Actor | None,
    actor_named_in: UUID | None,
    **fields: Any,
) -> None:
    """Create a notification for people of several workspaces, as `notify` does for one. `people`: their ids by workspace. The
    number of queries does not depend on the number of workspaces.

    `actor_named_in`: the workspace whose people read the name of the actor; null: nobody does. A person of several workspaces
    gets one notification, in the first of `people`.
    """
    workspace_ids_by_person: dict[UUID, list[UUID]] = {}
    for workspace_id, person_ids in people.items():
        for person_id in person_ids:
            workspace_ids_by_person.setdefault(person_id, []).append(workspace_id)
    if actor is not None:
        workspace_ids_by_person.pop(actor.pk, None)
    members = Membership.objects.filter(workspace__in=people, actor__kind=Kind.HUMAN, actor__is_active=True)
    ids = sorted(workspace_ids_by_person)
    for start in range(0, len(ids), NOTIFIED_AT_ONCE):
        next_ids = ids[start : start + NOTIFIED_AT_ONCE]
        found = set(members.filter(actor__in=next_ids).values_list("actor_id", "workspace_id"))
        notifications = []
        for person_id in next_ids:
            for workspace_id in workspace_ids_by_person[person_id]:
                if (person_id, workspace_id) in found:
                    actor_name = actor.name if actor and workspace_id == actor_named_in else ""
                    fields |= {"event": event, "type": type, "workspace_id": workspace_id, "actor_name": actor_name}
                    notifications.append(Notification(person_id=person_id, **fields))
                    break
        _insert(notifications)


def _insert(notifications: Sequence[Notification]) -> None:
    """Insert notifications, delete old ones of the same people, and publish that the lists of these people changed.

    The callers sort the notifications by person, so that two calls cannot deadlock.
    """
    for start in range(0, len(notifications), NOTIFIED_AT_ONCE):
        batch = notifications[start : start + NOTIFIED_AT_ONCE]
        insert(batch, ignore_conflicts=True)
        notified = [notification.person_id for notification in batch]
        # Deleting old ones here saves a periodic task. Rows that another transaction deletes are skipped, so that two calls for
        # the same people never wait for each other.
        old = Notification.objects.filter(person__in=notified, created_at__lt=now() - MAX_NOTIFICATION_AGE)
        # Read first: PostgreSQL may evaluate a subquery with LIMIT and SKIP LOCKED more than once.
        if ids := list(old.select_for_update(skip_locked=True).values_list("pk", flat=True)[:MAX_DELETED]):
            Notification.objects.filter(pk__in=ids).delete()
        publish_list_changed(notified, "notifications")
