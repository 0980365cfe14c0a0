"""This process's connection to Redis, for threads. Redis may be down: then nothing here fails or waits."""

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

logger = logging.getLogger(__name__)
T = TypeVar("T")

PAUSE = 1.0
"""Seconds that nothing is tried after Redis did not answer, so that requests do not each wait for it."""


class RedisClient:
    """Asks Redis, and remembers when it is not worth trying."""

    def __init__(self) -> None:
        self._client: redis.Redis | None = None
        self._url = ""
        self._down_until = 0.0
        self._down = False

    def send(self, messages: Sequence[tuple[str, bytes]]) -> None:
        """Publish on Redis channels, in one round trip. Never raises."""
        self.ask(lambda client: _publish(client, messages), None)

    def ask(self, question: Callable[[redis.Redis], T], otherwise: T) -> T:
        """What Redis answers; `otherwise` when it cannot be reached."""
        if time.monotonic() < self._down_until:
            return otherwise
        try:
            answer = question(self._connected())
        except (redis.RedisError, OSError) as error:
            self._fell(error)
            return otherwise
        self._down = False
        return answer

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
            logger.warning("Redis does not answer; sockets will catch up by their heartbeat: %s", error)
        self._down = True


def _publish(client: redis.Redis, messages: Sequence[tuple[str, bytes]]) -> None:
    if len(messages) == 1:
        client.publish(*messages[0])
        return
    with client.pipeline(transaction=False) as pipeline:
        for channel, body in messages:
            pipeline.publish(channel, body)
        pipeline.execute()


redis_client = RedisClient()
