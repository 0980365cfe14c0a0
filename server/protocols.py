"""uvicorn's protocols for HTTP and WebSockets with the limits of `server.limits`."""

import asyncio
import logging
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from server import limits
from server.connections import abort

logger = logging.getLogger("uvicorn.sockets")

HEAD_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
SHUTDOWN = "atelier.shutdown"
"""The extension of ASGI whose `event` is set when the process stops, so that a request that waits is answered before."""
BAD_HANDSHAKE = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class HeadTooLarge(Exception):
    """Ends the parsing of a request."""


class Deadline:
    """A timer that aborts a connection."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        return self._timer is not None

    def set(self, transport: asyncio.Transport, seconds: float) -> None:
        self.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, abort, transport)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class BoundedHttp(HttpToolsProtocol):
    """Limits the bytes outside bodies, the time of a head, and the time that a response may stay unread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._newest_bytes_outside_bodies = 0
        self._body_bytes = 0
        self._bytes_outside_bodies = 0
        self._head_is_open = True
        self._head_deadline = Deadline()
        self._write_deadline = Deadline()
        self._is_stopping = asyncio.Event()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_deadline.set(transport, limits.HEAD_TIMEOUT_SECONDS)

    def data_received(self, data: bytes) -> None:
        # The parser buffers an unfinished header without an event, so bytes are counted when they arrive.
        self._newest_bytes_outside_bodies = len(data)
        self._bytes_outside_bodies += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._is_too_large():
            self.send_400_response("")
        elif self._head_is_open and not self._head_deadline.is_set:
            self._head_deadline.set(self.transport, limits.HEAD_TIMEOUT_SECONDS)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {SHUTDOWN: {"event": self._is_stopping}}
        # At most the bytes of the newest read belong to this message.
        self._bytes_outside_bodies, self._body_bytes = self._newest_bytes_outside_bodies, 0
        self._head_is_open = True

    def on_headers_complete(self) -> None:
        self._head_is_open = False
        self._head_deadline.cancel()
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > limits.MAX_HEAD:
            raise HeadTooLarge
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._bytes_outside_bodies -= len(body)
        self._newest_bytes_outside_bodies -= len(body)  # The next request may begin in the same read.
        self._body_bytes += len(body)
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        if self._is_too_large():
            self.transport.write(HEAD_TOO_LARGE)
            self.transport.close()
        else:
            super().send_400_response(msg)

    def _is_too_large(self) -> bool:
        """Return whether there are too many bytes outside bodies. The framing of a tiny chunk is several times its size."""
        return self._bytes_outside_bodies > limits.MAX_HEAD + 8 * self._body_bytes

    def shutdown(self) -> None:
        super().shutdown()
        self._is_stopping.set()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_deadline.set(self.transport, limits.UNREAD_RESPONSE_TIMEOUT_SECONDS)

    def resume_writing(self) -> None:
        self._write_deadline.cancel()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_deadline.cancel()
        self._write_deadline.cancel()
        super().connection_lost(exc)


class BoundedSocket(WebSocketsSansIOProtocol):
    """Limits the data that it buffers for a client, and aborts dead connections. It is a `realtime.outbox.FrameWriter`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pong = b""
        # uvicorn logs three lines for each socket, and any client can open sockets.
        self.logger = self.conn.logger = logger

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # uvicorn does not handle a malformed handshake: it would wait until the client disconnects.
        if self.conn.handshake_exc is not None and not self.handshake_initiated and not self.transport.is_closing():
            self.transport.write(BAD_HANDSHAKE)
            self.transport.close()

    def write_frame(self, frame: bytes) -> None:
        """Send an encoded frame, unless a closing frame was sent: the client catches up when it reconnects."""
        if not (self.close_sent or self.disconnected or self.transport.is_closing()):
            self.transport.write(frame)

    def handle_ping(self) -> None:
        # While a client does not read, only its newest ping is answered, when it reads again (RFC 6455, 5.5.3).
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
        if len(self.frames) > limits.MAX_FRAGMENTS:
            self.conn.fail(1009, "too many fragments")
            # Sends the close frame that `fail` has queued, and closes the transport.
            self.handle_parser_exception()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        # A closing handshake would wait for a peer that does not answer.
        abort(self.transport)
