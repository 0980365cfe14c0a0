"""Isolated processes: each executes one run that has crashed other processes (ADR 0009).

`python -m worker.isolation PARENT RUN` is such a process. This module imports no models, because it calls `django.setup`.
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from uuid import UUID

import django

from common.processes import die_with_parent, end_process, freeze_collector
from launcher.home import ROOT

logger = logging.getLogger(__name__)

MAX_PROCESSES = 4
"""Isolated processes of one worker. Each takes about 100 MB until its run ends."""
POOL = "2"
"""`DATABASE_POOL` of each of them."""


class IsolatedProcesses:
    """The isolated processes of one worker. They end with their run, or with the worker."""

    def __init__(self, seconds_to_end: float) -> None:
        self._children: list[subprocess.Popen[bytes]] = []
        self._seconds_to_end = seconds_to_end

    def count_free_processes(self) -> int:
        """Return how many more processes may be started."""
        self._children = [child for child in self._children if child.poll() is None]
        return MAX_PROCESSES - len(self._children)

    def start(self, run_ids: Iterable[UUID]) -> None:
        """Start a process for each of these runs."""
        for run_id in run_ids:
            command = [sys.executable, "-m", "worker.isolation", str(os.getpid()), str(run_id)]
            environment = os.environ | {"DATABASE_POOL": POOL}
            child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=environment)
            logger.warning("Run %s is executed in the isolated process %s.", run_id, child.pid)
            self._children.append(child)

    def close(self) -> None:
        """End the processes. They put their runs in the queue again."""
        for child in self._children:
            child.terminate()
        for child in self._children:
            end_process(child, signal.SIGTERM, seconds=self._seconds_to_end)


def main(parent: int, run_id: UUID) -> int:
    """Execute one run and return the exit code. On SIGTERM, put the run in the queue again."""
    die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    django.setup()
    from worker.engine import Engine

    freeze_collector()
    engine = Engine(isolated=True)
    engine.start()
    try:
        engine.submit([run_id])
        engine.wait_until_idle()
    finally:
        engine.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), UUID(sys.argv[2])))
