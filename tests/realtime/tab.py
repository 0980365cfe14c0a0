"""Sockets as a browser tab opens them, for tests."""

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


def create_session_key(person: Actor) -> str:
    """Create a session of a person and return its key."""
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "actors.auth.PeopleBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return session.session_key or ""


class Tab:
    """A socket, and the frames that it has received."""

    def __init__(self, headers: list[tuple[bytes, bytes]], path: str = "/ws/") -> None:
        self.socket = WebsocketCommunicator(application, path, headers=headers)
        self.received: list[dict[str, Any]] = []
        self.store = Store()
        self.close_code: int | None = None

    async def connect(self) -> bool:
        opened, _ = await self.socket.connect(timeout=60)
        return bool(opened)

    async def send(self, **frame: Any) -> None:
        await self.socket.send_to(text_data=json.dumps(frame))

    async def receive(self, timeout: float = 60.0) -> dict[str, Any]:
        """Return the next frame. Raises `ConnectionResetError` when the socket is closed, and sets `close_code`."""
        message = await self.socket.receive_output(timeout)
        if message["type"] == "websocket.close":
            self.close_code = message.get("code")
            raise ConnectionResetError(self.close_code)
        frame: dict[str, Any] = json.loads(message["text"])
        self.received.append(frame)
        self.store.apply(frame)
        return frame

    async def receive_until(self, wanted: Callable[[dict[str, Any]], bool], timeout: float = 60.0) -> dict[str, Any]:
        async with asyncio.timeout(timeout):
            while not wanted(frame := await self.receive(timeout)):
                pass
        return frame

    async def receive_type(self, type_: str, timeout: float = 60.0) -> dict[str, Any]:
        return await self.receive_until(lambda frame: frame["type"] == type_, timeout)

    async def subscribe(self, topic: str, since: int | None = None) -> dict[str, Any]:
        await self.send(type="subscribe", topic=topic, since=since)
        return await self.receive_until(
            lambda frame: frame["type"] in ("subscribed", "error") and frame["topic"] == topic
        )

    async def wait_for_close(self, timeout: float = 60.0) -> int | None:
        async with asyncio.timeout(timeout):
            while self.close_code is None:
                try:
                    await self.receive(timeout)
                except ConnectionResetError:
                    break
        return self.close_code

    async def is_silent(self, seconds: float = 0.3) -> bool:
        """Return whether only heartbeats and presence frames arrive within these seconds."""
        try:
            await self.receive_until(lambda frame: frame["type"] not in ("heartbeat", "presence"), seconds)
        except TimeoutError:
            return True
        return False

    async def close(self) -> None:
        await self.socket.disconnect()


class Tabs:
    """Opens tabs, and closes them all at the end of a test."""

    def __init__(self) -> None:
        self.open: list[Tab] = []

    async def open_tab(self, person: Actor, *, key: str | None = None) -> Tab:
        tab = await self.build_tab(person, key=key)
        assert await tab.connect()
        return tab

    async def build_tab(self, person: Actor, *, origin: str | None = ORIGIN, key: str | None = None) -> Tab:
        """Return a tab that is not connected yet, with a session of the person."""
        key = key or await run_in_db_thread(create_session_key, person)
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
