"""`python -m runs.worker.isolated PARENT RUN`: carry this run, and nothing else, to its end (ADR 0009)."""

import os
import signal
import sys
from types import FrameType
from uuid import UUID

import django

from common.processes import die_with_parent


def main(parent: int, run_id: UUID) -> int:
    """The exit code. SIGTERM gives it back."""
    die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        return 1
    signal.signal(signal.SIGTERM, _leave)
    django.setup()
    # Only now: models need an installed Django.
    from runs.worker.engine import Engine

    engine = Engine(isolated=True)
    engine.start()
    try:
        engine.submit([run_id])
        engine.wait_until_idle()
    finally:
        engine.stop()
    return 0


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), UUID(sys.argv[2])))
