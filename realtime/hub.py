"""The hub: one per process (and event loop). It hears the channel layer once for all sockets here, and keeps what they
follow. What it does by the clock is in `tending`."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Coroutine
from functools import partial
from typing import Any
from uuid import UUID, uuid4
from weakref import WeakKeyDictionary

import redis
from channels.layers import get_channel_layer

from common.bounded import BoundedMap
from common.token_bucket import TokenBucket
from events.frames import Subscribed
from events.publish import BATCHES, RIGHTS, group_of
from realtime import admission, tending
from realtime.batches import Batched
from realtime.catchup import catch_up
from realtime.db_executor import run_in_db_thread
from realtime.entry import people_behind
from realtime.feed import Answer, Feed, Frame, Subscription
from realtime.read_cursors import ReadCursors
from realtime.room_bells import RoomBells
from realtime.socket import Socket
from realtime.topics import Topic
from server import limits

logger = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds that somebody who subscribes waits for Redis; then they go on, and the heartbeat repairs."""


class Hub:
    """The sockets of this process and what they follow."""

    def __init__(self) -> None:
        self.id = uuid4().hex
        self.sockets: dict[Socket, None] = {}
        self.feeds: dict[Topic, Feed] = {}
        self.of_actor: dict[UUID, set[Socket]] = defaultdict(set)
        self.room_bells = RoomBells(self)
        self.read_cursors = ReadCursors(self)
        self._allowances: BoundedMap[UUID, TokenBucket] = BoundedMap(10_000)
        self.person = Batched(people_behind)
        self.admit = Batched(partial(admission.admit, hub_id=self.id))
        self._departure = Batched(partial(admission.depart, hub_id=self.id))
        self.layer = get_channel_layer()
        self.channel = f"hub.{self.id}"
        self._tasks: set[asyncio.Task[Any]] = set()
        self._life: list[asyncio.Task[None]] = []
        self._pulse_heard = 0.0
        self._is_deaf = False

    # --- sockets and what they follow ---------------------------------------------------------------------------

    def add(self, socket: Socket) -> None:
        """A socket is coming in."""
        self.sockets[socket] = None
        self.of_actor[socket.actor.id].add(socket)

    def part(self, socket: Socket) -> None:
        """A socket is gone; the last one lets the hub sleep."""
        if socket not in self.sockets:
            return
        del self.sockets[socket]
        self.of_actor[socket.actor.id].discard(socket)
        for topic in list(socket.subscriptions):
            self.unfollow(socket, topic)
        if not self.of_actor[socket.actor.id]:
            del self.of_actor[socket.actor.id]
        if not self.sockets:
            self._sleep()

    async def follow(self, socket: Socket, topic: Topic) -> Subscription:
        """Hear a topic for this socket; frames are held until the subscription is released (MSG5)."""
        feed = self.feeds.get(topic)
        if feed is None:
            feed = self.feeds[topic] = Feed(topic, _catch_up)
        subscription = socket.subscriptions[topic] = feed.follow(socket)
        if not feed.is_heard:
            feed.is_heard = await self.hear(group_of(str(topic)))
        return subscription

    async def answer(self, socket: Socket, subscription: Subscription, since: int | None) -> None:
        """The answer goes to the socket, then what came meanwhile; unless it has left the topic already."""
        topic = subscription.topic
        answer = await self.feeds[topic].answer(subscription, since) if topic.kind == "chat" else _doorbell(topic)
        if socket.subscriptions.get(topic) is subscription:
            subscription.release(answer)
            self.feeds[topic].settle(answer.version)

    def unfollow(self, socket: Socket, topic: Topic) -> None:
        """Nothing more of this topic for this socket."""
        if socket.subscriptions.pop(topic, None) is None:
            return
        self.feeds[topic].leave(socket)
        if topic.kind == "chat" and not self.is_here(topic, socket.actor.id):
            self.spawn(self._depart(topic, socket.actor.id))

    def is_here(self, topic: Topic, actor_id: UUID) -> bool:
        """Somebody has a socket of this process on the topic."""
        return any(topic in socket.subscriptions for socket in self.of_actor.get(actor_id, ()))

    async def _depart(self, topic: Topic, actor_id: UUID) -> None:
        await self._departure((actor_id, topic))
        if self.is_here(topic, actor_id):
            # They came back while we said that they had gone.
            await self.admit((actor_id, topic))

    def allowance_of(self, actor_id: UUID) -> TokenBucket:
        """Return what all sockets of a person may say here. It outlives them, so that a new socket gives no new one."""
        return self._allowances.get_or_set(actor_id, lambda: TokenBucket(limits.PERSON_PER_SECOND, limits.PERSON_BURST))

    # --- hearing --------------------------------------------------------------------------------------------------

    async def hear(self, group: str) -> bool:
        """Subscribe to a group at the layer; false when Redis does not answer. The attempt itself is never broken off."""
        task = self.spawn(self.layer.group_add(group, self.channel))
        done, _ = await asyncio.wait([task], timeout=PATIENCE)
        return bool(done) and not task.cancelled() and task.exception() is None

    async def _listen(self) -> None:
        while True:
            try:
                self._take(await self.layer.receive(self.channel))
            except (redis.RedisError, OSError):
                await asyncio.sleep(0.5)
            except Exception:
                logger.exception("A frame could not be handed on")

    def _take(self, message: Frame) -> None:
        if message["type"] == "frame":
            if feed := self.feeds.get(Topic.parse(message["topic"])):
                feed.take(message)
        elif message["type"] == "batch":
            for topic, kind, text in message["frames"]:
                if feed := self.feeds.get(Topic.parse(topic)):
                    feed.take({"kind": kind, "text": text})
        elif message["type"] == "said":
            self.room_bells.said(Topic.parse(message["topic"]), UUID(message["chat"]))
        elif message["type"] == "rights":
            self.spawn(tending.check_rights(self, self.of_actor.get(UUID(message["actor"]), ())))
        elif message["type"] == "pulse":
            self._hear_pulse()

    async def _pulse(self) -> None:
        """Say something to ourselves, through Redis."""
        try:
            await self.layer.group_send(f"pulse.{self.id}", {"type": "pulse"})
        except (redis.RedisError, OSError) as error:
            if not self._is_deaf:
                logger.warning("The hub hears nothing from Redis; heartbeats read what is missed: %s", error)
            self._is_deaf = True

    def _hear_pulse(self) -> None:
        """Our own voice came back. After a silence, what was said meanwhile is lost: look what there is (MSG3)."""
        now = asyncio.get_running_loop().time()
        if self._pulse_heard and now - self._pulse_heard > 3 * tending.PULSE:
            self.spawn(tending.look_at_heads(self))
        if self._is_deaf:
            logger.info("The hub hears Redis again")
        self._pulse_heard, self._is_deaf = now, False

    # --- life -----------------------------------------------------------------------------------------------------

    async def wake(self) -> None:
        """Begin to hear, and to do what is done by the clock, unless that has begun."""
        if self._life or not self.sockets:
            return
        self._pulse_heard = 0.0
        self._life = [
            asyncio.create_task(self._listen(), name="hub listens"),
            asyncio.create_task(tending.every(tending.PULSE, self._pulse), name="hub pulse"),
            asyncio.create_task(tending.every(tending.RIGHTS, lambda: tending.check_rights(self)), name="hub rights"),
            asyncio.create_task(tending.every(tending.HEARTBEAT, lambda: tending.beat(self)), name="hub heartbeat"),
        ]
        # The listener's first step makes the channel known to the layer; groups can be joined from then on.
        await asyncio.sleep(0)
        await self.hear_ours()

    async def hear_ours(self) -> None:
        """The groups that every hub hears, and its own pulse. Doing it again does nothing."""
        await asyncio.gather(self.hear(RIGHTS), self.hear(BATCHES), self.hear(f"pulse.{self.id}"))

    def _sleep(self) -> None:
        for task in self._life:
            task.cancel()
        self._life = []

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Do it beside; the task is kept until it is done, and what goes wrong is logged."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.log(logging.DEBUG if self._is_deaf else logging.WARNING, "The hub could not do something: %r", error)


async def _catch_up(topic: Topic, since: int | None) -> Subscribed:
    return await run_in_db_thread(catch_up, topic.id, since)


def _doorbell(topic: Topic) -> Answer:
    text = Subscribed(topic=str(topic), version=0, snapshot=False, rows=[]).model_dump_json()
    return Answer(text, version=0, is_shared=True)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def this_hub() -> Hub:
    """The hub of the running event loop: a server process has one loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]
