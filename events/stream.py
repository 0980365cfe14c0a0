"""What agents say, as they say it: pieces are gathered per run and sent at most ten times a second, all runs of the
process in one Redis pipeline; what was said so far is kept in Redis for those who come in the middle.

Nothing here is the truth: the durable row that follows is. So Redis may be down, and no run fails by it.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from redis.asyncio import Redis

from common.redis_client import PAUSE, AsyncRedisClient, redis_client
from events.frames import Delta, Partial
from events.payloads import MAX_TEXT
from events.publish import packed

Part = Literal["text", "thinking", "arguments"]

TICK = 0.1
"""Seconds between two frames of a run."""

KEPT = 900
"""Seconds that the partial text of a run that fell silent is kept; a third less when it had spoken long."""


@dataclass
class _Said:
    """One part of a message: what was said of it so far, and what of that is still to be sent."""

    row_id: UUID
    call_id: str | None = None
    name: str | None = None
    sent: int = 0
    waiting: list[str] = field(default_factory=list)


class Stream:
    """One message of one run while it is being made. Made by `Streams.open`."""

    def __init__(
        self, streams: "Streams", *, topic: str, run_id: UUID, agent_id: UUID, message_id: UUID, attempt: int
    ) -> None:
        self.topic = topic
        self.run_id = run_id
        self.agent_id = agent_id
        self.message_id = message_id
        self.attempt = attempt
        self.due = 0.0
        self.kept = 0
        self.begun = False
        self._renewed = 0.0
        self._streams = streams
        self._parts: dict[tuple[Part, int], _Said] = {}

    def say(
        self, part: Part, text: str, *, index: int = 0, row_id: UUID | None = None, call_id: str | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        """Add a piece. Cheap and synchronous: it is sent by the process's flush loop, the first one at once.

        `row_id` is the row that the part becomes; the message itself by default.
        """
        said = self._parts.get((part, index))
        if said is None:
            said = self._parts[part, index] = _Said(row_id or self.message_id)
        said.call_id = call_id or said.call_id
        said.name = name or said.name
        if text or name:
            said.waiting.append(text)
            self._streams.wake(self)

    async def flush(self) -> None:
        """Send what waits; call it before the durable frame goes out. Neither raises nor waits for a dead Redis."""
        if not self._streams.is_redis_down:
            await self._streams.flush([self])

    async def close(self) -> None:
        """Forget the partial text; call it after the durable row has been committed. Never raises for Redis."""
        await self._streams.close_stream(self)

    @property
    def waits(self) -> bool:
        return any(said.waiting for said in self._parts.values())

    @property
    def renews(self) -> bool:
        """Whether it is time to say again how long the partial text is kept: not with every frame."""
        return not self.begun or time.monotonic() - self._renewed > KEPT / 3

    def take(self) -> list[Delta]:
        """What waits, one frame for each part; it stays waiting until `sent` is told."""
        return [
            Delta(
                topic=self.topic, message_id=self.message_id, row_id=said.row_id, run_id=self.run_id,
                agent_id=self.agent_id, attempt=self.attempt, part=part, index=index, call_id=said.call_id, name=said.name,
                offset=said.sent, text="".join(said.waiting),
            )
            for (part, index), said in self._parts.items() if said.waiting
        ]  # fmt: skip

    def sent(self, deltas: Sequence[Delta]) -> None:
        """These went out. More may have been said meanwhile: that stays."""
        if self.renews:
            self._renewed = time.monotonic()
        self.begun = True
        self.kept += sum(len(delta.text) for delta in deltas)
        for delta in deltas:
            said = self._parts[(delta.part, delta.index)]
            said.sent += len(delta.text)
            rest = "".join(said.waiting)[len(delta.text) :]
            said.waiting = [rest] if rest else []


class Streams:
    """All streams of this process, on one event loop, flushed together."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._begin()

    def _begin(self) -> None:
        self._client = AsyncRedisClient()
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._sending = asyncio.Lock()
        self._dirty: dict[Stream, None] = {}
        self._current: dict[UUID, Stream] = {}

    def open(self, *, topic: str, run_id: UUID, agent_id: UUID, message_id: UUID, attempt: int) -> Stream:
        """Begin to stream a message. Call on the loop; a newer message of the same run replaces the older one."""
        self._start()
        stream = Stream(
            self, topic=topic, run_id=run_id, agent_id=agent_id, message_id=message_id, attempt=attempt
        )  # fmt: skip
        self._current[run_id] = stream
        return stream

    def wake(self, stream: Stream) -> None:
        """This stream has something to send."""
        if not self._dirty or not stream.begun:
            self._news.set()
        self._dirty[stream] = None

    async def flush(self, streams: Iterable[Stream]) -> None:
        """Send what these streams have waiting, in one pipeline. What could not be sent waits for the next time."""
        streams = [stream for stream in streams if stream.waits]
        if streams:
            await self._client.call(lambda client: self._send(client, streams), None)

    async def close_stream(self, stream: Stream) -> None:
        """See `Stream.close`."""
        self._dirty.pop(stream, None)
        if self._current.get(stream.run_id) is not stream:
            return  # a newer message of this run has taken the place, and cleared it
        del self._current[stream.run_id]
        await self._client.call(lambda client: client.delete(_key(stream.run_id)), 0)

    @property
    def is_redis_down(self) -> bool:
        return self._client.breaker.is_open

    async def aclose(self) -> None:
        """Stop the loop and let the connection go."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self._client.close()
        self._dirty.clear()
        self._current.clear()

    async def _send(self, client: Redis, streams: Iterable[Stream]) -> None:
        async with self._sending:
            taken = [(stream, stream.take()) for stream in streams if stream.waits]
            if not taken:
                return
            async with client.pipeline(transaction=False) as pipeline:
                for stream, deltas in taken:
                    _remember(pipeline, stream, deltas)
                    for delta in deltas:
                        pipeline.publish(*packed(delta))
                await pipeline.execute()
            for stream, deltas in taken:
                stream.sent(deltas)
                if not stream.waits:
                    self._dirty.pop(stream, None)

    async def _run(self) -> None:
        """The flush loop. Ticks are shared, so that all runs go out together; a first piece does not wait for one."""
        clock = asyncio.get_running_loop().time
        while True:
            await self._wait(clock)
            now = clock()
            due = [stream for stream in self._dirty if not stream.begun or stream.due <= now]
            if due:
                # The next shared tick that is at least one whole tick away: never more than ten frames a second.
                for stream in due:
                    stream.due = (int(now / TICK) + (2 if not stream.begun else 1)) * TICK
                await self.flush(due)
            if self.is_redis_down:
                await asyncio.sleep(PAUSE)

    async def _wait(self, clock: Callable[[], float]) -> None:
        """Until a first piece comes; or until the next shared tick after anything else was said."""
        if not self._dirty:
            await self._news.wait()
        self._news.clear()
        if any(not stream.begun for stream in self._dirty):
            return
        try:
            async with asyncio.timeout((int(clock() / TICK) + 1) * TICK - clock()):
                await self._news.wait()
        except TimeoutError:
            return

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # A client, an event and a lock belong to the loop they were first used on.
            self._begin()
            self._loop = loop
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._run(), name="streams")


streams = Streams()
"""This process's streams."""


def _key(run_id: UUID) -> str:
    return f"partial:{run_id}"


def _remember(pipeline: Any, stream: Stream, deltas: Sequence[Delta]) -> None:
    """Keep the pieces as a list: appending costs the same however long the text is. Each says where it starts, so
    that a piece which was sent twice, because the answer to the first time was lost, does not count twice."""
    key = _key(stream.run_id)
    if not stream.begun:
        pipeline.delete(key)
        pipeline.rpush(key, json.dumps([str(stream.message_id), str(stream.agent_id), stream.attempt]))
    if stream.kept <= MAX_TEXT:
        pieces = [json.dumps([d.part, d.index, str(d.row_id), d.call_id, d.name, d.offset, d.text]) for d in deltas]
        pipeline.rpushx(key, *pieces)  # not when Redis has lost the beginning: a piece alone says nothing
    if stream.renews:
        pipeline.expire(key, KEPT)


def partials_of(run_ids: Sequence[UUID]) -> list[Partial]:
    """What these runs have said so far of the message they are making; empty for those that are silent.

    Synchronous, for a thread. Without Redis: nothing.
    """
    nothing: list[list[bytes]] = []
    kept = redis_client.call(lambda client: _kept(client, run_ids), nothing) if run_ids else nothing
    return [part for run_id, pieces in zip(run_ids, kept, strict=False) for part in _joined(run_id, pieces)]


def _kept(client: Any, run_ids: Sequence[UUID]) -> list[list[bytes]]:
    with client.pipeline(transaction=False) as pipeline:
        for run_id in run_ids:
            pipeline.lrange(_key(run_id), 0, -1)
        kept: list[list[bytes]] = pipeline.execute()
    return kept


def _joined(run_id: UUID, pieces: Sequence[bytes]) -> list[Partial]:
    if not pieces:
        return []
    message_id, agent_id, attempt = json.loads(pieces[0])
    parts: dict[tuple[Part, int], dict[str, Any]] = {}
    for piece in pieces[1:]:
        part, index, row_id, call_id, name, offset, text = json.loads(piece)
        said = parts.setdefault((part, index), {"row_id": UUID(row_id), "call_id": None, "name": None, "text": ""})
        said["call_id"], said["name"] = call_id or said["call_id"], name or said["name"]
        if offset <= len(said["text"]):
            said["text"] += text[len(said["text"]) - offset :]
    return [
        Partial(
            message_id=UUID(message_id), run_id=run_id, agent_id=UUID(agent_id), attempt=attempt,
            part=part, index=index, **said,
        )
        for (part, index), said in parts.items()
    ]  # fmt: skip
