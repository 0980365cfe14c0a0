"""Passwords: set anew with the old one or by a link, which a mail or an operator brings."""

import logging

from allauth.account.models import EmailAddress
from celery import current_app
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.utils.translation import gettext

from actors import mails
from actors.models import Actor, EmailChange
from actors.services.tokens import revoke_tokens
from common.errors import Code, Invalid
from events import audit
from events.publish import notify_rights_changed

logger = logging.getLogger(__name__)


def check_password(person: Actor, password: str) -> None:
    """Raise `Invalid` (`wrong_password`) unless this is the person's password. Views that ask for it limit how often."""
    if not person.check_password(password):
        raise Invalid("This is not your password.", code=Code.WRONG_PASSWORD)


@transaction.atomic
def set_password(person: Actor, password: str, *, by_link: bool = False, language: str = "") -> bool:
    """Set a new password: sessions and sockets under the old one end at once, and so does a change of address that is
    not confirmed. A mail tells the person, in `language` when they have chosen none.

    `by_link`: the old password was not given, so somebody else may know it: API tokens end, too. The address counts as
    confirmed, because the link was mailed there.

    False, and nothing is done, when password or address in `person` are not the stored ones any more, so that of two links
    or two clicks one counts, and none that was mailed to an address of before; or when the account is closed.
    """
    fresh = make_password(password)
    unchanged = Actor.people.filter(pk=person.pk, is_active=True, password=person.password, email=person.email)
    if not unchanged.update(password=fresh):
        return False
    person.password = fresh
    EmailChange.objects.filter(person=person).delete()
    if by_link:
        revoke_tokens(person, person.pk)
        set_verified_address(person)
    audit.record(person, "password.changed", object_id=person.id, by_link=by_link)
    notify_rights_changed(person.id)
    arguments = [str(person.pk), language, by_link]
    transaction.on_commit(lambda: current_app.send_task("actors.tasks.send_password_notice", arguments), robust=True)
    return True


def set_verified_address(person: Actor) -> None:
    """Make the person's address the only one that allauth knows of them, and a confirmed one."""
    EmailAddress.objects.filter(user=person).exclude(email=person.email).delete()
    EmailAddress.objects.update_or_create(user=person, email=person.email, defaults={"primary": True, "verified": True})


def create_reset_link(person: Actor, *, address: str, by: Actor | None = None) -> str:
    """A link by which this person sets a new password, once, within `PASSWORD_RESET_TIMEOUT` seconds.

    Not kept anywhere: it dies with the next sign-in or new password. `by`: the operator who makes it, for the record;
    null: the person asked. `address` is where the web app is reached. Raises `Invalid` for whoever cannot sign in.
    """
    if not person.is_human or not person.is_active:
        raise Invalid(gettext("Only people with an open account have a password."))
    audit.record(by, "password.link_made", object_id=person.id)
    return f"{address}/reset-password/{person.pk.hex}-{default_token_generator.make_token(person)}"


def enqueue_reset_link(*, email: str, address: str, language: str) -> None:
    """Have a worker do what `send_reset_link` does. Raises `OperationalError` of kombu while Redis is away."""
    current_app.send_task("actors.tasks.send_reset_link", [email, address, language], retry=False)


def send_reset_link(*, email: str, address: str, language: str) -> None:
    """Send a link to whoever has this address; to nobody when nobody has. Runs in a worker, so that the answer to who
    asks takes the same time for every address (SEC21). `language` is of who asks, for a person who has chosen none.
    """
    person = Actor.people.filter(email__iexact=email, is_active=True).first()
    if person is None:
        logger.info("A new password was asked for by an address that has no open account")
        return
    link = create_reset_link(person, address=address)
    hours = settings.PASSWORD_RESET_TIMEOUT // 3600
    mails.send(person, "reset", language, name=person.name, link=link, hours=hours)
