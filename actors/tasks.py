"""Celery tasks that send mails. They are retried on `OSError`, the base class of errors of a mail server."""

from uuid import UUID

from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from celery import shared_task

from actors import mails
from actors import services as actors
from actors.models import Actor


@shared_task(autoretry_for=(OSError,), retry_backoff=5, max_retries=5)
def send_reset_link(email: str, web_app_url: str, language: str) -> None:
    """Send a link for a new password, if a person has this email."""
    actors.send_reset_link(email=email, web_app_url=web_app_url, language=language)


@shared_task(autoretry_for=(OSError,), retry_backoff=5, max_retries=5)
def send_password_notice(actor_id: str, language: str, by_link: bool = False) -> None:
    """Notify a person that their password was changed, because another person may have changed it."""
    person = Actor.people.get(pk=UUID(actor_id))
    mails.send(person, "changed_by_link" if by_link else "changed", language, name=person.name)


@shared_task(autoretry_for=(OSError,), retry_backoff=5, max_retries=5)
def send_email_change(change_id: str, web_app_url: str, language: str) -> None:
    """Send a link for confirmation to the new email of a person."""
    actors.send_email_change(change_id=UUID(change_id), web_app_url=web_app_url, language=language)


@shared_task(autoretry_for=(OSError,), retry_backoff=5, max_retries=5)
def send_email_change_notice(actor_id: str, language: str) -> None:
    """Notify a person at their present email that it is about to change, because another person may have started this."""
    person = Actor.people.get(pk=UUID(actor_id))
    mails.send(person, "email_change_notice", language, name=person.name)


@shared_task(autoretry_for=(OSError,), retry_backoff=5, max_retries=5)
def send_email_changed_notice(actor_id: str, old: str) -> None:
    """Notify a person at their old email that it was changed."""
    person = Actor.people.get(pk=UUID(actor_id))
    mails.send(person, "email_changed", "", to=old, name=person.name)


@shared_task(autoretry_for=(OSError,), retry_backoff=5, max_retries=5)
def send_confirmation(email_address_id: int, web_app_url: str, language: str) -> None:
    """Send a link that confirms the email of a new account."""
    unconfirmed = EmailAddress.objects.select_related("user").get(pk=email_address_id)
    link = f"{web_app_url}/confirm-email/{EmailConfirmationHMAC(unconfirmed).key}"
    mails.send(unconfirmed.user, "confirm", language, to=unconfirmed.email, link=link)


@shared_task(autoretry_for=(OSError,), retry_backoff=5, max_retries=5)
def send_account_exists_notice(email: str, language: str) -> None:
    """Notify a person that their email was used for another sign-up."""
    person = Actor.people.filter(email__iexact=email, is_active=True).first()
    if person is not None:
        mails.send(person, "exists", language)
