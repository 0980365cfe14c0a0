"""Changing and confirming the email address of a person. A new one is used after its owner has opened the mailed link."""

import secrets
from datetime import timedelta
from uuid import UUID

from allauth.account.models import EmailConfirmationHMAC
from celery import current_app
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.http import HttpRequest

from actors import mails
from actors.models import Actor, EmailChange
from actors.services.passwords import check_password, set_verified_email
from common.clock import now
from common.errors import Code, Conflict, Invalid, NotFound, Unavailable
from common.secrets import hash_secret
from common.tasks import send_task_now
from events import audit
from events.publish import publish_list_changed, publish_rights_changed

KEY_PREFIX = "c-"
"""The prefix of the keys of email changes. allauth creates the keys of new accounts."""

LINK_LIFETIME_HOURS = 24


def start_email_change(actor: Actor, *, email: str, password: str, web_app_url: str, language: str) -> EmailChange:
    """Start to change the email address of a person: mail a link to the new one and a notice to the old one.

    An earlier change ends. The result does not reveal whether another person has the new email. `language` is for
    a person who has chosen none. Raises `Invalid` (also `wrong_password`), and `Unavailable` if the mails cannot be enqueued;
    no change is under way then, not even the earlier one.
    """
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError as error:
        raise Invalid("This is no email address.") from error
    with transaction.atomic():
        person = Actor.people.select_for_update(no_key=True).get(pk=actor.pk)
        check_password(person, password)
        if email == person.email:
            raise Invalid("This is your email already.")
        EmailChange.objects.filter(person=person).delete()
        change = EmailChange.objects.create(
            person=person, email=email, created_at=now(), expires_at=now() + timedelta(hours=LINK_LIFETIME_HOURS)
        )
        audit.record(person, "email.change_started", object_id=person.id)
    try:
        # Not on commit, because the change is deleted if the mails cannot be enqueued.
        send_task_now("actors.tasks.send_email_change_notice", [str(actor.pk), language])
        send_task_now("actors.tasks.send_email_change", [str(change.pk), web_app_url, language])
    except Unavailable:
        EmailChange.objects.filter(pk=change.pk).delete()
        raise
    publish_list_changed([actor.id], "me")
    return change


def send_email_change(*, change_id: UUID, web_app_url: str, language: str) -> None:
    """Mail the link of an email change to the new email, unless another account has it.

    A worker runs this and creates the key, so that the key is in the mail only.
    """
    change = EmailChange.objects.select_related("person").filter(pk=change_id).first()
    if change is None or Actor.people.filter(email__iexact=change.email).exists():
        return
    key = KEY_PREFIX + secrets.token_urlsafe(24)
    EmailChange.objects.filter(pk=change_id).update(digest=hash_secret(key))
    link = f"{web_app_url}/confirm-email/{key}"
    mails.send(change.person, "email_change", language, to=change.email, link=link, hours=LINK_LIFETIME_HOURS)


@transaction.atomic
def cancel_email_change(actor: Actor) -> None:
    """Cancel an email change: its link becomes invalid. Does nothing if there is no change."""
    if EmailChange.objects.filter(person=actor).delete()[0]:
        audit.record(actor, "email.change_cancelled", object_id=actor.id)
        publish_list_changed([actor.id], "me")


def confirm_email(*, key: str, request: HttpRequest) -> Actor:
    """Confirm the email address of a new account, or the new address of an email change, by the key of the mailed link.

    Raises `NotFound` (`link_dead`), `Conflict` (`email_taken`).
    """
    try:
        with transaction.atomic():
            return _confirm_change(key) if key.startswith(KEY_PREFIX) else _confirm_new_account(key, request)
    except IntegrityError as error:
        raise Conflict("Somebody else has this email by now.", code=Code.EMAIL_TAKEN) from error


def _confirm_new_account(key: str, request: HttpRequest) -> Actor:
    confirmation = EmailConfirmationHMAC.from_key(key)
    confirmed = confirmation.confirm(request) if confirmation is not None else None
    if confirmed is None:
        raise _build_dead_link_error()
    person: Actor = confirmed.user
    audit.record(person, "email.confirmed", object_id=person.id)
    return person


def _confirm_change(key: str) -> Actor:
    found = EmailChange.objects.filter(digest=hash_secret(key)).first()
    if found is None:
        raise _build_dead_link_error()
    # The person is locked before the change is read again, because a new password or a newer change deletes the change, and
    # locks the person as well.
    person = Actor.people.select_for_update(no_key=True).filter(pk=found.person_id, is_active=True).first()
    change = EmailChange.objects.filter(digest=hash_secret(key), expires_at__gt=now()).first()
    if person is None or change is None:
        raise _build_dead_link_error()
    old, person.email = person.email, change.email
    person.save(update_fields=["email"])
    change.delete()
    set_verified_email(person)
    audit.record(person, "email.changed", object_id=person.id, old=old, new=person.email)
    publish_rights_changed(person.id)
    publish_list_changed([person.id], "me")
    arguments = [str(person.pk), old]
    transaction.on_commit(
        lambda: current_app.send_task("actors.tasks.send_email_changed_notice", arguments), robust=True
    )
    return person


def _build_dead_link_error() -> NotFound:
    return NotFound("This link does not work any more.", code=Code.LINK_DEAD, hints=["Ask for a new one."])
