"""Celery tasks: load by id, call one service."""

from uuid import UUID

from celery import shared_task

from context import services as context


@shared_task
def summarise_chat(chat_id: str, person_id: str, budget: int) -> None:
    """Start the job that continues the summary of a chat, if enough messages are in no summary yet."""
    context.start_due_summary(UUID(chat_id), UUID(person_id), budget=budget)
