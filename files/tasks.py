"""Celery tasks: load by id, call one service."""

from uuid import UUID

from celery import shared_task

from files import services as files


@shared_task
def read_file_contents(file_id: str) -> None:
    """Read the text of a file, and make its thumbnail."""
    files.read_contents(UUID(file_id))
