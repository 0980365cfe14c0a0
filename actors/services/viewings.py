"""Viewings: an operator sees the web app as a person sees it, for a stated reason and a limited time, and can change nothing."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from actors.models import VIEWING_KEY, Actor, Viewing
from actors.operators import check_may_manage
from actors.rates import throttle
from actors.services.passwords import check_password
from common.clock import now
from common.errors import Invalid
from common.operators import get_for_operator
from events import audit
from events.publish import publish_rights_changed


@transaction.atomic
def start_viewing(operator: Actor, person_id: UUID, *, session: SessionBase, reason: str, password: str) -> Viewing:
    """Let this session of an operator see the web app as a person, for `VIEWING_MINUTES`. Another viewing of the operator ends.

    Raises `NotFound`, `Forbidden`, `LimitReached`, and `Invalid`: without a reason, with a wrong `password` of the operator, for an
    agent, a closed account, or the operator's own.
    """
    person = get_for_operator(operator, Actor, person_id)
    check_may_manage(operator, person)
    if not person.is_human or not person.is_active or person.pk == operator.pk:
        raise Invalid(gettext("Choose another person, whose account is open."))
    reason = " ".join(reason.split())[:400]
    if not reason:
        raise Invalid(gettext("Give a reason."))
    throttle(("passwords", operator.pk))
    check_password(operator, password)

    # The lock makes a second start of the same operator wait for the first.
    Actor.objects.select_for_update(no_key=True).get(pk=operator.pk)
    end_viewings_of(operator, operator)
    started_at = now()
    viewing = Viewing.objects.create(
        operator=operator,
        person=person,
        reason=reason,
        started_at=started_at,
        ends_at=started_at + timedelta(minutes=settings.VIEWING_MINUTES),
    )
    session[VIEWING_KEY] = str(viewing.pk)
    audit.record(
        operator,
        "viewing.started",
        object_id=person.id,
        viewing=str(viewing.pk),
        reason=reason,
        start=viewing.started_at.isoformat(),
        until=viewing.ends_at.isoformat(),
    )
    return viewing


@transaction.atomic
def end_viewing(operator: Actor, viewing_id: UUID) -> Viewing:
    """End a viewing, one's own or that of another operator. Its sockets close at once. Raises `NotFound`, `Forbidden`."""
    viewing = get_for_operator(operator, Viewing, viewing_id)
    _end_viewings(Q(pk=viewing.pk), operator)
    viewing.refresh_from_db()
    return viewing


@transaction.atomic
def end_viewings_of(person: Actor, actor: Actor | None) -> None:
    """End the viewings that a person has started as an operator, and those in which another operator views as the person.

    `actor` is stored as the person who ended them (`ended_by`); null for a command.
    """
    _end_viewings(Q(operator=person) | Q(person=person), actor)


@transaction.atomic
def end_expired_viewings() -> int:
    """Record the end of the viewings whose time is over. They have no effect since then. Return their number."""
    return _end_viewings(Q(ends_at__lte=now()), None)


def _end_viewings(condition: Q, actor: Actor | None) -> int:
    """End the viewings that fulfil the condition and have not ended. Return their number."""
    viewings = list(Viewing.objects.filter(condition, ended_at=None).select_for_update().order_by("pk"))
    for viewing in viewings:
        viewing.ended_at = min(now(), viewing.ends_at)
        viewing.ended_by = actor if now() < viewing.ends_at else None
        viewing.save(update_fields=["ended_at", "ended_by"])
        audit.record(
            viewing.operator,
            "viewing.ended",
            object_id=viewing.person_id,
            viewing=str(viewing.pk),
            reason=viewing.reason,
            start=viewing.started_at.isoformat(),
            until=viewing.ended_at.isoformat(),
            ended_by=str(viewing.ended_by_id) if viewing.ended_by_id else "time limit",
        )
        publish_rights_changed(viewing.operator_id)
    return len(viewings)
