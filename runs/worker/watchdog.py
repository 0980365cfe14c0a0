"""Notices that this worker has gone deaf, and ends it so that it is started again (B5).

After a broken connection to Redis Celery's consumer may wait for ever for an answer that will not come, in a process that
looks well. What counts is progress: tasks lie in the queues for a minute, and none has come here.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import redis
from celery.signals import task_postrun, task_received

from server.health import connect

logger = logging.getLogger(__name__)

QUEUES = ("runs", "work")


class Watchdog:
    """A thread that compares what waits with what comes. `patience` is seconds; `leave` ends the process."""

    def __init__(self, patience: float, leave: Callable[[], None]) -> None:
        self._patience = patience
        self._every = patience / 10
        self._leave = leave
        self._over = threading.Event()
        self._heard = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        task_received.connect(self._hear)
        task_postrun.connect(self._hear)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()

    def _hear(self, **kwargs: Any) -> None:
        self._heard = time.monotonic()

    def _run(self) -> None:
        server = connect()
        while not self._over.wait(self._every):
            try:
                waits = any(server.llen(queue) for queue in QUEUES)
            except redis.RedisError:
                # Nobody can hear anything now; the time to hear begins when Redis is back.
                waits = False
            if not waits:
                self._heard = time.monotonic()
            elif time.monotonic() - self._heard > self._patience:
                logger.critical("Tasks wait in Redis and none has come here for %.0f s: ending.", self._patience)
                self._leave()
                return
