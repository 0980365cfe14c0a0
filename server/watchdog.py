"""End a Celery worker that receives no tasks any more, so that it is started again (RUN5).

After its connection to Redis broke, Celery's consumer may wait for ever for an answer that does not come, in a process that
looks healthy. The watchdog checks progress instead: tasks wait in the queues, and this worker receives none.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import redis
from celery.signals import task_postrun, task_received

from server.health import build_probe_client

logger = logging.getLogger(__name__)

QUEUES = ("runs", "work")


class Watchdog:
    """A thread that calls `leave` when tasks have waited for `patience` seconds and this worker has received none."""

    def __init__(self, patience: float, leave: Callable[[], None]) -> None:
        self._patience = patience
        self._leave = leave
        self._stopped = threading.Event()
        self._received_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        task_received.connect(self._note_task)
        task_postrun.connect(self._note_task)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _note_task(self, **kwargs: Any) -> None:
        self._received_at = time.monotonic()

    def _run(self) -> None:
        server = build_probe_client()
        while not self._stopped.wait(self._patience / 10):
            try:
                are_waiting = any(server.llen(queue) for queue in QUEUES)
            except redis.RedisError:
                # No worker can receive anything now: the time starts again when Redis is back.
                are_waiting = False
            if not are_waiting:
                self._received_at = time.monotonic()
            elif time.monotonic() - self._received_at > self._patience:
                logger.critical(
                    "Tasks wait in Redis and this worker has received none for %.0f s: ending.", self._patience
                )
                self._leave()
                return
