"""What waits to be sent to one socket: bounded, so that a reader who stalls costs no more than this (MSG7)."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Protocol, runtime_checkable

from websockets.frames import Frame, Opcode

from server import limits


class Full(Exception):
    """The reader is too slow; nothing more is sent to it."""


@runtime_checkable
class FrameWriter(Protocol):
    """A server's connection that takes encoded frames beneath ASGI. `writable` is set while its buffer has room."""

    writable: asyncio.Event

    def write_frame(self, frame: bytes) -> None:
        """Send an encoded frame. Never raises: on a connection that is ending, nothing is sent."""
        ...


@lru_cache(maxsize=1)
def encode_frame(text: str) -> bytes:
    """Return `text` as one WebSocket frame. A server's frames are not masked (RFC 6455, 5.1), so the same bytes go to all
    sockets; a text is given to all of them one after the other, so that the newest result is all that is kept."""
    return Frame(Opcode.TEXT, text.encode()).serialize(mask=False)


@lru_cache(maxsize=1)
def encode_frames(texts: tuple[str, ...]) -> bytes:
    """Return several frames as what is written at once: each write is a system call."""
    return b"".join(Frame(Opcode.TEXT, text.encode()).serialize(mask=False) for text in texts)


class Outbox:
    """A queue with a bound, and the writer that empties it.

    With a `writer`, a frame goes out in the same step in which it is put, as long as the connection takes it: neither a
    task is woken nor an ASGI message made for each frame of each socket. Without one, frames go through `send`.
    """

    __slots__ = ("_news", "_send", "_size", "_waiting", "writer")

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self.writer: FrameWriter | None = None
        self._send = send
        self._waiting: deque[tuple[str, bool]] = deque()
        self._size = 0
        self._news = asyncio.Event()

    def put(self, text: str, *, passing: bool = False) -> None:
        """Add a frame. When it does not fit, passing frames are thrown away first: the durable row that follows is the
        truth. Raises `Full` when that is not enough."""
        if self.writer is not None and not self._waiting and self.writer.writable.is_set():
            self.writer.write_frame(encode_frame(text))
            return
        if self._is_over(text):
            self._drop_passing()
            if passing:
                return
            if self._is_over(text):
                raise Full
        self._waiting.append((text, passing))
        self._size += len(text)
        self._news.set()

    def put_passing(self, texts: tuple[str, ...]) -> None:
        """Add passing frames, which go out in one write if the connection takes them now."""
        if self.writer is not None and not self._waiting and self.writer.writable.is_set():
            self.writer.write_frame(encode_frames(texts))
            return
        for text in texts:
            self.put(text, passing=True)

    async def run(self) -> None:
        """Send what comes, in order, until cancelled or the socket breaks."""
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
        return waiting > 0 and (waiting >= limits.MAX_WAITING or self._size + len(text) > limits.MAX_WAITING_SIZE)

    def _drop_passing(self) -> None:
        self._waiting = deque(item for item in self._waiting if not item[1])
        self._size = sum(len(text) for text, _ in self._waiting)
