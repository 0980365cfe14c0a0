"""The hub of a process, which receives frames from the channel layer for all sockets of the process.

Its periodic work is in `maintenance`.
"""

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
from events.publish import BATCH_GROUP, RIGHTS_GROUP, get_group_name
from realtime import maintenance, subscribing
from realtime.activity import ActivityNotifier
from realtime.batches import Batched
from realtime.catchup import catch_up
from realtime.db_executor import run_in_db_thread
from realtime.handshake import find_sign_ins
from realtime.read_cursors import ReadCursors
from realtime.socket import Socket
from realtime.topic_buffer import Envelope, Subscription, SubscriptionReply, TopicBuffer
from realtime.topics import Topic
from server import limits

logger = logging.getLogger(__name__)

JOIN_TIMEOUT = 2.0
"""Seconds that a subscription waits for Redis. Without an answer it continues, and heartbeats read missed frames."""


class Hub:
    """The sockets of this process and their subscriptions."""

    def __init__(self) -> None:
        self.id = uuid4().hex
        self.sockets: dict[Socket, None] = {}
        self.buffers: dict[Topic, TopicBuffer] = {}
        self.sockets_by_owner: dict[UUID, set[Socket]] = defaultdict(set)
        self.activity = ActivityNotifier(self)
        self.read_cursors = ReadCursors(self)
        self._allowances: BoundedMap[UUID, TokenBucket] = BoundedMap(10_000)
        self.find_sign_in = Batched(find_sign_ins)
        self.add_subscriber = Batched(partial(subscribing.add_subscribers, hub_id=self.id))
        self.check_viewer = Batched(subscribing.check_viewers)
        self._remove_presence = Batched(partial(subscribing.remove_presence, hub_id=self.id))
        self.layer = get_channel_layer()
        self.channel = f"hub.{self.id}"
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._probe_received_at = 0.0
        self._is_disconnected = False

    # --- sockets and subscriptions ------------------------------------------------------------------------------

    def add(self, socket: Socket) -> None:
        """Add a socket."""
        self.sockets[socket] = None
        self.sockets_by_owner[socket.sign_in.owner_id].add(socket)

    def remove(self, socket: Socket) -> None:
        """Remove a socket. After the last one the hub stops its loops."""
        if socket not in self.sockets:
            return
        del self.sockets[socket]
        self.sockets_by_owner[socket.sign_in.owner_id].discard(socket)
        for topic in list(socket.subscriptions):
            self.unsubscribe(socket, topic)
        if not self.sockets_by_owner[socket.sign_in.owner_id]:
            del self.sockets_by_owner[socket.sign_in.owner_id]
        if not self.sockets:
            for task in self._loops:
                task.cancel()
            self._loops = []

    async def subscribe(self, socket: Socket, topic: Topic) -> Subscription:
        """Subscribe a socket to a topic. Frames are buffered until the subscription is answered (MSG5)."""
        buffer = self.buffers.get(topic)
        if buffer is None:
            buffer = self.buffers[topic] = TopicBuffer(topic, _catch_up)
        subscription = socket.subscriptions[topic] = buffer.subscribe(socket)
        if not buffer.has_joined_group:
            buffer.has_joined_group = await self.join_group(get_group_name(str(topic)))
        return subscription

    async def send_reply(self, socket: Socket, subscription: Subscription, since: int | None) -> None:
        """Send the reply to a subscription and then the buffered frames, unless the subscription has ended."""
        topic = subscription.topic
        if topic.kind == "chat":
            reply = await self.buffers[topic].get_reply(subscription, since)
        else:
            text = Subscribed(topic=str(topic), version=0, snapshot=False, rows=[]).model_dump_json()
            reply = SubscriptionReply(text, version=0, is_shareable=True)
        if socket.subscriptions.get(topic) is subscription:
            subscription.release(reply)
            self.buffers[topic].set_first_version(reply.version)

    def unsubscribe(self, socket: Socket, topic: Topic) -> None:
        """End the subscription of a socket."""
        if socket.subscriptions.pop(topic, None) is None:
            return
        self.buffers[topic].unsubscribe(socket)
        was_present = topic.kind == "chat" and not socket.sign_in.viewing_id
        if was_present and not self.has_socket_on(topic, socket.actor.id):
            self.spawn(self._leave_chat(topic, socket.actor.id))

    def has_socket_on(self, topic: Topic, actor_id: UUID) -> bool:
        """Return whether a person has a socket of this process on the topic. Sockets of viewings (`Viewing`) do not count."""
        sockets = self.sockets_by_owner.get(actor_id, ())
        return any(topic in socket.subscriptions for socket in sockets if not socket.sign_in.viewing_id)

    async def _leave_chat(self, topic: Topic, actor_id: UUID) -> None:
        await self._remove_presence((actor_id, topic))
        if self.has_socket_on(topic, actor_id):
            # The person has subscribed again since.
            await self.add_subscriber((actor_id, topic))

    def get_allowance(self, actor_id: UUID) -> TokenBucket:
        """Return the token bucket for all sockets of a person in this process. A new socket does not get a new bucket."""
        return self._allowances.get_or_set(
            actor_id, lambda: TokenBucket(limits.PERSON_FRAMES_PER_SECOND, limits.PERSON_BURST_FRAMES)
        )

    # --- the channel layer --------------------------------------------------------------------------------------------------

    async def join_group(self, group: str) -> bool:
        """Join a group of the channel layer. Return false if Redis does not answer in time; the attempt continues then."""
        task = self.spawn(self.layer.group_add(group, self.channel))
        done, _ = await asyncio.wait([task], timeout=JOIN_TIMEOUT)
        return bool(done) and not task.cancelled() and task.exception() is None

    async def _listen(self) -> None:
        while True:
            try:
                self._distribute(await self.layer.receive(self.channel))
            except (redis.RedisError, OSError):
                await asyncio.sleep(0.5)
            except Exception:
                logger.exception("A frame could not be distributed")

    def _distribute(self, message: Envelope) -> None:
        if message["type"] == "frame":
            if buffer := self.buffers.get(Topic.parse(message["topic"])):
                buffer.add(message)
        elif message["type"] == "batch":
            for topic, kind, text in message["frames"]:
                if buffer := self.buffers.get(Topic.parse(topic)):
                    buffer.add({"kind": kind, "text": text})
        elif message["type"] == "activity":
            self.activity.notify(Topic.parse(message["topic"]), UUID(message["chat"]))
        elif message["type"] == "rights":
            self.spawn(maintenance.check_rights(self, self.sockets_by_owner.get(UUID(message["actor"]), ())))
        elif message["type"] == "probe":
            self._receive_probe()

    async def _send_probe(self) -> None:
        """Send a message to this hub through Redis."""
        try:
            await self.layer.group_send(f"liveness.{self.id}", {"type": "probe"})
        except (redis.RedisError, OSError) as error:
            if not self._is_disconnected:
                logger.warning("The hub receives nothing from Redis; heartbeats repair: %s", error)
            self._is_disconnected = True

    def _receive_probe(self) -> None:
        """Record that a probe has arrived. Repair the buffers after an interruption, because frames are missing (MSG3)."""
        now = asyncio.get_running_loop().time()
        if self._probe_received_at and now - self._probe_received_at > 3 * maintenance.PROBE_INTERVAL_SECONDS:
            self.spawn(maintenance.repair_outdated_buffers(self))
        if self._is_disconnected:
            logger.info("The hub receives from Redis again")
        self._probe_received_at, self._is_disconnected = now, False

    # --- loops -----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the loops, unless they are running or the last socket has left meanwhile."""
        if self._loops or not self.sockets:
            return
        self._probe_received_at = 0.0
        loops = {
            "listener": self._listen(),
            "probe": maintenance.run_every(maintenance.PROBE_INTERVAL_SECONDS, self._send_probe),
            "rights": maintenance.run_every(
                maintenance.RIGHTS_CHECK_INTERVAL_SECONDS, partial(maintenance.check_rights, self)
            ),
            "heartbeat": maintenance.run_every(
                maintenance.HEARTBEAT_INTERVAL_SECONDS, partial(maintenance.send_heartbeats, self)
            ),
        }
        self._loops = [asyncio.create_task(loop, name=f"hub {name}") for name, loop in loops.items()]
        # The first step of `_listen` registers the channel; groups can be joined from then on.
        await asyncio.sleep(0)
        await self.join_own_groups()

    async def join_own_groups(self) -> None:
        """Join the groups of all hubs, and the group of the liveness probes. Joining again has no effect."""
        await asyncio.gather(
            self.join_group(RIGHTS_GROUP), self.join_group(BATCH_GROUP), self.join_group(f"liveness.{self.id}")
        )

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine in a task, and keep a reference to it until it has ended. Errors are logged."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._handle_task_end)
        return task

    def _handle_task_end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.log(
                logging.DEBUG if self._is_disconnected else logging.WARNING, "A task of the hub failed: %r", error
            )


async def _catch_up(topic: Topic, since: int | None) -> Subscribed:
    return await run_in_db_thread(catch_up, topic.id, since)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def get_hub() -> Hub:
    """Return the hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]
