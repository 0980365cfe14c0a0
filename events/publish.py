"""The one door through which frames leave: one Redis PUBLISH, in the channel layer's own format, once the transaction
has committed. What is lost here is repaired by the hub (architecture §5, §7); so Redis may be down, and nobody fails.
"""

import logging
import time
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import redis
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction
from redis.backoff import NoBackoff
from redis.retry import Retry

from events.frames import Bell, Changes, Delta, DraftText, Presence, Typing

logger = logging.getLogger(__name__)

Frame = Changes | Delta | DraftText | Bell | Presence | Typing

MAX_TEXT = 256 * 1024
"""Longer frames (bytes, encoded) do not travel: the hub hears only the version, and reads the rows itself."""

PAUSE = 1.0
"""Seconds that nothing is tried after Redis did not answer, so that requests do not each wait for it."""

RIGHTS = "rights"
"""The group that every hub hears: whose rights changed. Rare, so one group for all is enough."""


def group_of(topic: str) -> str:
    """The channel layer's name of a topic: it knows no colons."""
    return topic.replace(":", ".")


def wire_name(group: str) -> str:
    """The Redis channel that the layer listens on for a group."""
    return f"{_layer_config().get('prefix', 'asgi')}__group__{group}"


def publish(frame: Frame) -> None:
    """Tell everybody on the frame's topic, on commit; at once outside a transaction."""
    message = _packed(frame)
    transaction.on_commit(lambda: _send([message]), robust=True)


def publish_now(*frames: Frame) -> None:
    """Tell at once, in one round trip; for passing frames that belong to no transaction."""
    _send([_packed(frame) for frame in frames])


def rights_changed(actor_id: UUID) -> None:
    """On commit: every hub asks again what this person may follow, and ends what they may not (D5).

    Services call it when somebody leaves or is removed from a chat or workspace, signs out or is deactivated.
    """
    message = (RIGHTS, {"type": "rights", "actor": str(actor_id)})
    transaction.on_commit(lambda: _send([_serialized(*message)]), robust=True)


def envelope(frame: Frame) -> dict[str, Any]:
    """What travels: the encoded text, and beside it what the hub must know without reading the text."""
    message: dict[str, Any] = {
        "type": "frame",
        "kind": frame.type,
        "topic": frame.topic,
        "text": frame.model_dump_json(),
    }
    if len(message["text"]) > MAX_TEXT or len(message["text"].encode()) > MAX_TEXT:
        message["text"] = None
    if isinstance(frame, Changes):
        message |= {"after": frame.after, "version": frame.version}
    if isinstance(frame, Presence):
        message["present"] = [str(actor) for actor in frame.present]
    return message


def packed(frame: Frame) -> tuple[str, bytes]:
    """The Redis channel and the bytes of a frame, for those who send in a pipeline of their own."""
    return _packed(frame)


def _packed(frame: Frame) -> tuple[str, bytes]:
    return _serialized(group_of(frame.topic), envelope(frame))


def _serialized(group: str, message: dict[str, Any]) -> tuple[str, bytes]:
    return wire_name(group), get_channel_layer().serialize(message)


def _layer_config() -> dict[str, Any]:
    config: dict[str, Any] = settings.CHANNEL_LAYERS["default"]["CONFIG"]
    return config


class _Wire:
    """This process's connection to Redis for sending, and whether it is worth trying."""

    def __init__(self) -> None:
        self._client: redis.Redis | None = None
        self._url = ""
        self._down_until = 0.0
        self._down = False

    def send(self, messages: Iterable[tuple[str, bytes]]) -> None:
        """Never raises: a committed request must not fail because others hear of it late."""
        if time.monotonic() < self._down_until:
            return
        try:
            self._publish(list(messages))
        except (redis.RedisError, OSError) as error:
            self._fell(error)
        else:
            self._down = False

    def _publish(self, messages: list[tuple[str, bytes]]) -> None:
        client = self._connected()
        if len(messages) == 1:
            client.publish(*messages[0])
            return
        with client.pipeline(transaction=False) as pipeline:
            for channel, body in messages:
                pipeline.publish(channel, body)
            pipeline.execute()

    def _connected(self) -> redis.Redis:
        if self._client is None or self._url != settings.REDIS_URL:
            self._url = settings.REDIS_URL
            self._client = redis.Redis.from_url(
                self._url, socket_connect_timeout=0.5, socket_timeout=1.0, retry=Retry(NoBackoff(), 1)
            )
        return self._client

    def _fell(self, error: Exception) -> None:
        self._down_until = time.monotonic() + PAUSE
        if not self._down:
            logger.warning("Redis did not take a frame; sockets will catch up by their heartbeat: %s", error)
        self._down = True


_wire = _Wire()


def _send(messages: list[tuple[str, bytes]]) -> None:
    _wire.send(messages)


def send_raw(channel: str, body: bytes) -> None:
    """Publish bytes on a plain Redis channel, at once; never raises."""
    _wire.send([(channel, body)])
