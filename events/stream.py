"""Streaming the messages of running agents.

The chunks of a run are sent at most ten times a second, and the chunks of all runs of a process in one Redis pipeline. Redis also
stores the text so far, for clients that subscribe during the stream.

No run fails while Redis is down: the durable row that follows replaces the streamed text.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

import redis
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline as AsyncPipeline

from common.redis_client import PAUSE_AFTER_FAILURE_SECONDS, AsyncRedisClient, redis_client
from events.frames import Delta, Partial
from events.payloads import MAX_TEXT
from events.publish import RedisMessage, encode_for_redis

Part = Literal["text", "thinking", "arguments"]

FLUSH_INTERVAL_SECONDS = 0.1
"""Seconds between two frames of a run."""

PARTIAL_TTL_SECONDS = 900
"""Seconds that Redis keeps the text of a run after its last chunk. In fact 600 to 900: the time is renewed only when
a third has passed."""


@dataclass
class _PartBuffer:
    """The chunks of one part of a message that are not sent yet, and the number of characters that were sent."""

    row_id: UUID
    call_id: str | None = None
    name: str | None = None
    sent: int = 0
    pending: list[str] = field(default_factory=list)


class Stream:
    """The stream of one message of a run. `Streams.open` creates it."""

    def __init__(
        self, streams: "Streams", *, topic: str, run_id: UUID, agent_id: UUID, message_id: UUID, attempt: int
    ) -> None:
        self.topic = topic
        self.run_id = run_id
        self.agent_id = agent_id
        self.message_id = message_id
        self.attempt = attempt
        self.next_flush_at = 0.0
        self.stored_characters = 0
        self.has_sent = False
        self._ttl_set_at = 0.0
        self._streams = streams
        self._parts: dict[tuple[Part, int], _PartBuffer] = {}

    def add_chunk(
        self,
        part: Part,
        text: str,
        *,
        index: int = 0,
        row_id: UUID | None = None,
        call_id: str | None = None,
        name: str | None = None,
    ) -> None:
        """Add a chunk. The flush loop of the process sends it, the first chunk of a stream at once.

        `row_id` is the row that the part becomes; by default the message.
        """
        buffer = self._parts.get((part, index))
        if buffer is None:
            buffer = self._parts[part, index] = _PartBuffer(row_id or self.message_id)
        buffer.call_id = call_id or buffer.call_id
        buffer.name = name or buffer.name
        if text or name:
            buffer.pending.append(text)
            self._streams.enqueue(self)

    async def flush(self) -> None:
        """Send the pending chunks. Does not raise or wait while Redis is down."""
        if not self._streams.is_redis_down:
            await self._streams.flush([self])

    async def stop(self) -> None:
        """Send the pending chunks. If nothing was sent yet, drop them: the whole message is there, and its row follows at once.
        Call it before the durable frame is published, so that no chunk follows that. Does not raise or wait while Redis is down."""
        if self.has_sent or self._streams.is_sending:
            await self.flush()
        else:
            for buffer in self._parts.values():
                buffer.pending.clear()
            self._streams.dequeue(self)

    async def close(self) -> None:
        """Delete the stored text. Call it after the commit of the durable row. Does not raise while Redis is down."""
        await self._streams.close_stream(self)

    @property
    def has_pending(self) -> bool:
        return any(buffer.pending for buffer in self._parts.values())

    @property
    def is_ttl_due(self) -> bool:
        """Whether to renew the time to live of the stored text."""
        return not self.has_sent or time.monotonic() - self._ttl_set_at > PARTIAL_TTL_SECONDS / 3

    def build_deltas(self) -> list[Delta]:
        """Return a frame for each part with pending chunks. The chunks stay pending until `mark_sent`."""
        return [
            Delta(
                topic=self.topic,
                message_id=self.message_id,
                row_id=buffer.row_id,
                run_id=self.run_id,
                agent_id=self.agent_id,
                attempt=self.attempt,
                part=part,
                index=index,
                call_id=buffer.call_id,
                name=buffer.name,
                offset=buffer.sent,
                text="".join(buffer.pending),
            )
            for (part, index), buffer in self._parts.items()
            if buffer.pending
        ]

    def mark_sent(self, deltas: Sequence[Delta]) -> None:
        """Remove the text of these frames from the pending chunks. Chunks that were added after `build_deltas` stay pending."""
        if self.is_ttl_due:  # It reads `has_sent`, which is set below.
            self._ttl_set_at = time.monotonic()
        self.has_sent = True
        self.stored_characters += sum(len(delta.text) for delta in deltas)
        for delta in deltas:
            buffer = self._parts[(delta.part, delta.index)]
            buffer.sent += len(delta.text)
            rest = "".join(buffer.pending)[len(delta.text) :]
            buffer.pending = [rest] if rest else []


class Streams:
    """All streams of this process, which are flushed together. They belong to one event loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reset()

    def _reset(self) -> None:
        self._client = AsyncRedisClient()
        self._task: asyncio.Task[None] | None = None
        self._wake_event = asyncio.Event()
        self._send_lock = asyncio.Lock()
        self._pending_streams: dict[Stream, None] = {}
        self._current: dict[UUID, Stream] = {}

    def open(self, *, topic: str, run_id: UUID, agent_id: UUID, message_id: UUID, attempt: int) -> Stream:
        """Start to stream a message. Call it on the loop. A newer message of a run replaces the older one."""
        loop = self._use_running_loop()
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._flush_loop(), name="streams")
        stream = Stream(self, topic=topic, run_id=run_id, agent_id=agent_id, message_id=message_id, attempt=attempt)
        self._current[run_id] = stream
        return stream

    def _use_running_loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # A client, an event and a lock belong to the loop they were first used on.
            self._reset()
            self._loop = loop
        return loop

    def enqueue(self, stream: Stream) -> None:
        """Queue a stream with pending chunks for the flush loop."""
        if not self._pending_streams or not stream.has_sent:
            self._wake_event.set()
        self._pending_streams[stream] = None

    def dequeue(self, stream: Stream) -> None:
        """Remove a stream that has no pending chunks any more."""
        self._pending_streams.pop(stream, None)

    async def flush(self, streams: Iterable[Stream]) -> None:
        """Send the pending chunks of these streams in one pipeline. Chunks stay pending if Redis is down."""
        streams = [stream for stream in streams if stream.has_pending]
        if streams:
            await self._client.call(lambda client: self._send_pending(client, streams), None)

    async def close_stream(self, stream: Stream) -> None:
        """See `Stream.close`."""
        self.dequeue(stream)
        if self._current.get(stream.run_id) is not stream:
            return  # a newer message of this run has replaced the text
        del self._current[stream.run_id]
        if not stream.has_sent and stream.attempt == 1:
            return  # nothing was stored, and no earlier attempt may have left a text
        await self._client.call(lambda client: client.delete(_build_redis_key(stream.run_id)), 0)

    @property
    def is_sending(self) -> bool:
        """Whether chunks are being sent now, perhaps those of a stream that has sent none before."""
        return self._send_lock.locked()

    @property
    def is_redis_down(self) -> bool:
        return self._client.breaker.is_open

    async def publish(self, messages: Sequence[RedisMessage]) -> None:
        """Publish frames that were held (`hold_frames`). Does not raise or wait while Redis is down."""
        self._use_running_loop()
        await self._client.publish(messages)

    async def aclose(self) -> None:
        """Stop the loop and close the connection."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self._client.close()
        self._pending_streams.clear()
        self._current.clear()

    async def _send_pending(self, client: Redis, streams: Iterable[Stream]) -> None:
        async with self._send_lock:
            batches = [(stream, stream.build_deltas()) for stream in streams if stream.has_pending]
            if not batches:
                return
            async with client.pipeline(transaction=False) as pipeline:
                for stream, deltas in batches:
                    _store_deltas(pipeline, stream, deltas)
                    for delta in deltas:
                        pipeline.publish(*encode_for_redis(delta))
                await pipeline.execute()
            for stream, deltas in batches:
                stream.mark_sent(deltas)
                if not stream.has_pending:
                    self._pending_streams.pop(stream, None)

    async def _flush_loop(self) -> None:
        """Send pending chunks for ever, of all streams at the same ticks. The first chunk of a stream is sent at once."""
        clock = asyncio.get_running_loop().time
        while True:
            await self._wait_for_tick(clock)
            now = clock()
            due = [stream for stream in self._pending_streams if not stream.has_sent or stream.next_flush_at <= now]
            if due:
                # The next shared tick that is at least one whole tick away: never more than ten frames a second.
                for stream in due:
                    ticks = 1 if stream.has_sent else 2
                    stream.next_flush_at = (int(now / FLUSH_INTERVAL_SECONDS) + ticks) * FLUSH_INTERVAL_SECONDS
                await self.flush(due)
            if self.is_redis_down:
                await asyncio.sleep(PAUSE_AFTER_FAILURE_SECONDS)

    async def _wait_for_tick(self, clock: Callable[[], float]) -> None:
        """Wait until chunks are due: at once if a stream has a chunk and has sent none yet, which `enqueue` signals
        also during the wait; else at the next shared tick."""
        if not self._pending_streams:
            await self._wake_event.wait()
        self._wake_event.clear()
        if any(not stream.has_sent for stream in self._pending_streams):
            return
        try:
            async with asyncio.timeout((int(clock() / FLUSH_INTERVAL_SECONDS) + 1) * FLUSH_INTERVAL_SECONDS - clock()):
                await self._wake_event.wait()
        except TimeoutError:
            return


streams = Streams()
"""This process's streams."""


def _build_redis_key(run_id: UUID) -> str:
    return f"partial:{run_id}"


def _store_deltas(pipeline: AsyncPipeline, stream: Stream, deltas: Sequence[Delta]) -> None:
    """Append the chunks to a list in Redis, at a cost that does not depend on the length of the text.

    Each chunk has its offset, because it may be appended twice if the first answer of Redis is lost.
    """
    key = _build_redis_key(stream.run_id)
    if not stream.has_sent:
        pipeline.delete(key)
        pipeline.rpush(key, json.dumps([str(stream.message_id), str(stream.agent_id), stream.attempt]))
    if stream.stored_characters <= MAX_TEXT:
        chunks = [json.dumps([d.part, d.index, str(d.row_id), d.call_id, d.name, d.offset, d.text]) for d in deltas]
        pipeline.rpushx(key, *chunks)  # nothing if Redis has lost the beginning of the text
    if stream.is_ttl_due:
        pipeline.expire(key, PARTIAL_TTL_SECONDS)


def get_partials(run_ids: Sequence[UUID]) -> list[Partial]:
    """Return the text so far of the messages that these runs are streaming. Empty while Redis is down. Blocks the thread."""
    nothing: list[list[bytes]] = []
    stored = redis_client.call(lambda client: _read_stored(client, run_ids), nothing) if run_ids else nothing
    return [part for run_id, chunks in zip(run_ids, stored, strict=False) for part in _build_partials(run_id, chunks)]


def _read_stored(client: redis.Redis, run_ids: Sequence[UUID]) -> list[list[bytes]]:
    with client.pipeline(transaction=False) as pipeline:
        for run_id in run_ids:
            pipeline.lrange(_build_redis_key(run_id), 0, -1)
        stored: list[list[bytes]] = pipeline.execute()
    return stored


def _build_partials(run_id: UUID, chunks: Sequence[bytes]) -> list[Partial]:
    """Return the parts of the message that a run is streaming, each with its text so far.

    The first item of the list in Redis is a header: the ids of message and agent, and the attempt. Each further item is a chunk
    with its offset in the text of its part. A chunk that overlaps the text before it is added without the overlap; one that
    would leave a gap is skipped.
    """
    if not chunks:
        return []
    header, *stored_chunks = chunks
    message_id, agent_id, attempt = json.loads(header)
    parts: dict[tuple[Part, int], dict[str, Any]] = {}
    for chunk in stored_chunks:
        part, index, row_id, call_id, name, offset, text = json.loads(chunk)
        buffer = parts.setdefault((part, index), {"row_id": UUID(row_id), "call_id": None, "name": None, "text": ""})
        buffer["call_id"], buffer["name"] = call_id or buffer["call_id"], name or buffer["name"]
        if offset <= len(buffer["text"]):
            buffer["text"] += text[len(buffer["text"]) - offset :]
    return [
        Partial(
            message_id=UUID(message_id),
            run_id=run_id,
            agent_id=UUID(agent_id),
            attempt=attempt,
            part=part,
            index=index,
            **buffer,
        )
        for (part, index), buffer in parts.items()
    ]
