"""A person who uses Atelier only by its API: REST over HTTP, and sockets."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

import httpx
from websockets.sync.client import connect

from common.ids import new_id
from tests.realtime.store import Store

PASSWORD = "a long enough password"


class Installation(Protocol):
    """A running installation."""

    @property
    def url(self) -> str: ...


class Integrator:
    """A person with a session token. Stories set `chat`, `scribe` (the id of an agent) and `workspace`."""

    chat: str
    scribe: str
    workspace: str

    def __init__(self, stack: Installation, name: str) -> None:
        self.stack = stack
        self.tabs: list[Tab] = []
        self.http = httpx.Client(base_url=stack.url, timeout=60)
        self.email = f"{name.lower()}-{new_id()}@example.org"
        body = {"email": self.email, "password": PASSWORD, "name": name}
        answer = self.http.post("/_allauth/app/v1/auth/signup", json=body).raise_for_status()
        self.http.headers["X-Session-Token"] = answer.json()["meta"]["session_token"]
        self.id = self.ok("GET", "me")["actor"]["id"]

    def ok(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.http.request(method, f"/api/v1/{path}", json=body)
        assert answer.status_code < 300, (method, path, answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def status(self, method: str, path: str, body: Any = None) -> int:
        return self.http.request(method, f"/api/v1/{path}", json=body).status_code

    def post(self, chat: str, text: str, **more: Any) -> dict[str, Any]:
        message: dict[str, Any] = self.ok("POST", f"chats/{chat}/messages", {"id": str(new_id()), "text": text, **more})
        return message

    def watch(self, chat: str) -> "Tab":
        self.tabs.append(Tab(self, chat))
        return self.tabs[-1]

    def close(self) -> None:
        for tab in self.tabs:
            tab.close()
        self.http.close()


class Tab:
    """A socket that follows one chat, in a thread. Its rows are those that a browser would show."""

    def __init__(self, who: Integrator, chat: str, since: int | None = None) -> None:
        self.url = who.stack.url.replace("http", "ws") + "/ws/"
        self.headers = {"X-Session-Token": who.http.headers["X-Session-Token"]}
        self.store = Store()
        self.frames: list[dict[str, Any]] = []
        self.is_open = True
        self.thread = threading.Thread(target=self._listen, args=[f"chat:{chat}", since], daemon=True)
        self.thread.start()
        self.wait_until(lambda tab: tab.store.version >= 0)

    def _listen(self, topic: str, since: int | None) -> None:
        with connect(self.url, additional_headers=self.headers, max_size=None) as socket:
            socket.send(json.dumps({"type": "subscribe", "topic": topic, "since": since}))
            while self.is_open:
                with suppress(TimeoutError):
                    frame = json.loads(socket.recv(timeout=0.2))
                    self.store.apply(frame)
                    self.frames.append(frame)

    def close(self) -> None:
        self.is_open = False
        self.thread.join(5)

    def wait_until(self, wanted: Callable[["Tab"], Any], seconds: float = 60) -> Any:
        """Wait until `wanted` returns a true value, and return it. Raises `TimeoutError` with the messages."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := wanted(self):
                return found
            time.sleep(0.02)
        raise TimeoutError(json.dumps([(m["type"], m["payload"]) for m in self.messages()], indent=1)[-3000:])

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return [row for (of, _), row in list(self.store.rows.items()) if of == kind]

    def messages(self, *types: str) -> list[dict[str, Any]]:
        found = sorted(self.rows("message"), key=lambda row: row["seq"])
        return [row for row in found if not types or row["type"] in types]

    def list_texts_of(self, actor: str) -> list[dict[str, Any]]:
        """Return the texts of an actor without greetings, oldest first."""
        texts = [m for m in self.messages("TEXT_MESSAGE") if m["author_id"] == actor]
        return [m for m in texts if not m["payload"].get("greeting")]

    def wait_for_answer(self, agent: str, count: int) -> dict[str, Any]:
        """Wait for the agent's `count`-th answer, and return it."""
        found: list[dict[str, Any]] = self.wait_until(lambda tab: tab.list_texts_of(agent)[count - 1 :])
        return found[0]

    def get_streamed_text(self, message: str) -> str:
        """Return the text of a message that arrived in chunks."""
        chunks = [f for f in list(self.frames) if f["type"] == "delta" and f["message_id"] == message]
        return "".join(f["text"] for f in chunks if f["part"] == "text")
