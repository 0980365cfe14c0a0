"""A browser's tab, as far as the socket is concerned."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from channels.testing import WebsocketCommunicator
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from actors.models import Actor
from realtime.db_executor import run_in_db_thread
from realtime.routing import application
from tests.realtime.store import Store

ORIGIN = "http://localhost:8000"


def signed_in(person: Actor) -> str:
    """The key of a fresh session of theirs."""
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "actors.auth.PeopleBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return session.session_key or ""


class Tab:
    """One socket, with everything it has heard."""

    def __init__(self, headers: list[tuple[bytes, bytes]], path: str = "/ws/") -> None:
        self.socket = WebsocketCommunicator(application, path, headers=headers)
        self.received: list[dict[str, Any]] = []
        self.store = Store()
        self.closed: int | None = None

    async def connect(self) -> bool:
        opened, _ = await self.socket.connect(timeout=10)
        return bool(opened)

    async def send(self, **frame: Any) -> None:
        await self.socket.send_to(text_data=json.dumps(frame))

    async def receive(self, timeout: float = 5.0) -> dict[str, Any]:
        """The next frame; a closing is kept in `closed`, and raised."""
        message = await self.socket.receive_output(timeout)
        if message["type"] == "websocket.close":
            self.closed = message.get("code")
            raise ConnectionResetError(self.closed)
        frame: dict[str, Any] = json.loads(message["text"])
        self.received.append(frame)
        self.store.take(frame)
        return frame

    async def receive_until(self, wanted: Callable[[dict[str, Any]], bool], timeout: float = 10.0) -> dict[str, Any]:
        async with asyncio.timeout(timeout):
            while not wanted(frame := await self.receive(timeout)):
                pass
        return frame

    async def receive_type(self, type_: str, timeout: float = 10.0) -> dict[str, Any]:
        return await self.receive_until(lambda frame: frame["type"] == type_, timeout)

    async def follow(self, topic: str, since: int | None = None) -> dict[str, Any]:
        await self.send(type="subscribe", topic=topic, since=since)
        return await self.receive_until(
            lambda frame: frame["type"] in ("subscribed", "error") and frame["topic"] == topic
        )

    async def wait_for_close(self, timeout: float = 10.0) -> int | None:
        async with asyncio.timeout(timeout):
            while self.closed is None:
                try:
                    await self.receive(timeout)
                except ConnectionResetError:
                    break
        return self.closed

    async def is_silent(self, seconds: float = 0.3) -> bool:
        """Nothing but heartbeats and presence comes for a while."""
        try:
            await self.receive_until(lambda frame: frame["type"] not in ("heartbeat", "presence"), seconds)
        except TimeoutError:
            return True
        return False

    async def close(self) -> None:
        await self.socket.disconnect()


class Tabs:
    """Opens tabs, and closes them all in the end."""

    def __init__(self) -> None:
        self.open: list[Tab] = []

    async def of(self, person: Actor, *, origin: str | None = ORIGIN, key: str | None = None) -> Tab:
        tab = await self.knocking(person, origin=origin, key=key)
        assert await tab.connect()
        return tab

    async def knocking(self, person: Actor, *, origin: str | None = ORIGIN, key: str | None = None) -> Tab:
        """Not connected yet."""
        key = key or await run_in_db_thread(signed_in, person)
        headers = [(b"host", b"localhost:8000"), (b"cookie", f"sessionid={key}".encode())]
        if origin is not None:
            headers.append((b"origin", origin.encode()))
        return self.with_headers(headers)

    def with_headers(self, headers: list[tuple[bytes, bytes]], path: str = "/ws/") -> Tab:
        tab = Tab(headers, path)
        self.open.append(tab)
        return tab

    async def close(self) -> None:
        for tab in self.open:
            if tab.socket.future is not None and not tab.socket.future.done():
                await tab.close()
