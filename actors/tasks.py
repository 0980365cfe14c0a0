"""Celery tasks: mails, which nobody waits for. A mail server may be away for a while; its errors are kinds of OSError."""

from uuid import UUID

from celery import shared_task

from actors import mails
from actors import services as actors
from actors.models import Actor


@shared_task(autoretry_for=(OSError,), retry_backoff=5, max_retries=5)
def send_reset_link(email: str, address: str, language: str) -> None:
    """Send a link for a new password, if somebody has this address."""
    actors.send_reset_link(email=email, address=address, language=language)


@shared_task(autoretry_for=(OSError,), retry_backoff=5, max_retries=5)
def tell_of_new_password(actor_id: str, language: str) -> None:
    """Tell a person that their password was changed: it may not have been they."""
    person = Actor.people.get(pk=UUID(actor_id))
    mails.send(person, "changed", language, name=person.name)
