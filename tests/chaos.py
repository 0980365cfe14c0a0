"""How long the long forms of tests are: `make chaos` sets `CHAOS_N`; in `make test` each is done a few times."""

import os
import sys
import time

IS_CHAOS = "CHAOS_N" in os.environ
N = int(os.environ.get("CHAOS_N", "2"))
"""How often a fault is caused."""
REAL = bool(os.environ.get("CHAOS_REAL"))
"""With the leases and intervals of production."""


def examples(few: int) -> int:
    """Return how many examples Hypothesis tries: ten times as many, and new ones, in the long form."""
    return few * 10 if IS_CHAOS else few


def report(figures: str) -> None:
    """Say what was measured, or how far a long run has come; also from one of several processes of pytest."""
    if IS_CHAOS:
        sys.stderr.write(f"\n{time.strftime('%H:%M:%S')}  {figures}\n")
        sys.stderr.flush()
