"""The buffer of a topic, which orders frames and sends them to the subscribed sockets of this process.

Missing frames are replaced by one read of the database for all sockets.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from events.frames import Changes, Presence, Subscribed
from events.rows import RunRow
from realtime.topics import Topic

logger = logging.getLogger(__name__)

OUT_OF_ORDER_WAIT_SECONDS = 0.05
"""Seconds to wait for an earlier frame, because two transactions may publish in another order than they commit."""

SHARED_READ_SECONDS = 1.0
"""Seconds in which later subscriptions get the same reply, for example when all sockets reconnect after a restart (P8)."""

PRESENCE_INTERVAL_SECONDS = 1.0
"""Seconds between two presence frames, so that a team that connects at once does not cause a frame for each person."""

CROWD_SIZE = 25
"""With this many subscriptions in this process, deltas are gathered for `GATHERING_SECONDS`."""

GATHERING_SECONDS = 0.25
"""Seconds between two writes of gathered deltas. A write costs one system call for each socket."""

MAX_BUFFERED_FRAMES = 512
"""A maximum for each of these: transient frames that wait for the reply to a subscription, gathered deltas, early frames."""

Envelope = dict[str, Any]
"""A frame as the channel layer carries it (`events.publish`): its `kind` and encoded `text`; of `changes` also `after` and
`version`. The text of a frame that is too large is null: the rows of `changes` are then read, other frames are dropped."""
CatchUp = Callable[[Topic, int | None], Awaitable[Subscribed]]


@dataclass(frozen=True, slots=True)
class SubscriptionReply:
    """The encoded reply to a subscription. `is_shareable`: other new subscriptions may get it as well."""

    text: str
    version: int
    is_shareable: bool


class Subscriber(Protocol):
    """The part of a socket that this module needs."""

    def send(self, text: str, *, transient: bool) -> None:
        """Send a frame. Never raises: a socket that cannot take it closes itself."""
        ...

    def send_transient(self, texts: tuple[str, ...]) -> None:
        """Send frames that may be lost. Never raises."""
        ...


class Subscription:
    """The subscription of a socket to a topic. Frames are buffered until the reply is sent, and are sent after it in order.

    `version` is the last version that was sent to the socket; before the reply, that of the buffer when the socket subscribed.
    """

    __slots__ = ("_buffered", "subscriber", "topic", "version")

    def __init__(self, subscriber: Subscriber, topic: Topic, version: int) -> None:
        self.subscriber = subscriber
        self.topic = topic
        self.version = version
        self._buffered: list[tuple[str, int | None]] | None = []

    def receive(self, text: str, version: int | None) -> None:
        """Send a frame of the topic, or buffer it. `version` is null for transient frames."""
        if self._buffered is not None:
            if version is not None or len(self._buffered) < MAX_BUFFERED_FRAMES:
                self._buffered.append((text, version))
        elif version is None:
            self.subscriber.send(text, transient=True)
        elif version > self.version:
            self.version = version
            self.subscriber.send(text, transient=False)

    def receive_transient(self, texts: tuple[str, ...]) -> None:
        """Send transient frames of the topic, or buffer them."""
        if self._buffered is None:
            self.subscriber.send_transient(texts)
        else:
            for text in texts:
                self.receive(text, None)

    def release(self, reply: SubscriptionReply) -> None:
        """Send the reply, and then the buffered frames."""
        frames, self._buffered = self._buffered or [], None
        self.version = reply.version
        self.subscriber.send(reply.text, transient=False)
        for frame in frames:
            self.receive(*frame)


class ChatRead:
    """A read of the chat for all subscriptions that wait for it. It starts when the previous read has ended.

    Until then a new subscription may lower `since`, so `work` gets this object and reads `since` only when it starts.
    """

    __slots__ = ("_before", "_work", "has_started", "is_stale", "since", "task")

    def __init__(
        self, work: Callable[["ChatRead"], Awaitable[SubscriptionReply]], since: int | None, before: "ChatRead | None"
    ) -> None:
        self.since = since
        self.has_started = False
        self.is_stale = False
        self._work = work
        self._before = before
        self.task = asyncio.create_task(self._run(), name="read")

    def can_serve(self, since: int | None) -> bool:
        """Return whether a new subscription from version `since` may share the reply."""
        starts_early_enough = self.since is None or (since is not None and self.since <= since)
        return self.has_started and not self.is_stale and starts_early_enough

    async def _run(self) -> SubscriptionReply:
        before, self._before = self._before, None
        if before is not None:
            await asyncio.wait([before.task])
        self.has_started = True
        return await self._work(self)


class TopicBuffer:
    """The frames of one topic, in order.

    `version` is the version up to which frames have been sent; null until the chat has been read. The topics of workspaces and
    people are not read: the hub sets their version to 0. `has_joined_group`: the hub has joined the group of the topic.
    `repair`: the task that reads missing rows, if any.
    """

    def __init__(self, topic: Topic, catch_up: CatchUp) -> None:
        self.topic = topic
        self.version: int | None = None
        self.has_joined_group = False
        self.repair: asyncio.Task[None] | None = None
        self._catch_up = catch_up
        self._subscriptions: dict[Subscriber, Subscription] = {}
        self._early: list[Envelope] = []  # `changes` frames that came before an earlier one, or before the first read
        self._reads: dict[bool, ChatRead] = {}  # true: the whole chat; false: the changes since a version
        self._present_people: list[UUID] | None = None  # the people of the last heartbeat
        self._waiting_presence: str | None = None  # the newest frame, until `PRESENCE_INTERVAL_SECONDS` are over
        self._sent_presence: str | None = None  # the last frame, also for subscriptions that share an older reply
        self._presence_timer: asyncio.TimerHandle | None = None
        self._gathered: list[str] = []  # deltas until the next write
        self._gather_timer: asyncio.TimerHandle | None = None

    @property
    def is_empty(self) -> bool:
        return not self._subscriptions

    def subscribe(self, subscriber: Subscriber) -> Subscription:
        """Add a subscription. Its frames are buffered until `Subscription.release`."""
        subscription = Subscription(subscriber, self.topic, self.version or 0)
        self._subscriptions[subscriber] = subscription
        return subscription

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Remove the subscription of a socket."""
        self._subscriptions.pop(subscriber, None)
        if not self._subscriptions:
            # Frames are no longer received, so the next subscription needs a new read.
            self.version = None
            self._early.clear()
            self._gathered.clear()
            for read in self._reads.values():
                read.is_stale = True

    async def get_reply(self, subscription: Subscription, since: int | None) -> SubscriptionReply:
        """Return the reply to a subscription.

        Subscriptions within a second share one read, unless its version is below that of the buffer when they subscribed
        (MSG5), or an agent is streaming, because the streamed text would have a gap. Other subscriptions wait for the next
        read, which starts at the lowest `since` of them. At a time there is one read of the whole chat, and one of changes.
        """
        last = self._reads.get(since is None)
        if last is not None and last.can_serve(since):
            reply = await asyncio.shield(last.task)
            if reply.is_shareable and reply.version >= subscription.version:
                if self._sent_presence is not None:
                    subscription.receive(self._sent_presence, None)  # newer than the reply
                return reply
            last = self._reads.get(since is None)  # may be another read after the wait
        if last is None or last.has_started:
            last = self._reads[since is None] = ChatRead(self._read, since, last)
        elif since is not None and last.since is not None:
            last.since = min(last.since, since)
        reply = await asyncio.shield(last.task)
        if since is not None and since > reply.version:
            return await self.get_reply(subscription, None)  # the client sent a version that the chat never had
        return reply

    async def _read(self, read: ChatRead) -> SubscriptionReply:
        try:
            found = await self._catch_up(self.topic, read.since)
        except Exception:
            self._discard_read(read)  # so that the next subscription reads again
            raise
        asyncio.get_running_loop().call_later(SHARED_READ_SECONDS, self._discard_read, read)
        is_streaming = any(isinstance(row, RunRow) and row.state == "running" for row in found.rows)
        return SubscriptionReply(found.model_dump_json(), found.version, is_shareable=not is_streaming)

    def _discard_read(self, read: ChatRead) -> None:
        if self._reads.get(read.since is None) is read:
            del self._reads[read.since is None]

    def set_first_version(self, version: int) -> None:
        """Set the version of the buffer to that of the first read, and send frames after it."""
        if self.version is None:
            self.version = version
            self._release_early_frames()

    def add(self, envelope: Envelope) -> None:
        """Add a frame from the channel layer. Does not wait or use the database."""
        if self.is_empty:
            return
        if envelope["kind"] != "changes":
            self._forward(envelope)
        elif self._is_next(envelope):
            self._advance(envelope)
            if self._early:
                self._release_early_frames()
        elif self.version is None or envelope["version"] > self.version:
            self._early = [*self._early[-MAX_BUFFERED_FRAMES:], envelope]
            self._release_early_frames()

    def repair_up_to(self, version: int) -> None:
        """Read what is missing up to this version of the chat, unless the frames arrive within `OUT_OF_ORDER_WAIT_SECONDS`."""
        if self.version is not None and version > self.version and not self.is_empty:
            self._start_repair(version)

    def update_presence(self, people: list[UUID]) -> None:
        """Send the people who are present if they have changed."""
        if people != self._present_people:
            self._present_people = people
            self._forward_presence(Presence(topic=str(self.topic), present=people).model_dump_json())

    def _forward(self, envelope: Envelope) -> None:
        if envelope["kind"] == "presence":
            self._present_people = None  # so that the next heartbeat sends the list that it reads
            self._forward_presence(envelope["text"])
        elif envelope["text"] is None:
            return
        elif envelope["kind"] == "delta" and len(self._subscriptions) >= CROWD_SIZE:
            self._gather(envelope["text"])
        else:
            self._send_to_all(envelope["text"], None)

    def _gather(self, text: str) -> None:
        """Send the first delta at once, and those that follow within `GATHERING_SECONDS` together."""
        if self._gather_timer is None:
            self._send_to_all(text, None)
            self._gather_timer = asyncio.get_running_loop().call_later(GATHERING_SECONDS, self._flush_gathered)
        elif len(self._gathered) < MAX_BUFFERED_FRAMES:
            self._gathered.append(text)

    def _flush_gathered(self) -> None:
        self._gather_timer = None
        if self._gathered:
            self._gather_timer = asyncio.get_running_loop().call_later(GATHERING_SECONDS, self._flush_gathered)
            self._send_gathered()

    def _send_gathered(self) -> None:
        gathered, self._gathered = tuple(self._gathered), []
        for subscription in list(self._subscriptions.values()):
            subscription.receive_transient(gathered)

    def _forward_presence(self, text: str | None) -> None:
        """Send the first presence frame at once, and then at most one in a second, the newest."""
        self._waiting_presence = text
        if self._presence_timer is None:
            self._send_last_presence()

    def _send_last_presence(self) -> None:
        self._presence_timer = None
        if self._waiting_presence is not None:
            self._send_to_all(self._waiting_presence, None)
            self._sent_presence, self._waiting_presence = self._waiting_presence, None
            self._presence_timer = asyncio.get_running_loop().call_later(
                PRESENCE_INTERVAL_SECONDS, self._send_last_presence
            )

    def _is_next(self, envelope: Envelope) -> bool:
        known = self.version
        return known is not None and envelope["text"] is not None and envelope["after"] <= known < envelope["version"]

    def _advance(self, envelope: Envelope) -> None:
        self.version = envelope["version"]
        self._send_to_all(envelope["text"], envelope["version"])

    def _send_to_all(self, text: str, version: int | None) -> None:
        if self._gathered:
            self._send_gathered()  # keep the order
        for subscription in list(self._subscriptions.values()):
            subscription.receive(text, version)

    def _release_early_frames(self) -> None:
        """Send the early frames that are next in order. If others remain, start a repair."""
        if self.version is None:
            return
        for frame in sorted(self._early, key=lambda early: early["version"]):
            if self._is_next(frame):
                self._advance(frame)
        known = self.version
        self._early = [frame for frame in self._early if frame["version"] > known]
        if self._early:
            self._start_repair(max(frame["version"] for frame in self._early))

    def _start_repair(self, version: int) -> None:
        if self.repair is None or self.repair.done():
            self.repair = asyncio.create_task(self._repair(version), name=f"repair {self.topic}")

    async def _repair(self, version: int) -> None:
        await asyncio.sleep(OUT_OF_ORDER_WAIT_SECONDS)
        since = self.version
        if since is not None and since < version:
            try:
                found = await self._catch_up(self.topic, since)
            except Exception:
                # The next frame or heartbeat starts another repair.
                logger.exception("The missing rows of %s could not be read", self.topic)
                return
            self._send_missed(found, since)
        self.repair = None  # this task is not done yet, and `_release_early_frames` may start the next
        self._release_early_frames()

    def _send_missed(self, found: Subscribed, since: int) -> None:
        """Send the missed rows to all sockets, as a `changes` frame or as a snapshot."""
        if self.version is None or found.version <= self.version:
            return
        self.version = found.version
        frame: Changes | Subscribed = found
        if not found.snapshot:
            frame = Changes(topic=found.topic, after=since, version=found.version, rows=found.rows)
        self._send_to_all(frame.model_dump_json(), found.version)
