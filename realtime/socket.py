"""The hub's side of a socket."""

from collections.abc import Awaitable, Callable

from actors.models import Actor
from realtime.outbox import Outbox, OutboxFull
from realtime.rights import SocketSignIn
from realtime.topic_buffer import Subscription
from realtime.topics import Topic

SIGNED_OUT = 4003
"""Close code: the session or API token is invalid, or was not sent."""

TOO_SLOW = 4008
"""Close code: the client reads too slowly. It may connect again and continue with its last version (MSG7)."""

TOO_MUCH = 4029
"""Close code: too many frames of the client, or too many sockets of one person."""

TOO_LARGE = 1009
"""Close code: a frame of the client is too large (MSG8)."""

TRY_LATER = 1013
"""Close code: the server cannot serve the socket now."""


class Socket:
    """The actor, the subscriptions and the outbox of one connection."""

    __slots__ = ("_on_end", "actor", "has_ended", "outbox", "subscriptions", "sign_in")

    def __init__(
        self, actor: Actor, sign_in: SocketSignIn, send: Callable[[str], Awaitable[None]], on_end: Callable[[int], None]
    ) -> None:
        self.actor = actor
        self.sign_in = sign_in
        self.subscriptions: dict[Topic, Subscription] = {}
        self.outbox = Outbox(send)
        self.has_ended = False
        self._on_end = on_end

    def send(self, text: str, *, transient: bool = False) -> None:
        """Send an encoded frame. Never raises: if the client reads too slowly, the socket is closed (MSG7)."""
        if self.has_ended:
            return
        try:
            self.outbox.put(text, transient=transient)
        except OutboxFull:
            self.end(TOO_SLOW)

    def send_transient(self, texts: tuple[str, ...]) -> None:
        """Send several encoded frames that may be lost."""
        if not self.has_ended:
            self.outbox.put_transient(texts)

    def end(self, code: int) -> None:
        """Close the socket. Frames in the outbox are not sent."""
        if not self.has_ended:
            self.has_ended = True
            self._on_end(code)
