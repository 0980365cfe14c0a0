"""The lengths of tests with a long form: `make chaos` sets `CHAOS_N`; in `make test` each fault is caused a few times."""

import os
import sys
import time

IS_CHAOS = "CHAOS_N" in os.environ
N = int(os.environ.get("CHAOS_N", "2"))
"""How often a fault is caused."""
REAL = bool(os.environ.get("CHAOS_REAL"))
"""Whether the leases and intervals are those of production."""


def examples(few: int) -> int:
    """Return the number of examples for Hypothesis: ten times as many in the long form."""
    return few * 10 if IS_CHAOS else few


def report(figures: str) -> None:
    """Print a measurement or the progress of a long run, also from one of several processes of pytest."""
    if IS_CHAOS:
        sys.stderr.write(f"\n{time.strftime('%H:%M:%S')}  {figures}\n")
        sys.stderr.flush()
