"""Limits of connections: how much a client may send, keep open and leave unread (MSG7, MSG8).

The rate of requests is limited by `actors/rates.py`, their CPU time by `server/fair_queue.py`.
"""

# --- a socket: what comes in --------------------------------------------------------------------------------------

MAX_FRAME_BYTES = 64 * 1024
"""Bytes of a frame of a client (a message of the WebSocket protocol)."""

MAX_FRAGMENTS = 100
"""Fragments of one frame of a client."""

SOCKET_FRAMES_PER_SECOND = 20.0
SOCKET_BURST_FRAMES = 120.0
"""Frames of one socket per second, and at once after a reconnect (a subscription for each topic)."""

PERSON_FRAMES_PER_SECOND = 40.0
PERSON_BURST_FRAMES = 600.0
"""The same for all sockets of one person in one process: twenty tabs that reconnect at once send sixty frames."""

MAX_REFUSED = 100
"""The socket is closed after so many frames were refused because of the limit."""

TYPING_INTERVAL_SECONDS = 2.0
"""Seconds between two `typing` frames of one socket on one topic that are passed on."""

MAX_SUBSCRIPTIONS = 100
"""Topics of one socket."""

# --- a socket: what goes out --------------------------------------------------------------------------------------

MAX_WAITING_FRAMES = 512
MAX_WAITING_CHARACTERS = 1024 * 1024
"""Frames that wait to be sent to one socket, and their characters. A single frame may be larger."""

CLOSE_TIMEOUT_SECONDS = 5.0
"""Seconds that a client has to read the closing frame before its connection is aborted."""

# --- sockets ------------------------------------------------------------------------------------------------------

MAX_SOCKETS_PER_PERSON = 20
"""Sockets of one person in one process; the limit protects the memory of the process. A count over all processes would include
those of a process that has just died, and refuse people who reconnect (MSG6)."""

MAX_SOCKETS_PER_PROCESS = 5000
"""Sockets of one process: about 60 kB each, less than half a gigabyte together."""

# --- a request ----------------------------------------------------------------------------------------------------

MAX_BODY_BYTES = 1024 * 1024
"""Bytes of the body of a request."""

MAX_DOCUMENT_BODY_BYTES = 16 * 1024 * 1024
"""Bytes of a body that has the text of an OpenAPI document: twice those of the text, because JSON escapes it."""

MAX_FORM_OVERHEAD = 64 * 1024
"""Bytes of the body of an upload beside those of its file."""

MAX_UPLOADS = 20
"""Uploads that one process receives at the same time. Each is a temporary file on the disk."""

MAX_UPLOADS_OF_CALLER = 4
"""Uploads of one caller that one process receives at the same time."""

MAX_UPLOADS_OF_GROUP = 10
"""Uploads of one workspace, or of all new workspaces of one IP address, that one process receives at the same time."""

MAX_UPLOADS_OF_UNIDENTIFIED_CALLERS = 5
"""Uploads that one process receives at the same time from callers whom it cannot identify: their credentials are new to it."""

UPLOAD_TIMEOUT_SECONDS = 600.0
"""Seconds in which an upload has to arrive."""

UPLOAD_IDLE_SECONDS = 20.0
"""Seconds in which the next part of an upload has to arrive."""

MAX_INCOMPLETE_BODY_BYTES = 64 * 1024 * 1024
"""Bytes of incomplete bodies in one process: a quarter of them of one workspace, an eighth of one caller."""

BODY_TIMEOUT_SECONDS = 30.0
"""Seconds in which a body has to arrive."""

MAX_HEAD = 32 * 1024
"""Bytes of a request's first line and headers."""

HEAD_TIMEOUT_SECONDS = 20.0
"""Seconds in which the head of a request has to arrive, also the first one of a new connection."""

IDLE_CONNECTION_SECONDS = 75
"""Seconds that a connection is kept without a request. It is longer than clients and proxies keep theirs (httpx 5, nginx 60): they
would otherwise send a request into a connection that is being closed, and could not tell whether it was executed."""

MAX_LONG_POLLS = 1000
"""Requests that wait for a change of a chat in one process at the same time."""

MAX_LONG_POLLS_OF_CALLER = 20
"""Requests of one caller that wait in one process at the same time."""

MAX_LONG_POLLS_OF_GROUP = 250
"""Requests of one workspace, or of all new workspaces of one IP address, that wait in one process at the same time."""

UNREAD_RESPONSE_TIMEOUT_SECONDS = 30.0
"""Seconds that a client may leave a response unread before its connection is aborted."""
