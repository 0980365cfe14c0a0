"""Celery tasks: load by id, call one service."""

from contextlib import suppress
from uuid import UUID

from celery import shared_task

from common.errors import Unavailable
from common.tasks import send_task_now
from workspaces import services as workspaces


@shared_task
def purge_workspace(workspace_id: str) -> None:
    """Delete a batch of the content of a deleted workspace, and send the task of the next batch."""
    with suppress(Unavailable):  # the sweeper sends it again
        if workspaces.purge_workspace(UUID(workspace_id)):
            send_task_now(workspaces.PURGE_TASK, [workspace_id])


@shared_task
def resume_purges() -> None:
    """Send the task of each workspace whose content is to be purged."""
    workspaces.resume_purges()
