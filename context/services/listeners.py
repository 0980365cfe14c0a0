"""The listeners of context on the hooks of the apps above it."""

import logging
from collections.abc import Sequence
from typing import Any, Protocol
from uuid import UUID

from django.db import DatabaseError, transaction

from context.services.summaries import continue_summary, fail_summary, repeat_with_less, store_summary

logger = logging.getLogger(__name__)


class EndedRun(Protocol):
    """What a summary needs of the run that wrote it. `stamp` names the model; `input` is that of the job."""

    id: UUID
    kind: str
    state: str
    answer: str
    error_code: str
    stamp: Any
    input: Any
    on_behalf_of: Any


def finish_summaries(runs: Sequence[EndedRun]) -> None:
    """Store the answers of jobs that wrote summaries of chats, or their errors, and start the next jobs if messages are left. A
    listener of `runs_ended`."""
    for run in runs:
        if run.kind == "chat_summary":
            _finish_summary(run)


def _finish_summary(job: EndedRun) -> None:
    until = job.input["input"].get("until", 0)
    if job.state != "completed":
        fail_summary(job.id, job.error_code or job.state)
        if job.error_code == "context_too_long" and job.on_behalf_of is not None:
            repeat_with_less(job.id, job.on_behalf_of, until)
        return
    try:
        with transaction.atomic():
            store_summary(job.id, job.answer, (job.stamp or {}).get("model", ""))
        if job.on_behalf_of is not None:
            with transaction.atomic():  # of its own: what is stored stays if no further job can start
                continue_summary(job.id, job.on_behalf_of, until)
    except (DatabaseError, MemoryError):
        raise
    except Exception:
        logger.exception("The summary of the job %s cannot be stored.", job.id)
        fail_summary(job.id, "internal")
