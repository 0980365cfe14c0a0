"""Celery tasks: load by id, call one service. Deliveries are posted on the engine of the worker, so that no thread of Celery, which
also starts runs, waits for the server of a tenant."""

from functools import partial
from uuid import UUID

from celery import shared_task

from webhooks import services as webhooks
from worker.engine import get_engine


@shared_task
def deliver_due() -> None:
    """Start to post the deliveries that are due. Do not wait for it."""
    if engine := get_engine():
        engine.run_soon(webhooks.deliver_due, name="deliveries to webhooks")


@shared_task
def delete_old_wakes_and_deliveries() -> None:
    """Delete old wakes and deliveries."""
    webhooks.delete_old_wakes_and_deliveries()


@shared_task
def deliver(delivery_id: str) -> None:
    """Start to post one delivery now. Do not wait for it."""
    if engine := get_engine():
        engine.run_soon(partial(webhooks.deliver, UUID(delivery_id)), name=f"delivery {delivery_id}")
