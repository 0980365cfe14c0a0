"""The frames that wait to be sent to one socket. Their number is bounded, since a client may stop reading (MSG7)."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Protocol, runtime_checkable

from websockets.frames import Frame, Opcode

from server import limits


class Full(Exception):
    """The client reads too slowly."""


@runtime_checkable
class FrameWriter(Protocol):
    """A connection of the server that takes encoded frames, below ASGI. `writable` is set while its buffer has room."""

    writable: asyncio.Event

    def write_frame(self, frame: bytes) -> None:
        """Send an encoded frame. Never raises: a connection that is closing sends nothing."""
        ...


@lru_cache(maxsize=1)
def encode_frame(text: str) -> bytes:
    """Return `text` as one WebSocket frame. A server does not mask frames (RFC 6455, 5.1), so all sockets get the same bytes;
    a text goes to all sockets in a row, so a cache of one is enough."""
    return Frame(Opcode.TEXT, text.encode()).serialize(mask=False)


@lru_cache(maxsize=1)
def encode_frames(texts: tuple[str, ...]) -> bytes:
    """Return several frames as one string of bytes: each write is a system call."""
    return b"".join(Frame(Opcode.TEXT, text.encode()).serialize(mask=False) for text in texts)


class Outbox:
    """A bounded queue, and the writer that empties it.

    With a `writer`, `put` writes a frame directly while the connection takes it, without a task or an ASGI message for each
    frame. Without one, frames go through `send`.
    """

    __slots__ = ("_news", "_send", "_size", "_waiting", "writer")

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self.writer: FrameWriter | None = None
        self._send = send
        self._waiting: deque[tuple[str, bool]] = deque()
        self._size = 0
        self._news = asyncio.Event()

    def put(self, text: str, *, transient: bool = False) -> None:
        """Add a frame. If it does not fit, transient frames are dropped: the durable row that follows replaces them. Raise `Full`
        if that is not enough."""
        if self.writer is not None and not self._waiting and self.writer.writable.is_set():
            self.writer.write_frame(encode_frame(text))
            return
        if self._is_over(text):
            self._drop_transient()
            if transient:
                return
            if self._is_over(text):
                raise Full
        self._waiting.append((text, transient))
        self._size += len(text)
        self._news.set()

    def put_transient(self, texts: tuple[str, ...]) -> None:
        """Add transient frames, which go out in one write if the connection takes them now."""
        if self.writer is not None and not self._waiting and self.writer.writable.is_set():
            self.writer.write_frame(encode_frames(texts))
            return
        for text in texts:
            self.put(text, transient=True)

    async def run(self) -> None:
        """Send the frames in order, until cancelled or the connection breaks."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                if self.writer is not None and not self.writer.writable.is_set():
                    await self.writer.writable.wait()
                    continue
                text, _ = self._waiting.popleft()
                self._size -= len(text)
                if self.writer is None:
                    await self._send(text)
                else:
                    self.writer.write_frame(encode_frame(text))

    def _is_over(self, text: str) -> bool:
        waiting = len(self._waiting)
        return waiting > 0 and (
            waiting >= limits.MAX_WAITING_FRAMES or self._size + len(text) > limits.MAX_WAITING_CHARACTERS
        )

    def _drop_transient(self) -> None:
        self._waiting = deque(item for item in self._waiting if not item[1])
        self._size = sum(len(text) for text, _ in self._waiting)
