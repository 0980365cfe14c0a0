"""Ending the sessions of a person, and deleting what has expired."""

from uuid import UUID

from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import F

from actors.models import Actor, EmailChange
from actors.operators import check_may_manage
from actors.services.viewings import end_viewings_of
from common.clock import now
from common.operators import get_for_operator
from events import audit
from events.publish import publish_rights_changed

ROWS_PER_BATCH = 1000


@transaction.atomic
def end_sessions(actor: Actor, *, keep: SessionBase | None = None) -> None:
    """End all sessions, sockets and viewings of the actor, except the session `keep`. API tokens stay."""
    _end_sessions(actor, actor, keep=keep)


@transaction.atomic
def end_sessions_as_operator(actor: Actor, person_id: UUID) -> None:
    """End all sessions, sockets and viewings of a person, as an operator. API tokens stay. Raises `NotFound`, `Forbidden`."""
    person = get_for_operator(actor, Actor, person_id)
    check_may_manage(actor, person)
    _end_sessions(person, actor)


def _end_sessions(person: Actor, actor: Actor, *, keep: SessionBase | None = None) -> None:
    Actor.objects.filter(pk=person.pk).update(session_epoch=F("session_epoch") + 1)
    person.refresh_from_db(fields=["session_epoch"])
    if keep is not None:
        keep[HASH_SESSION_KEY] = person.get_session_auth_hash()
        keep.save()
    end_viewings_of(person, actor)
    audit.record(actor, "sessions.ended", object_id=person.id)
    publish_rights_changed(person.id)


def delete_expired_rows() -> int:
    """Delete expired email changes and, in batches, expired sessions. Return the number of deleted sessions."""
    EmailChange.objects.filter(expires_at__lt=now()).delete()
    deleted = 0
    while True:
        expired = Session.objects.filter(expire_date__lt=now()).order_by("pk")
        keys = list(expired.values_list("pk", flat=True)[:ROWS_PER_BATCH])
        deleted += Session.objects.filter(pk__in=keys).delete()[0]
        if len(keys) < ROWS_PER_BATCH:
            return deleted
