"""How much anybody may send, hold open, and leave unread: every number of the wire in one place (A7, A8, guarantees §2.11).

What a request may ask of the rest of the house is limited elsewhere; this is what one line can cost us.
"""

import time

# --- a socket: what comes in --------------------------------------------------------------------------------------

MAX_FRAME = 64 * 1024
"""Bytes of a message from a client."""

MAX_PIECES = 100
"""Frames that one message may come in."""

PER_SECOND = 20.0
BURST = 120.0
"""Messages of one socket: so many a second, and after a reconnect so many at once (a subscription for each topic)."""

PATIENCE = 100
"""Messages over the limit, each refused, after which the socket is closed."""

TYPING_EVERY = 2.0
"""Seconds between two `typing` of one socket on one topic that are passed on."""

MAX_SUBSCRIPTIONS = 100
"""Topics of one socket."""

# --- a socket: what goes out --------------------------------------------------------------------------------------

MAX_WAITING = 512
MAX_WAITING_SIZE = 1024 * 1024
"""Frames that wait to be sent to one socket, and their characters. One alone may be larger: it was asked for."""

CLOSING = 5.0
"""Seconds for a reader to take the closing frame, before its line is cut."""

# --- sockets ------------------------------------------------------------------------------------------------------

MAX_SOCKETS = 20
"""Sockets of one person in one process, whose memory it protects. A count over all processes would hold those of one that
has just died against the people who come back from it (A6)."""

MAX_SOCKETS_HERE = 5000
"""Sockets of one process: at some 60 kB each it stays below half a gigabyte."""

# --- a request ----------------------------------------------------------------------------------------------------

MAX_BODY = 1024 * 1024
"""Bytes of a request's body. Files do not come this way."""

MAX_BODIES = 64 * 1024 * 1024
"""Bytes of bodies that are not whole yet, in one process."""

BODY_TIME = 30.0
"""Seconds for a body to come."""

MAX_HEAD = 32 * 1024
"""Bytes of a request's first line and headers."""

HEAD_TIME = 20.0
"""Seconds for a request's head to come, also for the first one of a new connection."""

UNREAD_TIME = 30.0
"""Seconds that a client may leave an answer unread, before its line is cut."""


class Allowance:
    """A bucket of messages that fills up with time. Whoever goes on when it is empty runs into debt."""

    __slots__ = ("_left", "_then")

    def __init__(self) -> None:
        self._left = BURST
        self._then = time.monotonic()

    def take(self) -> bool:
        """Whether one more may come now."""
        now = time.monotonic()
        self._left = min(BURST, self._left + (now - self._then) * PER_SECOND) - 1
        self._then = now
        return self._left >= 0

    @property
    def is_abused(self) -> bool:
        """Who sends this much does not listen."""
        return self._left < -PATIENCE
