"""Telling people of something that concerns them."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from actors.models import Actor, Kind
from common.clock import now
from common.writing import insert
from events.publish import notify_list_changed
from notifications.models import Notification

KEPT = timedelta(days=90)
PRUNED_AT_ONCE = 500
"""Old rows that go with one telling, at most: whoever tells does not wait for years of them."""


def tell(
    people: Iterable[UUID], *, event: str, type: str, workspace_id: UUID, actor: Actor | None, **about: Any
) -> list[UUID]:
    """Keep one row for each of these people, and announce the changed list on commit; in the caller's transaction.

    Nobody is told of what they did themselves, nor who is not a member of the workspace; the same `event` is told once.
    `people` may be a query set of ids; `about` are fields of `Notification`. Returns who was told.
    """
    able = Actor.objects.filter(kind=Kind.HUMAN, is_active=True, memberships__workspace=workspace_id)
    if actor is not None:
        able = able.exclude(pk=actor.pk)
    told = list(able.filter(pk__in=people).order_by("pk").values_list("pk", flat=True))
    if not told:
        return []
    about |= {"event": event, "type": type, "workspace_id": workspace_id, "actor_name": actor.name if actor else ""}
    insert([Notification(person_id=person_id, **about) for person_id in told], ignore_conflicts=True)
    _forget_old(told)
    notify_list_changed(told, "notifications")
    return told


def _forget_old(people: list[UUID]) -> None:
    """What is older than `KEPT` goes when there is news: no list grows for ever, and no clock has to run for it.

    Rows that somebody else is removing are left to them, so that two who tell the same people never wait for each other.
    """
    old = Notification.objects.filter(person__in=people, created_at__lt=now() - KEPT)
    found = old.select_for_update(skip_locked=True).values("pk")[:PRUNED_AT_ONCE]
    Notification.objects.filter(pk__in=found).delete()
