"""Long polling: `GET /api/v1/chats/{id}/changes?since=…&wait=…` is answered when the chat changes.

The view answers at once, with 204 if nothing has changed. This layer around the application keeps such an answer back, waits for a
change, and then sends the request to the application again. It waits on the event loop: a waiting request has no thread, no
connection to the database, and no position in the queue of requests.
"""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID, uuid4

import redis
from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope
from channels.layers import get_channel_layer

from actors.callers import find_caller
from common.errors import AppError, LimitReached, Unavailable
from common.request_ids import HEADER, choose_request_id
from events.publish import RIGHTS_GROUP, get_group_name
from realtime.topics import Topic
from server import limits
from server.bridge import build_refusal
from server.fair_queue import HTTPCaller
from server.protocols import SHUTDOWN

App = Callable[[Any, Any, Any], Any]

CHANGES_PATH = re.compile(r"/api/v1/chats/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/changes")

JOIN_TIMEOUT = 2.0
"""Seconds that a request waits for Redis, before it is answered without a wait."""

WAIT_WITHOUT_REDIS_SECONDS = 2.0
"""Seconds that a request waits at most while Redis does not answer. Nothing wakes it then."""


class LongPolling:
    """An ASGI application around another one, for HTTP requests.

    `identify` returns the caller whose waiting requests are counted together.
    """

    def __init__(self, app: App, *, identify: Callable[[HTTPScope], HTTPCaller]) -> None:
        self._app = app
        self._identify = identify
        self._listener = ChangeListener()
        self._waiting: Counter[HTTPCaller] = Counter()

    async def __call__(self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        found = CHANGES_PATH.fullmatch(scope["path"])
        if found is None or scope["method"] != "GET" or b"wait=" not in scope["query_string"]:
            await self._app(scope, receive, send)
            return
        # The application is asked several times, and each time for the same request of the client.
        request_id = (HEADER, choose_request_id(scope["headers"]).encode())
        others = [header for header in scope["headers"] if header[0] != HEADER]
        scope = HTTPScope(**{**scope, "headers": [*others, request_id]})
        if not await self._send_unless_unchanged(scope, receive, send):
            try:
                with self._count(self._identify(scope)):
                    await self._wait(Topic("chat", UUID(found[1])), scope, receive, send)
            except AppError as error:
                start, *rest = build_refusal(error, closes_connection=False)
                start["headers"].append(request_id)
                for event in (start, *rest):
                    await send(event)

    async def _wait(self, topic: Topic, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer when the topic has changed or the right to it has ended, at the end of the wait, or when the process stops. The
        view has checked the query."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        deadline = asyncio.get_running_loop().time() + int(query["wait"][0])
        client_gone = asyncio.create_task(_wait_for_disconnect(receive))
        stopping = asyncio.create_task(_wait_for_shutdown(scope))
        try:
            person = find_caller(scope["headers"])[0]
            async with self._listener.listen(topic, int(query["since"][0]), person) as changed:
                if changed is None:
                    deadline = min(deadline, asyncio.get_running_loop().time() + WAIT_WITHOUT_REDIS_SECONDS)
                    changed = asyncio.Event()
                while True:
                    changed.clear()  # before the chat is read, so that no change after that is missed
                    # The first answer here has what changed between the one before and the subscription.
                    if await self._send_unless_unchanged(scope, _receive_nothing, send):
                        return
                    change = asyncio.create_task(changed.wait())
                    seconds = deadline - asyncio.get_running_loop().time()
                    done, _ = await asyncio.wait(
                        {change, client_gone, stopping}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
                    )
                    change.cancel()
                    if client_gone in done:
                        return
                    if change not in done:
                        await self._app(scope, _receive_nothing, send)  # 204, unless the right was withdrawn
                        return
        finally:
            client_gone.cancel()
            stopping.cancel()

    async def _send_unless_unchanged(self, scope: HTTPScope, receive: Any, send: ASGISendCallable) -> bool:
        """Send the answer of the application, unless it is 204. Return whether it was sent."""
        is_unchanged = False

        async def send_if_changed(event: Any) -> None:
            nonlocal is_unchanged
            is_unchanged = is_unchanged or event.get("status") == 204
            if not is_unchanged:
                await send(event)

        await self._app(scope, receive, send_if_changed)
        return not is_unchanged

    @contextmanager
    def _count(self, caller: HTTPCaller) -> Iterator[None]:
        """Count a waiting request. Raises `Unavailable`, `LimitReached`."""
        if self._waiting[caller] >= limits.MAX_LONG_POLLS_OF_CALLER:
            raise LimitReached(
                f"{limits.MAX_LONG_POLLS_OF_CALLER} of your requests wait for changes already.",
                hints=["Follow many chats by one WebSocket, or ask for their changes without `wait`."],
                data={"limit": "waiting", "seconds": 1},
            )
        of_group = sum(count for other, count in self._waiting.items() if other.path[0] == caller.path[0])
        if of_group >= limits.MAX_LONG_POLLS_OF_GROUP or self._waiting.total() >= limits.MAX_LONG_POLLS:
            raise Unavailable("Too many requests wait here.", hints=["Try again in a moment."])
        self._waiting[caller] += 1
        try:
            yield
        finally:
            self._waiting[caller] -= 1
            if not self._waiting[caller]:
                del self._waiting[caller]


@dataclass(eq=False)
class Waiter:
    """A request that waits for a version of a chat above `since`, or for a change of the rights of its person."""

    since: int
    person: UUID | None
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class ChangeListener:
    """Receives the `changes` frames of the chats that requests of this process wait for, and whose rights changed, on one channel
    of the channel layer."""

    def __init__(self) -> None:
        self._channel = f"long-polling.{uuid4().hex}"
        self._waiting: dict[Topic, set[Waiter]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listen(self, topic: Topic, since: int, person: UUID | None) -> AsyncIterator[asyncio.Event | None]:
        """Return an event that is set when the chat gets a version above `since` and when the rights of the person change; null if
        Redis does not answer."""
        waiter = Waiter(since, person)
        layer, group = get_channel_layer(), get_group_name(str(topic))
        self._waiting[topic].add(waiter)
        if self._task is None:
            self._task = asyncio.create_task(self._run(layer), name="long polling")
            await asyncio.sleep(0)  # its first step registers the channel
        try:
            has_joined = False
            with suppress(redis.RedisError, OSError, TimeoutError):
                async with asyncio.timeout(JOIN_TIMEOUT):
                    await layer.group_add(group, self._channel)
                    await layer.group_add(RIGHTS_GROUP, self._channel)
                    has_joined = True
            yield waiter.changed if has_joined else None
        finally:
            self._waiting[topic].discard(waiter)
            if not self._waiting[topic]:
                del self._waiting[topic]
                await self._leave(layer, group)
            if not self._waiting:
                await self._leave(layer, RIGHTS_GROUP)
            if not self._waiting and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _leave(self, layer: Any, group: str) -> None:
        with suppress(redis.RedisError, OSError, TimeoutError):
            async with asyncio.timeout(JOIN_TIMEOUT):
                await layer.group_discard(group, self._channel)

    async def _run(self, layer: Any) -> None:
        while True:
            try:
                message = await layer.receive(self._channel)
            except (redis.RedisError, OSError):
                await asyncio.sleep(0.5)
                continue
            if message["type"] == "rights":
                person = UUID(message["actor"])
                waiters = [one for waiting in self._waiting.values() for one in waiting if one.person == person]
            elif message.get("kind") == "changes":
                topic = Topic.parse(message["topic"])
                waiters = [one for one in self._waiting.get(topic, ()) if message["version"] > one.since]
            else:
                continue
            for waiter in waiters:
                waiter.changed.set()


async def _receive_nothing() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _wait_for_disconnect(receive: ASGIReceiveCallable) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _wait_for_shutdown(scope: HTTPScope) -> None:
    """Wait until the connection is told that the process stops (`server.protocols`). Other servers do not tell it."""
    extension: dict[Any, Any] = (scope.get("extensions") or {}).get(SHUTDOWN, {})
    stopping: asyncio.Event = extension.get("event") or asyncio.Event()
    await stopping.wait()
