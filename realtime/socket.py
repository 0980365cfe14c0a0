"""One open socket, as the hub sees it."""

from collections.abc import Awaitable, Callable

from actors.models import Actor
from realtime.feed import Subscription
from realtime.outbox import Full, Outbox
from realtime.rights import Ticket
from realtime.topics import Topic

SIGNED_OUT = 4003
"""Close code: nobody is signed in by this session (any more)."""

TOO_SLOW = 4008
"""Close code: what was to be read has not been read. The reader may come back, and resumes (MSG7)."""

TOO_MUCH = 4029
"""Close code: too many messages, or too many sockets of one person."""

TOO_LARGE = 1009
"""Close code: a message larger than what is taken (MSG8)."""

TRY_LATER = 1013
"""Close code: we cannot serve now."""


class Socket:
    """Whose it is, what it follows, and what waits to be sent to it."""

    __slots__ = ("_on_end", "actor", "has_ended", "outbox", "subscriptions", "ticket")

    def __init__(
        self, actor: Actor, ticket: Ticket, send: Callable[[str], Awaitable[None]], on_end: Callable[[int], None]
    ) -> None:
        self.actor = actor
        self.ticket = ticket
        self.subscriptions: dict[Topic, Subscription] = {}
        self.outbox = Outbox(send)
        self.has_ended = False
        self._on_end = on_end

    def give(self, text: str, *, passing: bool = False) -> None:
        """Send an encoded frame, in turn. Never raises: a reader that is too slow ends, and hurts nobody else (MSG7)."""
        if self.has_ended:
            return
        try:
            self.outbox.put(text, passing=passing)
        except Full:
            self.end(TOO_SLOW)

    def give_passing(self, texts: tuple[str, ...]) -> None:
        """Send several encoded frames that may be lost."""
        if not self.has_ended:
            self.outbox.put_passing(texts)

    def end(self, code: int) -> None:
        """Close it; what still waits is not sent."""
        if not self.has_ended:
            self.has_ended = True
            self._on_end(code)
