"""Celery tasks: load by id, call one service."""

from uuid import UUID

from celery import shared_task

from common.tasks import send_task_now
from publishing import services as publishing


@shared_task
def continue_update(update_id: str) -> None:
    """Bring the next chats and people up to date with a public agent, and send the task of the next batch."""
    if publishing.continue_update(UUID(update_id)):
        send_task_now(publishing.UPDATE_TASK, [update_id])


@shared_task
def resume_updates() -> None:
    """Send the tasks of updates that were not finished."""
    publishing.resume_updates()


@shared_task
def count_use() -> None:
    """Count how much public agents are used."""
    publishing.count_use()
