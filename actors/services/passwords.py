"""Passwords: set anew with the old one or by a link, which a mail or an operator brings."""

import logging

from celery import current_app
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction

from actors import mails
from actors.models import Actor
from common.errors import Invalid
from events import audit
from events.publish import rights_changed

logger = logging.getLogger(__name__)


@transaction.atomic
def set_password(person: Actor, password: str, *, language: str = "") -> bool:
    """Set a new password: sessions and sockets under the old one end at once; API tokens go on. A mail tells the person,
    in `language` when they have chosen none.

    False, and nothing is done, when the password in `person` is not the stored one any more, so that of two links or
    two clicks one counts; or when the account is closed.
    """
    fresh = make_password(password)
    unchanged = Actor.people.filter(pk=person.pk, is_active=True, password=person.password)
    if not unchanged.update(password=fresh):
        return False
    person.password = fresh
    audit.record(person, "password.changed", object_id=person.id)
    rights_changed(person.id)
    arguments = [str(person.pk), language]
    transaction.on_commit(lambda: current_app.send_task("actors.tasks.tell_of_new_password", arguments), robust=True)
    return True


def make_reset_link(person: Actor, *, address: str, by: Actor | None = None) -> str:
    """A link by which this person sets a new password, once, within `PASSWORD_RESET_TIMEOUT` seconds.

    Not kept anywhere: it dies with the next sign-in or new password. `by`: the operator who makes it, for the record;
    null: the person asked. `address` is where the web app is reached. Raises `Invalid` for whoever cannot sign in.
    """
    if not person.is_human or not person.is_active:
        raise Invalid("Only people with an open account have a password.")
    audit.record(by, "password.link_made", object_id=person.id)
    return f"{address}/reset-password/{person.pk.hex}-{default_token_generator.make_token(person)}"


def ask_for_reset_link(*, email: str, address: str, language: str) -> None:
    """Have a worker do what `send_reset_link` does. Raises `OperationalError` of kombu while Redis is away."""
    current_app.send_task("actors.tasks.send_reset_link", [email, address, language], retry=False)


def send_reset_link(*, email: str, address: str, language: str) -> None:
    """Send a link to whoever has this address; to nobody when nobody has. Runs in a worker, so that the answer to who
    asks takes the same time for every address (D21). `language` is of who asks, for a person who has chosen none.
    """
    person = Actor.people.filter(email__iexact=email, is_active=True).first()
    if person is None:
        logger.info("A new password was asked for by an address that has no open account")
        return
    link = make_reset_link(person, address=address)
    hours = settings.PASSWORD_RESET_TIMEOUT // 3600
    mails.send(person, "reset", language, name=person.name, link=link, hours=hours)
