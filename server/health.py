"""Whether this process is up (`/healthz`), and whether the installation can do its work (`/readyz`).

Both are answered beside Django: they must speak when every one of its threads waits for a database that is gone.
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
# Where workers listen for the question whether one is there. The answer is a list that lives a few seconds.
QUESTION = "workers:are-you-there"
PATIENCE = 2.0  # seconds
REMEMBERED = 1.0
"""Seconds that an answer serves whoever asks: anybody may, as often as they like."""


class Health:
    """Answers the two paths. `warm` is set when the process has served its first dry request."""

    def __init__(self) -> None:
        self.warm = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._answer: asyncio.Task[dict[str, bool]] | None = None
        self._redis = build_probe_client()

    async def answer(self, path: str, send: ASGISendCallable) -> None:
        """Send 200, or 503 with the parts that are missing."""
        parts = {"up": True}
        if path == "/readyz":
            parts = {"warm": self.warm} | await self._look_now_and_then()
        body = json.dumps(parts).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        status = 200 if all(parts.values()) else 503
        await send({"type": "http.response.start", "status": status, "headers": headers, "trailers": False})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    async def _look_now_and_then(self) -> dict[str, bool]:
        """Return an answer that is at most `REMEMBERED` old. All who ask meanwhile share it."""
        if self._answer is None:
            self._answer = asyncio.create_task(self._ask_in_thread(), name="ready")
        return await asyncio.shield(self._answer)

    async def _ask_in_thread(self) -> dict[str, bool]:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._look)
        finally:
            loop.call_later(REMEMBERED, self._forget)

    def _forget(self) -> None:
        self._answer = None

    def _look(self) -> dict[str, bool]:
        return {
            "database": _holds(_ask_database),
            "redis": _holds(self._redis.ping),
            "worker": _holds(lambda: a_worker_answers(self._redis)),
        }


def build_probe_client() -> "redis.Redis":
    """Return a client that waits for the answer of a worker."""
    return build_client(connect_timeout=PATIENCE, timeout=PATIENCE + 1)


def a_worker_answers(server: "redis.Redis") -> bool:
    """Ask all workers at once; true when one has answered in time."""
    answer = f"{QUESTION}:{secrets.token_hex(8)}"
    if not server.publish(QUESTION, answer):
        return False
    return server.blpop([answer], timeout=PATIENCE) is not None


class AnswersProbes:
    """A worker's thread that answers `a_worker_answers` as long as `is_well` says so."""

    def __init__(self, is_well: Callable[[], bool]) -> None:
        self._is_well = is_well
        self._over = threading.Event()
        self.listening = threading.Event()
        self._thread = threading.Thread(target=self._run, name="probes", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                self._listen()
            except redis.RedisError:
                # It is away; whoever asks will see that, too.
                self._over.wait(1)

    def _listen(self) -> None:
        server = build_probe_client()
        with PubSub(server.connection_pool, ignore_subscribe_messages=True) as questions:
            questions.subscribe(QUESTION)
            questions.get_message(ignore_subscribe_messages=False, timeout=PATIENCE)
            self.listening.set()
            while not self._over.is_set():
                asked = questions.get_message(timeout=1)
                if asked and self._is_well():
                    server.lpush(asked["data"], 1)
                    server.expire(asked["data"], 10)


class AliveFile:
    """A worker's thread that touches `path` as long as `is_well` says so.

    The health check of a container reads the file's age. It says something about this process alone, and needs no Redis.
    """

    def __init__(self, path: Path, is_well: Callable[[], bool], *, interval: float = 5.0) -> None:
        self._path = path
        self._is_well = is_well
        self._interval = interval  # seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="alive file", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=2)

    def touch_if_well(self) -> None:
        try:
            if self._is_well():
                self._path.touch()
        except OSError:
            logger.warning("%s cannot be written.", self._path, exc_info=True)

    def _run(self) -> None:
        self.touch_if_well()
        while not self._stopping.wait(self._interval):
            self.touch_if_well()


def _ask_database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        connection.close()
    return True


def _holds(question: Callable[[], object]) -> bool:
    try:
        return bool(question())
    except Exception:
        # Whatever fails, the answer is no; the monitor is told, not the log each second.
        logger.debug("not ready", exc_info=True)
        return False
