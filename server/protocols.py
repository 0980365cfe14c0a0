"""uvicorn's two protocols, held to `server.limits`: what a client sends or leaves unread costs us no more than that.

Each method is one of uvicorn's own, and does what that one does first.
"""

import asyncio
import logging
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from server import limits
from server.connections import cut

logger = logging.getLogger("uvicorn.sockets")

HEAD_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
UNREADABLE = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class HeadTooLarge(Exception):
    """Ends the parsing of a request."""


class Deadline:
    """Cuts a line in so many seconds, unless it is lifted."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        return self._timer is not None

    def set(self, transport: asyncio.Transport, seconds: float) -> None:
        self.lift()
        self._timer = asyncio.get_running_loop().call_later(seconds, cut, transport)

    def lift(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class BoundedHttp(HttpToolsProtocol):
    """What is no body has a size, a head has a time to come, and a reader has a time to read."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._read = 0
        self._body = 0
        self._beside = 0
        self._head_is_open = True
        self._coming = Deadline()
        self._going = Deadline()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._coming.set(transport, limits.HEAD_TIME)

    def data_received(self, data: bytes) -> None:
        # A header that does not end stays in the parser, and is not told of: so bytes are counted as they come.
        self._read = len(data)
        self._beside += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._is_too_large():
            self.send_400_response("")
        elif self._head_is_open and not self._coming.is_set:
            self._coming.set(self.transport, limits.HEAD_TIME)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._beside, self._body, self._head_is_open = self._read, 0, True

    def on_headers_complete(self) -> None:
        self._head_is_open = False
        self._coming.lift()
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > limits.MAX_HEAD:
            raise HeadTooLarge
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._beside -= len(body)
        self._body += len(body)
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        if self._is_too_large():
            self.transport.write(HEAD_TOO_LARGE)
            self.transport.close()
        else:
            super().send_400_response(msg)

    def _is_too_large(self) -> bool:
        """Heads, what follows a body, and what comes between its chunks: when they are tiny, several times the body."""
        return self._beside > limits.MAX_HEAD + 8 * self._body

    def pause_writing(self) -> None:
        super().pause_writing()
        self._going.set(self.transport, limits.UNREAD_TIME)

    def resume_writing(self) -> None:
        self._going.lift()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._coming.lift()
        self._going.lift()
        super().connection_lost(exc)


class BoundedSocket(WebSocketsSansIOProtocol):
    """Nothing that a client sends gathers here, and a line that is dead is cut. A `realtime.outbox.FrameWriter`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pong = b""
        # uvicorn logs three lines for each socket, and anybody can open one.
        self.logger = self.conn.logger = logger

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # A handshake that cannot be read is no event: uvicorn would wait for the client to end the line, however long.
        if self.conn.handshake_exc is not None and not self.handshake_initiated and not self.transport.is_closing():
            self.transport.write(UNREADABLE)
            self.transport.close()

    def write_frame(self, frame: bytes) -> None:
        """Send an encoded frame. Nothing may follow a closing frame; who comes back reads what was not sent."""
        if not (self.close_sent or self.disconnected or self.transport.is_closing()):
            self.transport.write(frame)

    def handle_ping(self) -> None:
        # To a reader who does not read, only the newest ping is answered, once they do (RFC 6455, 5.5.3).
        pongs = self.conn.data_to_send()
        if self.writable.is_set():
            self.transport.write(b"".join(pongs))
        elif pongs:
            self._pong = pongs[-1]

    def resume_writing(self) -> None:
        super().resume_writing()
        pong, self._pong = self._pong, b""
        if pong and not self.transport.is_closing():
            self.transport.write(pong)

    def handle_cont(self, event: Frame) -> None:
        super().handle_cont(event)
        if len(self.frames) > limits.MAX_PIECES:
            self.conn.fail(1009, "too many pieces")
            self.handle_parser_exception()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        # Closing waits for a peer to take what is left, and this one does not answer.
        cut(self.transport)
