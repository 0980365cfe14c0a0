"""Setting passwords, by the old password or by a link that is mailed or that an operator creates."""

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
from events.publish import publish_rights_changed

logger = logging.getLogger(__name__)


def check_password(person: Actor, password: str) -> None:
    """Check the password of a person. Raises `Invalid` (`wrong_password`). Views must limit the number of attempts."""
    if not person.check_password(password):
        raise Invalid("This is not your password.", code=Code.WRONG_PASSWORD)


@transaction.atomic
def set_password(person: Actor, password: str, *, by_link: bool = False, language: str = "") -> bool:
    """Set a new password and notify the person by mail. Return false if nothing was changed.

    Sessions and sockets of the old password end at once, and an unconfirmed email change is deleted. With `by_link` the
    old password was not given, so another person may know it: API tokens are revoked as well. The email becomes confirmed,
    because the link was mailed to it, or an operator handed it over. `language` is for a person who has chosen none.

    Nothing is changed if the account is closed, or if the stored password or email is no longer that of `person`. So a
    link works once, and not after a change of the email.
    """
    new_hash = make_password(password)
    unchanged = Actor.people.filter(pk=person.pk, is_active=True, password=person.password, email=person.email)
    if not unchanged.update(password=new_hash):
        return False
    person.password = new_hash
    EmailChange.objects.filter(person=person).delete()
    if by_link:
        revoke_tokens(person, person.pk)
        set_verified_email(person)
    audit.record(person, "password.changed", object_id=person.id, by_link=by_link)
    publish_rights_changed(person.id)
    arguments = [str(person.pk), language, by_link]
    transaction.on_commit(lambda: current_app.send_task("actors.tasks.send_password_notice", arguments), robust=True)
    return True


def set_verified_email(person: Actor) -> None:
    """Make the person's email their only confirmed one in allauth's table."""
    EmailAddress.objects.filter(user=person).exclude(email=person.email).delete()
    EmailAddress.objects.update_or_create(user=person, email=person.email, defaults={"primary": True, "verified": True})


def create_reset_link(person: Actor, *, web_app_url: str, operator: Actor | None = None) -> str:
    """Return a URL by which the person can set a new password once, within `PASSWORD_RESET_TIMEOUT` seconds.

    The link is not stored. It becomes invalid with the next sign-in, new password or new email. `operator` is the creator for the
    audit trail; null if the person or `manage.py reset_link` asks for it. Raises `Invalid` for an agent or a closed account.
    """
    if not person.is_human or not person.is_active:
        raise Invalid(gettext("Only people with an open account have a password."))
    audit.record(operator, "password.link_made", object_id=person.id)
    return f"{web_app_url}/reset-password/{person.pk.hex}-{default_token_generator.make_token(person)}"


def enqueue_reset_link(*, email: str, web_app_url: str, language: str) -> None:
    """Enqueue `send_reset_link`. Raises kombu's `OperationalError` while Redis is down."""
    current_app.send_task("actors.tasks.send_reset_link", [email, web_app_url, language], retry=False)


def send_reset_link(*, email: str, web_app_url: str, language: str) -> None:
    """Mail a reset link to the person with this email address, if there is one.

    A worker runs this, so that the response to the request takes the same time for every email (SEC21). `language` is that
    of the request, for a person who has chosen none.
    """
    person = Actor.people.filter(email__iexact=email, is_active=True).first()
    if person is None:
        logger.info("A new password was requested for an email that has no open account")
        return
    link = create_reset_link(person, web_app_url=web_app_url)
    hours = settings.PASSWORD_RESET_TIMEOUT // 3600
    mails.send(person, "reset", language, link=link, hours=hours)
