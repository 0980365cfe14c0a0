"""Ending the sessions of a person."""

from uuid import UUID

from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import F

from actors.models import Actor
from actors.operators import check_may_manage
from common.operators import get_for_operator
from events import audit
from events.publish import publish_rights_changed


@transaction.atomic
def end_sessions(actor: Actor, *, keep: SessionBase | None = None) -> None:
    """End all sessions and sockets of the actor, except the session `keep`. API tokens stay."""
    _end_sessions(actor, actor, keep=keep)


@transaction.atomic
def end_sessions_of(actor: Actor, person_id: UUID) -> None:
    """End all sessions and sockets of a person, as an operator. API tokens stay. Raises `NotFound`, `Forbidden`."""
    person = get_for_operator(actor, Actor, person_id)
    check_may_manage(actor, person)
    _end_sessions(person, actor)


def _end_sessions(person: Actor, actor: Actor, *, keep: SessionBase | None = None) -> None:
    Actor.objects.filter(pk=person.pk).update(session_epoch=F("session_epoch") + 1)
    person.refresh_from_db(fields=["session_epoch"])
    if keep is not None:
        keep[HASH_SESSION_KEY] = person.get_session_auth_hash()
        keep.save()
    audit.record(actor, "sessions.ended", object_id=person.id)
    publish_rights_changed(person.id)
