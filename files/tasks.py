"""Celery tasks: load by id, call one service."""

from celery import shared_task

from common.tasks import send_task_now
from files import services as files


@shared_task
def delete_orphaned_content(after: str = "") -> None:
    """Delete a batch of the content whose row is gone, and send the task of the next batch."""
    next_after = files.delete_orphaned_content(after)
    if next_after is not None:
        send_task_now("files.tasks.delete_orphaned_content", [next_after])
