"""Viewings: an operator views as a person."""

from datetime import timedelta

from django.contrib.sessions.backends.base import SessionBase

from actors.models import VIEWING_KEY, Actor, Viewing
from common.clock import now


def make_viewing(
    operator: Actor, person: Actor, session: SessionBase | None = None, *, minutes: int = 30, reason: str = "Ticket 7"
) -> Viewing:
    """Create a viewing, started in this session if one is given. With negative `minutes` its time is over."""
    at = now()
    viewing = Viewing.objects.create(
        operator=operator, person=person, reason=reason, started_at=at, ends_at=at + timedelta(minutes=minutes)
    )
    if session is not None:
        session[VIEWING_KEY] = str(viewing.pk)
        session.save()
    return viewing
