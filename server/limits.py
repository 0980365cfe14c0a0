"""How much anybody may send, hold open, and leave unread: every number of the wire in one place (MSG7, MSG8).

What a request may ask of the rest of the house is limited elsewhere; this is what one line can cost us.
"""

# --- a socket: what comes in --------------------------------------------------------------------------------------

MAX_FRAME = 64 * 1024
"""Bytes of a message from a client."""

MAX_PIECES = 100
"""Frames that one message may come in."""

PER_SECOND = 20.0
BURST = 120.0
"""Messages of one socket: so many a second, and after a reconnect so many at once (a subscription for each topic)."""

PERSON_PER_SECOND = 40.0
PERSON_BURST = 600.0
"""The same for all sockets of one person in one process: twenty tabs that come back at once need sixty."""

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
has just died against the people who come back from it (MSG6)."""

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
