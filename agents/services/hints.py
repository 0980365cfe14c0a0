"""Telling workers that a run waits. A hint and no more: the row is the truth, and the sweeper finds what no hint reached."""

import logging
import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from uuid import UUID

from celery import current_app
from django.db import transaction
from kombu import Connection
from kombu.exceptions import ChannelError, LimitExceeded, OperationalError
from kombu.pools import producers
from redis import RedisError

from agents.models import Run

logger = logging.getLogger(__name__)

PAUSE = 2.0
"""Seconds that no hint is tried after Redis did not take one, so that requests do not each wait for it."""

_down_until = 0.0


def hint(run: Run) -> None:
    """On commit: a worker is told that this run waits, unless it joined one that waits already."""
    transaction.on_commit(lambda: None if run.is_joined else send_hints([run.id]), robust=True)


def hint_lane(lane: str) -> None:
    """On commit: a worker is told of the next run of this lane, if there is one."""
    transaction.on_commit(
        lambda: send_hints(Run.objects.filter(lane=lane, state="queued").values_list("pk", flat=True)[:1])
    )


def send_hints(run_ids: Iterable[UUID]) -> bool:
    """Tell workers at once; false when Redis did not take it. Never raises: what is stored must not fail by it (B4)."""
    return tell_workers("agents.tasks.run_agent", ([str(run_id)] for run_id in run_ids))


def tell_workers(task: str, calls: Iterable[list[Any]]) -> bool:
    """Send a task once for each list of arguments. False, and soon, when Redis did not take it; never raises."""
    global _down_until
    if time.monotonic() < _down_until:
        return False
    try:
        with producers[_broker()].acquire(block=True, timeout=1.0) as producer:
            for arguments in calls:
                current_app.send_task(task, arguments, producer=producer, retry=False)
    except (OperationalError, ChannelError, LimitExceeded, RedisError, OSError) as error:
        _down_until = time.monotonic() + PAUSE
        logger.warning("No worker could be told of %s: %s", task, error)
        return False
    return True


@lru_cache(maxsize=1)
def _broker() -> Connection:
    """The broker, for hints: it must answer soon, where Celery's own connection would wait and try for ever."""
    soon = {
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0,
        "socket_connect_timeout": 0.5,
        "socket_timeout": 1.0,
    }
    options = current_app.conf.broker_transport_options | soon
    return current_app.connection_for_write(transport_options=options)
