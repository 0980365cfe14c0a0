"""Processes of their own for runs whose last one died, started and looked after by a worker's sweeper (B9, ADR 0009)."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from uuid import UUID

from agents.services.suspects import take_groups
from common.embedded.home import ROOT
from common.embedded.processes import end

logger = logging.getLogger(__name__)

PLACES = 4
"""How many of these processes a worker has at most. Each takes about 100 MB, for as long as its runs take."""
POOL = "2"
"""Threads for the database in each of them."""


class Quarantine:
    """The processes of one worker. They end when their runs have, or with the worker."""

    def __init__(self, seconds_to_end: float) -> None:
        self._children: list[subprocess.Popen[bytes]] = []
        self._seconds_to_end = seconds_to_end

    def tend(self) -> None:
        """Forget the processes that have ended, and start some for the runs that wait for one."""
        self._children = [child for child in self._children if child.poll() is None]
        for run_ids in take_groups(PLACES - len(self._children)):
            self._children.append(_start(run_ids))

    def close(self) -> None:
        """End them in order: what they carry is given back."""
        for child in self._children:
            child.terminate()
        for child in self._children:
            end(child, signal.SIGTERM, seconds=self._seconds_to_end)


def _start(run_ids: Sequence[UUID]) -> "subprocess.Popen[bytes]":
    words = [str(os.getpid()), *map(str, run_ids)]
    child = subprocess.Popen(
        [sys.executable, "-m", "agents.runtime.apart", *words], cwd=ROOT, stdin=subprocess.DEVNULL,
        env=os.environ | {"DATABASE_POOL": POOL},
    )  # fmt: skip
    logger.warning("Process %s carries runs whose last one died: %s", child.pid, ", ".join(words[1:]))
    return child
