"""How much one person may send and hold open (guarantees §2.11, A8)."""

import time

MAX_FRAME = 64 * 1024
"""Bytes of a frame from a client."""

MAX_SUBSCRIPTIONS = 100
"""Topics of one socket."""

MAX_SOCKETS = 20
"""Sockets of one person in one process."""

PER_SECOND = 20.0
BURST = 120.0
"""Frames of one socket: so many a second, and after a reconnect so many at once (a subscription for each topic)."""

PATIENCE = 100
"""Frames over the limit, after which the socket is closed."""

TYPING_EVERY = 2.0
"""Seconds between two `typing` of one socket on one topic that are passed on."""


class Allowance:
    """A bucket of frames that fills up with time."""

    __slots__ = ("_left", "_then", "over")

    def __init__(self) -> None:
        self._left = BURST
        self._then = time.monotonic()
        self.over = 0

    def take(self) -> bool:
        """Whether one more may come now; `over` counts those that may not, until one may."""
        now = time.monotonic()
        self._left = min(BURST, self._left + (now - self._then) * PER_SECOND)
        self._then = now
        if self._left < 1:
            self.over += 1
            return False
        self._left -= 1
        self.over = 0
        return True
