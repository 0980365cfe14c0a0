"""The connections of this process to Redis, with one policy for when Redis is unavailable.

Nothing durable is in Redis. A call that fails returns the default that its caller gave, and for
`PAUSE_AFTER_FAILURE_SECONDS` no other call is sent, so that requests do not each wait for a timeout. After that, one call in
each such interval is sent until one succeeds.

Django's cache, Celery and the channel layer have connections of their own.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeVar

import redis
import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from common.errors import Unavailable

logger = logging.getLogger(__name__)
T = TypeVar("T")

PAUSE_AFTER_FAILURE_SECONDS = 1.0
"""Seconds without a call after one has failed."""
CONNECT_TIMEOUT_SECONDS = 0.5
ANSWER_TIMEOUT_SECONDS = 1.0
ASYNC_CALL_TIMEOUT_SECONDS = 2.0
"""Seconds for a whole call on an event loop, including the time that it waits for other calls."""

_RELEASE = b"""
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
"""


class CircuitBreaker:
    """Decides whether a call to Redis is sent. It logs the first failure only, until a call succeeds again."""

    def __init__(self) -> None:
        self.is_open = False
        self._retry_at = 0.0

    def admit_call(self) -> bool:
        """Return whether to send a call. While Redis is unavailable, return true once in `PAUSE_AFTER_FAILURE_SECONDS`: returning
        true starts the next pause."""
        if self.is_open:
            if time.monotonic() < self._retry_at:
                return False
            self._retry_at = time.monotonic() + PAUSE_AFTER_FAILURE_SECONDS
        return True

    def record_failure(self, error: Exception) -> None:
        self._retry_at = time.monotonic() + PAUSE_AFTER_FAILURE_SECONDS
        if not self.is_open:
            logger.warning("Redis does not answer; what depends on it is delayed or skipped: %s", error)
        self.is_open = True

    def record_success(self) -> None:
        self.is_open = False


class RedisClient:
    """A client for threads."""

    def __init__(self) -> None:
        self.breaker = CircuitBreaker()
        self._client: redis.Redis | None = None
        self._url = ""

    def call(self, command: Callable[[redis.Redis], T], default: T) -> T:
        """Return the result of `command(client)`, or the default if Redis is unavailable."""
        if not self.breaker.admit_call():
            return default
        if self._client is None or self._url != settings.REDIS_URL:
            self._url = settings.REDIS_URL
            self._client = build_client()
        try:
            result = command(self._client)
        except (redis.RedisError, OSError) as error:
            self.breaker.record_failure(error)
            return default
        self.breaker.record_success()
        return result

    def call_or_raise(self, command: Callable[[redis.Redis], T]) -> T:
        """Return the result of `command(client)`. Raises `Unavailable` if Redis is unavailable. For results without a default."""
        results: list[T] = []
        self.call(lambda client: results.append(command(client)), None)
        if not results:
            raise Unavailable("This does not work right now. Try again in a moment.")
        return results[0]

    def release_locks(self, locks: Sequence[str], holder: str) -> None:
        """Delete the keys that contain the id of this holder: an expired lock may have another holder. Raises `Unavailable`."""
        if locks:
            self.call_or_raise(lambda client: client.register_script(_RELEASE)(list(locks), [holder]))

    def publish(self, messages: Sequence[tuple[str, bytes]]) -> None:
        """Publish messages (channel, body) in one round trip. Never raises."""
        self.call(lambda client: _publish(client, messages), None)


class AsyncRedisClient:
    """A client for one event loop."""

    def __init__(self) -> None:
        self.breaker = CircuitBreaker()
        self._client: redis.asyncio.Redis | None = None

    async def call(self, command: Callable[[redis.asyncio.Redis], Awaitable[T]], default: T) -> T:
        """Return the result of `await command(client)`, or the default if Redis is unavailable."""
        if not self.breaker.admit_call():
            return default
        if self._client is None:
            self._client = redis.asyncio.from_url(
                settings.REDIS_URL,
                socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
                socket_timeout=ANSWER_TIMEOUT_SECONDS,
                retry=AsyncRetry(NoBackoff(), 1),
            )
        try:
            async with asyncio.timeout(ASYNC_CALL_TIMEOUT_SECONDS):
                result = await command(self._client)
        except (redis.RedisError, OSError, TimeoutError) as error:
            self.breaker.record_failure(error)
            return default
        self.breaker.record_success()
        return result

    async def publish(self, messages: Sequence[tuple[str, bytes]]) -> None:
        """Publish messages (channel, body) in one round trip. Never raises."""

        async def send(client: redis.asyncio.Redis) -> None:
            async with client.pipeline(transaction=False) as pipeline:
                for channel, body in messages:
                    pipeline.publish(channel, body)
                await pipeline.execute()

        await self.call(send, None)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None


def build_client(
    connect_timeout: float = CONNECT_TIMEOUT_SECONDS, timeout: float = ANSWER_TIMEOUT_SECONDS
) -> redis.Redis:
    """Return a client for threads. It has no circuit breaker: `RedisClient` adds one, health checks use it as it is."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=connect_timeout,
        socket_timeout=timeout,
        retry=Retry(NoBackoff(), 1),
    )


def build_subscription_client(name: str) -> redis.asyncio.Redis:
    """Return a client for subscribing. A channel may have no message for hours, so a regular health check finds out that the
    connection is dead. `name` is shown in Redis' list of clients."""
    return redis.asyncio.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
        socket_timeout=None,
        socket_keepalive=True,
        health_check_interval=10,
        client_name=name,
    )


async def receive_for_ever(connect: Callable[[], AsyncGenerator[T, None]], name: str) -> AsyncGenerator[T, None]:
    """Yield what `connect()` yields, for ever. Connects again after an error; close the iterator to end it. `name`: of the
    connection, for the log."""
    pause = 0.1
    while True:
        try:
            async for item in connect():
                pause = 0.1
                yield item
        except (redis.RedisError, OSError) as error:
            logger.warning("The connection of %s broke; retrying in %.1f s: %s", name, pause, error)
        await asyncio.sleep(pause)
        pause = min(pause * 2, 2.0)


def _publish(client: redis.Redis, messages: Sequence[tuple[str, bytes]]) -> None:
    if len(messages) == 1:
        client.publish(*messages[0])
        return
    with client.pipeline(transaction=False) as pipeline:
        for channel, body in messages:
            pipeline.publish(channel, body)
        pipeline.execute()


redis_client = RedisClient()
"""The client of this process's threads."""
