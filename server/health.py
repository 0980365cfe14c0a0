"""Answer `/healthz` (whether this process is up) and `/readyz` (whether the installation works).

Both are answered outside Django, because they must work while all its threads wait for an unreachable database.
"""

import asyncio
import json
import logging
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import redis
from asgiref.typing import ASGISendCallable
from django.db import connection
from redis.client import PubSub

from common.redis_client import build_client

logger = logging.getLogger(__name__)

PATHS = frozenset({"/healthz", "/readyz"})
# The channel on which workers receive probes. The answer is a list that expires after a few seconds.
PROBE_CHANNEL = "workers:are-you-there"
PROBE_TIMEOUT = 2.0  # seconds
CACHE_SECONDS = 1.0
"""Seconds for which a result is reused, since these requests have no rate limit."""


class Health:
    """Answers the two paths. `is_warm`: the process has served its first internal requests and is not shutting down."""

    def __init__(self) -> None:
        self.is_warm = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._check_task: asyncio.Task[dict[str, bool]] | None = None
        self._redis = build_probe_client()

    async def answer(self, path: str, send: ASGISendCallable) -> None:
        """Send 200 if all parts work, else 503, with the state of each part."""
        parts = {"up": True}
        if path == "/readyz":
            # The result is at most `CACHE_SECONDS` old. Concurrent requests share it.
            if self._check_task is None:
                self._check_task = asyncio.create_task(self._check_in_thread(), name="ready")
            parts = {"warm": self.is_warm} | await asyncio.shield(self._check_task)
        body = json.dumps(parts).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        status = 200 if all(parts.values()) else 503
        await send({"type": "http.response.start", "status": status, "headers": headers, "trailers": False})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    async def _check_in_thread(self) -> dict[str, bool]:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._check)
        finally:
            loop.call_later(CACHE_SECONDS, self._clear_cache)

    def _clear_cache(self) -> None:
        self._check_task = None

    def _check(self) -> dict[str, bool]:
        return {
            "database": _is_ok(_check_database),
            "redis": _is_ok(self._redis.ping),
            "worker": _is_ok(lambda: has_answering_worker(self._redis)),
        }


def build_probe_client() -> "redis.Redis":
    """Return a Redis client whose time limits leave a worker time to answer a probe."""
    return build_client(connect_timeout=PROBE_TIMEOUT, timeout=PROBE_TIMEOUT + 1)


def has_answering_worker(client: "redis.Redis") -> bool:
    """Send a probe to all workers. Return whether one has answered in time."""
    answer = f"{PROBE_CHANNEL}:{secrets.token_hex(8)}"
    if not client.publish(PROBE_CHANNEL, answer):
        return False
    return client.blpop([answer], timeout=PROBE_TIMEOUT) is not None


class ProbeResponder:
    """A thread of a worker that answers the probes of `has_answering_worker` as long as `is_healthy` returns true."""

    def __init__(self, is_healthy: Callable[[], bool]) -> None:
        self._is_healthy = is_healthy
        self._stopping = threading.Event()
        self.listening = threading.Event()
        self._thread = threading.Thread(target=self._run, name="probes", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except redis.RedisError:
                # Redis is unreachable, which `/readyz` reports itself.
                self._stopping.wait(1)

    def _listen(self) -> None:
        client = build_probe_client()
        with PubSub(client.connection_pool, ignore_subscribe_messages=True) as probes:
            probes.subscribe(PROBE_CHANNEL)
            # The first message confirms the subscription.
            probes.get_message(ignore_subscribe_messages=False, timeout=PROBE_TIMEOUT)
            self.listening.set()
            while not self._stopping.is_set():
                probe = probes.get_message(timeout=1)
                if probe and self._is_healthy():
                    client.lpush(probe["data"], 1)
                    client.expire(probe["data"], 10)


class LivenessFile:
    """A thread of a worker that touches `path` as long as `is_healthy` returns true.

    The health check of a container reads the age of the file. It is about this process alone and does not need Redis.
    """

    def __init__(self, path: Path, is_healthy: Callable[[], bool], *, interval: float = 5.0) -> None:
        self._path = path
        self._is_healthy = is_healthy
        self._interval = interval  # seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="alive file", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=2)

    def touch_if_healthy(self) -> None:
        try:
            if self._is_healthy():
                self._path.touch()
        except OSError:
            logger.warning("%s cannot be written.", self._path, exc_info=True)

    def _run(self) -> None:
        self.touch_if_healthy()
        while not self._stopping.wait(self._interval):
            self.touch_if_healthy()


def _check_database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        connection.close()
    return True


def _is_ok(check: Callable[[], object]) -> bool:
    try:
        return bool(check())
    except Exception:
        # Any exception means that the part does not work. It is logged at debug level, because the check runs every second.
        logger.debug("not ready", exc_info=True)
        return False
