"""Passing the chunks of an answer on while it is made, and how fast they are read."""

import asyncio
from typing import Protocol
from uuid import UUID

from common.bounded import BoundedMap
from common.token_bucket import TokenBucket
from events.frames import Progress
from events.publish import publish_now
from events.stream import Stream, streams
from llm.messages import Piece
from runs.models import Run
from runs.runtime.conversation import get_call_id, get_row_id

PROGRESS_EVERY = 0.25
"""Seconds between two frames about how far a merge has come."""
CHUNKS_PER_SECOND = 6_000.0
"""Chunks that the runs of one workspace read in a second, in one process. Forty agents at 150 tokens a second need as many."""
BURST = 12_000.0
CHARACTERS = 256
"""A chunk counts once more for each of so many characters."""


class StreamSink(Protocol):
    """Takes the chunks of an answer. It may lose them, never raises, and no run waits for Redis."""

    def add(self, chunk: Piece, message_id: UUID) -> None:
        """Pass on a chunk of the message that is being made."""
        ...

    async def flush(self) -> None:
        """Send what is buffered, before the durable row goes out."""
        ...

    async def close(self) -> None:
        """End the message: it is whole, or will never be."""
        ...


class ChatSink:
    """Streams to everybody in the chat."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._stream: Stream | None = None

    def add(self, chunk: Piece, message_id: UUID) -> None:
        if self._stream is None:
            self._stream = streams.open(
                topic=f"chat:{self._run.chat_id}",
                run_id=self._run.id,
                agent_id=self._run.agent_id,
                message_id=message_id,
                attempt=self._run.attempt,
            )
        call_id = get_call_id(message_id, chunk.index) if chunk.part == "arguments" else None
        self._stream.say(
            chunk.part, chunk.text, index=chunk.index, row_id=get_row_id(message_id, chunk.part, chunk.index),
            call_id=call_id, name=chunk.name,
        )  # fmt: skip

    async def flush(self) -> None:
        if self._stream is not None:
            await self._stream.flush()

    async def close(self) -> None:
        if self._stream is not None:
            await self._stream.close()
            self._stream = None


class ProgressSink:
    """Reports to the workspace of a merge how many characters are there, a few times a second."""

    def __init__(self, workspace_id: UUID, *, merge_id: UUID, expected: int) -> None:
        self._frame = Progress(topic=f"workspace:{workspace_id}", merge_id=merge_id, done=0, expected=expected)
        self._done = 0
        self._next_at = 0.0
        self._sending: asyncio.Task[None] | None = None

    def add(self, chunk: Piece, message_id: UUID) -> None:
        self._done += len(chunk.text) if chunk.part == "text" else 0
        time = asyncio.get_running_loop().time()
        if time >= self._next_at and (self._sending is None or self._sending.done()):
            self._next_at = time + PROGRESS_EVERY
            frame = self._frame.model_copy(update={"done": self._done})
            self._sending = asyncio.create_task(asyncio.to_thread(publish_now, frame), name="progress")

    async def flush(self) -> None:
        """Send nothing: the durable row says more."""

    async def close(self) -> None:
        if self._sending is not None:
            await asyncio.wait([self._sending])


class NullSink:
    """Drops everything: a summary is read when it is there."""

    def add(self, chunk: Piece, message_id: UUID) -> None:
        pass

    async def flush(self) -> None:
        pass

    async def close(self) -> None:
        pass


class ReadingRate:
    """Limits how fast a workspace's runs read what their models write: one event loop reads for all workspaces (FAIR1)."""

    __slots__ = ("_bucket",)

    def __init__(self) -> None:
        self._bucket = TokenBucket(CHUNKS_PER_SECOND, BURST)

    def take(self, text: str) -> float:
        """Count a chunk; return how many seconds its run has to wait before it reads on. The model's server waits meanwhile."""
        left = self._bucket.take(1 + len(text) // CHARACTERS)
        return max(0.0, -left / CHUNKS_PER_SECOND)


_rates: BoundedMap[UUID, ReadingRate] = BoundedMap(10_000)


def get_reading_rate(workspace_id: UUID) -> ReadingRate:
    """Return the one rate of all runs of a workspace in this process."""
    return _rates.get_or_set(workspace_id, ReadingRate)
