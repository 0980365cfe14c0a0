"""What waits to be sent to one socket: bounded, so that a reader who stalls costs no more than this (A7)."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from realtime import limits


class Full(Exception):
    """The reader is too slow; nothing more is sent to it."""


class Outbox:
    """A queue with a bound, and the writer that empties it."""

    __slots__ = ("_news", "_send", "_size", "_waiting")

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: deque[tuple[str, bool]] = deque()
        self._size = 0
        self._news = asyncio.Event()

    def put(self, text: str, *, passing: bool = False) -> None:
        """Add a frame. When it does not fit, passing frames are thrown away first: the durable row that follows is the
        truth. Raises `Full` when that is not enough."""
        if self._is_over(text):
            self._drop_passing()
            if passing:
                return
            if self._is_over(text):
                raise Full
        self._waiting.append((text, passing))
        self._size += len(text)
        self._news.set()

    async def run(self) -> None:
        """Send what comes, in order, until cancelled or the socket breaks."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                text, _ = self._waiting.popleft()
                self._size -= len(text)
                await self._send(text)

    def _is_over(self, text: str) -> bool:
        waiting = len(self._waiting)
        return waiting > 0 and (waiting >= limits.MAX_WAITING or self._size + len(text) > limits.MAX_WAITING_SIZE)

    def _drop_passing(self) -> None:
        self._waiting = deque(item for item in self._waiting if not item[1])
        self._size = sum(len(text) for text, _ in self._waiting)
