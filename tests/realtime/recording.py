"""Recording the frames that are published on a topic, by subscribing in Redis."""

import time
from types import TracebackType
from typing import Any, Self

import redis
from channels.layers import get_channel_layer
from django.conf import settings

from events.frames import ListChanged
from events.publish import encode_for_redis


class Recording:
    """Records the envelopes of a topic inside a `with` block."""

    def __init__(self, topic: str) -> None:
        self._channel, _ = encode_for_redis(ListChanged(topic=topic, list="me"))
        self._client = redis.Redis.from_url(settings.REDIS_URL)
        self._pubsub = self._client.pubsub()

    def __enter__(self) -> Self:
        self._pubsub.subscribe(self._channel)
        while self._pubsub.get_message(timeout=5) is None:
            pass
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._pubsub.close()
        self._client.close()

    def get_received(self) -> list[dict[str, Any]]:
        """Return the envelopes since the last call, in order, up to a mark that is published now."""
        mark = str(time.monotonic_ns()).encode()
        self._client.publish(self._channel, mark)
        found: list[dict[str, Any]] = []
        while True:
            message = self._pubsub.get_message(timeout=5)
            assert message is not None, "Redis does not answer"
            if message["data"] == mark:
                return found
            found.append(get_channel_layer().deserialize(message["data"]))
