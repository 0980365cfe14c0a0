"""Celery tasks: load by id, call one service."""

from uuid import UUID

from celery import shared_task

from common.tasks import send_task_now
from publishing import services as publishing


@shared_task
def update_chats(agent_id: str, version: int | None = None, after: str | None = None) -> None:
    """Bring a batch of the chats of a public agent up to date, and send the task of the next batch."""
    last = publishing.update_chats(UUID(agent_id), version, UUID(after) if after else None)
    if last is not None:
        send_task_now("publishing.tasks.update_chats", [agent_id, version, str(last)])


@shared_task
def finish_takedowns() -> None:
    """Post the lines of recent takedowns that are missing."""
    publishing.finish_takedowns()
