"""End a Celery worker that receives no tasks any more, or whose event loop hangs, so that it is started again (RUN5).

After its connection to Redis broke, Celery's consumer may wait for ever for a reply, in a process that looks healthy. So the
watchdog checks progress: whether tasks wait in the queue while this worker receives none. An event loop that hangs, such as one
that ran out of memory in the middle of a callback, extends no lease and starts no run, while its process lives.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any

import redis
from celery.signals import task_postrun, task_received

from server.health import build_probe_client

logger = logging.getLogger(__name__)

QUEUE = "work"
"""The queue of Celery's tasks. The list of runs is read by the engine, which connects again by itself."""
CHECKS = 10
"""Checks within `timeout`."""


class Watchdog:
    """A thread that calls `exit_process` when tasks have waited for `timeout` seconds and this worker has received none, or when
    `is_healthy` has returned false for so long."""

    def __init__(self, timeout: float, is_healthy: Callable[[], bool], exit_process: Callable[[], None]) -> None:
        self._timeout = timeout
        self._is_healthy = is_healthy
        self._exit_process = exit_process
        self._stopped = threading.Event()
        self._has_received = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        task_received.connect(self._record_task)
        task_postrun.connect(self._record_task)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _record_task(self, **kwargs: Any) -> None:
        self._has_received.set()

    def _run(self) -> None:
        client = build_probe_client()
        unhealthy = idle = 0
        while not self._stopped.wait(self._timeout / CHECKS):
            # Count checks, not seconds: a process that was suspended for a long time is unhealthy for a moment when it continues.
            unhealthy = 0 if self._is_healthy() else unhealthy + 1
            if unhealthy >= CHECKS:
                logger.critical("The event loop of this worker has hung for %.0f s: ending.", self._timeout)
                self._exit_process()
                return
            try:
                has_waiting_tasks = bool(client.llen(QUEUE))
            except redis.RedisError:
                # No worker can receive anything now: the time starts anew when Redis is back.
                has_waiting_tasks = False
            idle = idle + 1 if has_waiting_tasks and not self._has_received.is_set() else 0
            self._has_received.clear()
            if idle >= CHECKS:
                logger.critical(
                    "Tasks wait in Redis and this worker has received none for %.0f s: ending.", self._timeout
                )
                self._exit_process()
                return
