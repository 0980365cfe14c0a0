"""Processes of their own for runs whose processes died, started and looked after by a worker's sweeper (RUN9, ADR 0009)."""

import logging
import os
import signal
import subprocess
import sys
from uuid import UUID

from common.processes import end_process
from launcher.home import ROOT
from runs.services.claims import reserve_poison_runs

logger = logging.getLogger(__name__)

PLACES = 4
"""How many of these processes a worker has at most. Each takes about 100 MB, for as long as its run takes."""
POOL = "2"
"""Threads for the database in each of them."""


class IsolatedProcesses:
    """The processes of one worker. They end when their run has, or with the worker."""

    def __init__(self, seconds_to_end: float) -> None:
        self._children: list[subprocess.Popen[bytes]] = []
        self._seconds_to_end = seconds_to_end

    def tend(self) -> None:
        """Forget the processes that have ended, and start some for the runs that wait for one."""
        self._children = [child for child in self._children if child.poll() is None]
        for run_id in reserve_poison_runs(PLACES - len(self._children)):
            self._children.append(_start(run_id))

    def close(self) -> None:
        """End them in order: what they carry is given back."""
        for child in self._children:
            child.terminate()
        for child in self._children:
            end_process(child, signal.SIGTERM, seconds=self._seconds_to_end)


def _start(run_id: UUID) -> "subprocess.Popen[bytes]":
    child = subprocess.Popen(
        [sys.executable, "-m", "runs.worker.isolated", str(os.getpid()), str(run_id)], cwd=ROOT,
        stdin=subprocess.DEVNULL, env=os.environ | {"DATABASE_POOL": POOL},
    )  # fmt: skip
    logger.warning("Run %s is tried alone, in process %s.", run_id, child.pid)
    return child
