"""The bounded queue of frames for a socket, whose client may stop reading (MSG7)."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Protocol, runtime_checkable

from websockets.frames import Frame, Opcode

from server import limits


class OutboxFull(Exception):
    """The outbox is full, because the client reads too slowly."""


@runtime_checkable
class FrameWriter(Protocol):
    """A connection of the server that takes encoded frames, below ASGI. `writable` is set while its buffer has room."""

    writable: asyncio.Event

    def write_frame(self, frame: bytes) -> None:
        """Send an encoded frame. Never raises: a connection that is closing sends nothing."""
        ...


@lru_cache(maxsize=1)
def encode_frame(text: str) -> bytes:
    """Return `text` as a WebSocket frame. Servers do not mask frames (RFC 6455, 5.1), so all sockets get the same bytes.

    The same text is sent to one socket after the other, so a cache of one entry is enough.
    """
    return Frame(Opcode.TEXT, text.encode()).serialize(mask=False)


@lru_cache(maxsize=1)
def encode_frames(texts: tuple[str, ...]) -> bytes:
    """Return several frames as one byte string, because each write is a system call."""
    return b"".join(Frame(Opcode.TEXT, text.encode()).serialize(mask=False) for text in texts)


class Outbox:
    """A bounded queue of frames, and the loop that sends them.

    With a `writer`, `put` writes a frame directly if the connection accepts it, without a task or an ASGI message for each
    frame. Without one, frames are sent by `send`.
    """

    __slots__ = ("_has_frames", "_send", "_size", "_waiting", "writer")

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self.writer: FrameWriter | None = None
        self._send = send
        self._waiting: deque[tuple[str, bool]] = deque()  # the text of a frame, and whether it is transient
        self._size = 0
        self._has_frames = asyncio.Event()

    def put(self, text: str, *, transient: bool = False) -> None:
        """Send a frame, or queue it. If the queue is full, transient frames are dropped: a durable row replaces them later.

        Raises `OutboxFull` if a durable frame does not fit then.
        """
        if self.writer is not None and not self._waiting and self.writer.writable.is_set():
            self.writer.write_frame(encode_frame(text))
            return
        if self._exceeds_limits(text):
            self._waiting = deque(frame for frame in self._waiting if not frame[1])
            self._size = sum(len(waiting) for waiting, _ in self._waiting)
            if transient:
                return
            if self._exceeds_limits(text):
                raise OutboxFull
        self._waiting.append((text, transient))
        self._size += len(text)
        self._has_frames.set()

    def put_transient(self, texts: tuple[str, ...]) -> None:
        """Send transient frames in one write, or queue them if the connection does not accept them now."""
        if self.writer is not None and not self._waiting and self.writer.writable.is_set():
            self.writer.write_frame(encode_frames(texts))
            return
        for text in texts:
            self.put(text, transient=True)

    async def run(self) -> None:
        """Send queued frames in order, until the task is cancelled or the connection breaks."""
        while True:
            await self._has_frames.wait()
            self._has_frames.clear()
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

    def _exceeds_limits(self, text: str) -> bool:
        """Return whether the queue cannot take this frame. An empty queue takes any frame."""
        if not self._waiting:
            return False
        is_too_long = len(self._waiting) >= limits.MAX_WAITING_FRAMES
        return is_too_long or self._size + len(text) > limits.MAX_WAITING_CHARACTERS
