"""Telling workers that a run waits. A hint and no more: the row is the truth, and the sweeper finds what no hint reached."""

import json
import logging
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid4

from celery import current_app
from django.db import transaction
from kombu import Connection
from kombu.exceptions import ChannelError, LimitExceeded, OperationalError
from kombu.pools import producers
from redis import RedisError

from agents.models import Run
from events.wire import wire

logger = logging.getLogger(__name__)

QUEUE = "runs"
TASK = "agents.tasks.run_agent"
ANY, BODY, TAG = "any-run", "its-body", "its-tag"
"""What stands in a message that is written once for what is each one's own."""

PAUSE = 2.0
"""Seconds that nothing is tried after Redis did not take one, so that requests do not each wait for it."""

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
    messages = [_message(str(run_id)) for run_id in run_ids]
    return not messages or wire.ask(lambda client: bool(client.lpush(QUEUE, *messages)), False)


def _message(run_id: str) -> str:
    message, body = _written()
    packed = b64encode(body.replace(ANY, run_id).encode()).decode()
    return message.replace(BODY, packed).replace(TAG, str(uuid4())).replace(ANY, run_id)


@lru_cache(maxsize=1)
def _written() -> tuple[str, str]:
    """What Celery and kombu write for a run that stands for any: the message, and its body, which is packed inside.

    They write it once: to have them do so for each takes more CPU than storing a message (docs/performance.md).
    """
    with Connection("memory://") as connection, connection.Producer() as producer:
        current_app.send_task(TASK, [ANY], task_id=ANY, producer=producer, retry=False)
        channel: Any = connection.default_channel
        message = channel._get(QUEUE)
    body = b64decode(message["body"]).decode()
    return json.dumps(message | {"body": BODY, "properties": message["properties"] | {"delivery_tag": TAG}}), body


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
