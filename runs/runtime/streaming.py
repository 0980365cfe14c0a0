"""Stream the chunks of an answer to clients."""

import asyncio
from uuid import UUID

from events.frames import Progress
from events.publish import publish_now
from events.stream import Stream, streams
from llm.messages import Chunk
from runs.models import Run
from runs.runtime.conversation import get_call_id, get_row_id

PROGRESS_INTERVAL_SECONDS = 0.25
"""Seconds between two frames about the progress of a merge."""


class StreamSink:
    """Receives the chunks of an answer. It never raises and may lose chunks; `add` does not wait for Redis. This one drops them."""

    def add(self, chunk: Chunk, message_id: UUID) -> None:
        """Send a chunk of this message."""

    async def stop(self) -> None:
        """Send the buffered chunks before the stored message is published. Drop them if none was sent: the message has the text."""

    async def close(self) -> None:
        """End the stream of the message, whether it is complete or not."""


class ChatSink(StreamSink):
    """Streams to the participants of a chat."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._stream: Stream | None = None

    def add(self, chunk: Chunk, message_id: UUID) -> None:
        if self._stream is None:
            self._stream = streams.open(
                topic=f"chat:{self._run.chat_id}",
                run_id=self._run.id,
                agent_id=self._run.agent_id,
                message_id=message_id,
                attempt=self._run.attempt,
            )
        call_id = get_call_id(message_id, chunk.index) if chunk.part == "arguments" else None
        self._stream.add_chunk(
            chunk.part,
            chunk.text,
            index=chunk.index,
            row_id=get_row_id(message_id, chunk.part, chunk.index),
            call_id=call_id,
            name=chunk.name,
        )

    async def stop(self) -> None:
        if self._stream is not None:
            await self._stream.stop()

    async def close(self) -> None:
        if self._stream is not None:
            await self._stream.close()
            self._stream = None


class ProgressSink(StreamSink):
    """Reports the number of characters of a merge to its workspace, a few times a second."""

    def __init__(self, workspace_id: UUID, *, merge_id: UUID, expected: int) -> None:
        self._frame = Progress(topic=f"workspace:{workspace_id}", merge_id=merge_id, done=0, expected=expected)
        self._done = 0
        self._next_at = 0.0
        self._sending: asyncio.Task[None] | None = None

    def add(self, chunk: Chunk, message_id: UUID) -> None:
        self._done += len(chunk.text) if chunk.part == "text" else 0
        time = asyncio.get_running_loop().time()
        if time >= self._next_at and (self._sending is None or self._sending.done()):
            self._next_at = time + PROGRESS_INTERVAL_SECONDS
            frame = self._frame.model_copy(update={"done": self._done})
            self._sending = asyncio.create_task(asyncio.to_thread(publish_now, frame), name="progress")

    async def close(self) -> None:
        if self._sending is not None:
            await asyncio.wait([self._sending])
