"""Stream the chunks of an answer to clients."""

from uuid import UUID

from events.stream import Stream, streams
from llm.messages import Chunk
from runs.models import Run
from runs.runtime.conversation import get_call_id, get_row_id


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
