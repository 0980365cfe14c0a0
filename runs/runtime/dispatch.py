"""Send the ids of queued runs to the workers, through a list in Redis that the event loop of each engine reads.

What is sent may be lost, late or sent twice: the run's row is the truth, and the sweeper finds a run that no worker received.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import cast
from uuid import UUID

from django.db import transaction
from pydantic import BaseModel, Field

from common.redis_client import build_subscription_client, receive_for_ever, redis_client
from runs.models import Run, RunState

logger = logging.getLogger(__name__)

QUEUE = "queued-runs"
"""The list in Redis."""
READ_SECONDS = 5
"""Seconds after which a read that got nothing is sent again."""


class DispatchedRuns(BaseModel):
    """The ids of runs that a worker is to claim: one run, or the new runs of one caller. `chat_id`: the chat of the run, if it was
    sent before it was committed."""

    run_ids: list[UUID] = Field(min_length=1)
    chat_id: UUID | None = None


def dispatch_before_commit(chat_id: UUID, runs: Sequence[Run]) -> None:
    """Send new runs of a chat now, so that a worker receives them before they are committed. To claim such a run, it locks the
    chat, and so waits for the commit."""
    _send(DispatchedRuns(run_ids=[run.id], chat_id=chat_id) for run in runs)


def dispatch_run(run: Run) -> None:
    """Send a run that is queued again, or whose kind is not dispatched before the commit. It is sent on commit."""
    transaction.on_commit(lambda: send_runs([run.id]), robust=True)


def dispatch_siblings(runs: Sequence[Run]) -> None:
    """Send the new runs of one caller or board on commit, so that a worker claims them together."""
    if runs:
        transaction.on_commit(lambda: send_siblings([run.id for run in runs if run.is_stored]), robust=True)


def dispatch_next_run(concurrency_key: str) -> None:
    """Send the queued run of this concurrency key on commit, if there is one."""
    queued = Run.objects.filter(concurrency_key=concurrency_key, state=RunState.QUEUED)
    transaction.on_commit(lambda: send_runs(queued.values_list("pk", flat=True)[:1]), robust=True)


def send_runs(run_ids: Iterable[UUID]) -> bool:
    """Send each of these runs now. Return false when Redis cannot be reached; do not raise (RUN4)."""
    return _send(DispatchedRuns(run_ids=[run_id]) for run_id in run_ids)


def send_siblings(run_ids: Sequence[UUID]) -> bool:
    """Send runs of one caller now, as one item. Return false when Redis cannot be reached; do not raise (RUN4)."""
    return not run_ids or _send([DispatchedRuns(run_ids=list(run_ids))])


def receive_runs() -> AsyncGenerator[DispatchedRuns, None]:
    """Yield what is sent to workers, for ever (`receive_for_ever`)."""
    return receive_for_ever(_receive, "the list of queued runs")


async def _receive() -> AsyncGenerator[DispatchedRuns, None]:
    async with build_subscription_client(f"runs-{os.getpid()}") as client:
        while True:
            # A dead connection is noticed, although a read may wait for ever: Redis answers in time, also without an item.
            async with asyncio.timeout(2 * READ_SECONDS):
                received = await client.brpop([QUEUE], READ_SECONDS)
            if received is None:
                continue
            try:
                yield DispatchedRuns.model_validate_json(cast(bytes, received[1]))
            except ValueError:
                logger.warning("An item in the list of queued runs is not one of ours.")


def _send(dispatched: Iterable[DispatchedRuns]) -> bool:
    items = [each.model_dump_json(exclude_none=True) for each in dispatched]
    return not items or redis_client.call(lambda client: bool(client.lpush(QUEUE, *items)), False)
