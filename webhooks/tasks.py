"""Celery tasks: load by id, call one service."""

from uuid import UUID

from celery import shared_task

from webhooks import services as webhooks


@shared_task
def deliver_due() -> None:
    """Post the deliveries that are due."""
    while webhooks.deliver_due():
        pass


@shared_task
def delete_old_wakes() -> None:
    """Delete old wakes and deliveries."""
    webhooks.delete_old_wakes()


@shared_task
def deliver(delivery_id: str) -> None:
    """Post one delivery now."""
    webhooks.deliver(UUID(delivery_id))
