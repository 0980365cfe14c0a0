"""Where a person is signed in."""

from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.db.models import F

from actors.models import Actor
from events import audit
from events.publish import rights_changed


def end_sessions(person: Actor, *, but: SessionBase | None = None, by: Actor | None = None) -> None:
    """Sign them out everywhere at once, sockets too, but for the session in hand. API tokens go on.

    Call it in a transaction. `by`: the operator who does it, for the record; null: they do it themselves.
    """
    Actor.objects.filter(pk=person.pk).update(session_epoch=F("session_epoch") + 1)
    person.refresh_from_db(fields=["session_epoch"])
    if but is not None:
        but[HASH_SESSION_KEY] = person.get_session_auth_hash()
        but.save()
    audit.record(by or person, "sessions.ended", object_id=person.id)
    rights_changed(person.id)
