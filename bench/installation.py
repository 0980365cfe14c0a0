"""An installation with two people: Alice posts, Bob's sockets are measured; and an agent in many chats."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from bench import model as work_model
from bench.model import Model
from bench.processes import Meter
from common.ids import new_id
from launcher.home import ROOT
from tests.stack import Stack
from tests.stories.integrator import Integrator

TOPICS_OF_A_SOCKET = 50
ANSWER_TIMEOUT_SECONDS = 120.0
"""Seconds after which a measurement fails."""


@dataclass
class Installation:
    """The installation that is measured, its model and its people."""

    stack: Stack
    model: Model
    alice: Integrator
    bob: Integrator

    def start_meter(self) -> Meter:
        """Measure the CPU of each process of the installation from now on."""
        return Meter(self.stack.processes())


# The limits are far above the measured rates, but requests and runs are still counted.
UNBOUNDED = dict.fromkeys(
    [f"ATELIER_RATE_{name}" for name in ("REQUESTS", "POSTS", "WORKSPACE_POSTS", "ANONYMOUS", "CPU", "ADDED_PEOPLE")],
    "100000,100000",
) | dict.fromkeys(["RUNS_PER_WORKER", "RUNS_PER_WORKSPACE", "RUNS_PER_PERSON"], "1000")


@contextmanager
def open_installation(root: Path = ROOT, **environment: str) -> Iterator[Installation]:
    """Start the installation of a checkout with its model and its people."""
    quiet = {"LOG_LEVEL": "WARNING", **UNBOUNDED}
    with (
        work_model.run_model() as model,
        Stack(root=root, ATELIER_ALLOW_PRIVATE_HOSTS=",".join(model.list_paths()), **quiet, **environment) as stack,
    ):
        yield Installation(stack, model, Integrator(stack, "Alice"), Integrator(stack, "Bob"))


def make_chats(installation: Installation, api_base: str, count: int, *, with_agent: bool = True) -> list[str]:
    """Create chats in a new workspace with Alice, Bob and one agent, whose model has this URL."""
    alice, bob = installation.alice, installation.bob
    workspace = alice.ok("POST", "workspaces", {"name": "Bench"})["id"]
    model = {"provider": "openai_compatible", "api_base": api_base, "default_model": "scripted", "revision": 0}
    alice.ok("PUT", f"workspaces/{workspace}/model", model | {"key": "sk-bench"})
    body = {"name": "Scribe", "template": "scribe", "prompt": "Answer.", "open_chat": True}
    agent = alice.ok("POST", f"workspaces/{workspace}/agents", body)
    link = alice.ok("POST", f"chats/{agent['chat_id']}/links", {"role": "suggester"})["url"]
    bob.ok("POST", f"join/{link.rsplit('/', 1)[1]}")
    members = [bob.id, agent["actor"]["id"]] if with_agent else [bob.id]
    made = [{"title": f"Chat {number}", "actor_ids": members} for number in range(count)]
    return [alice.ok("POST", f"workspaces/{workspace}/chats", one)["chat"]["id"] for one in made]


class Watcher:
    """Bob's sockets: they record when the first change and the first words of an answer came to each chat, and when its run had
    ended.

    Frames are recognized by their first characters, so that this takes almost no CPU.
    """

    def __init__(self, chats: Sequence[str]) -> None:
        self.chats = list(chats)
        self.changed: dict[str, float] = {}
        self.first: dict[str, float] = {}
        self.ended: dict[str, float] = {}
        self.deltas = 0
        self.ready = 0
        self._changed = asyncio.Event()

    def record_frame(self, text: str) -> None:
        now = time.perf_counter()
        if is_delta(text):
            self.deltas += 1
            _, _, rest = text.partition('"topic":"chat:')
            self.first.setdefault(rest[:36], now)
        elif text.startswith('{"type":"changes"'):
            self.changed.setdefault(text[32:68], now)
            if '"state":"failed"' in text:
                raise RuntimeError(text)
            if '"state":"completed"' in text:
                self.ended.setdefault(text[32:68], now)
                self._changed.set()
        elif text.startswith('{"type":"subscribed"'):
            self.ready += 1
            self._changed.set()

    def reset(self) -> None:
        """Clear the times, before the next messages."""
        self.changed.clear()
        self.first.clear()
        self.ended.clear()

    async def wait_until_ended(self, chats: Sequence[str]) -> None:
        """Wait for the runs of these chats. Raises `TimeoutError`."""
        await self._wait_until(lambda: all(chat in self.ended for chat in chats))

    async def _wait_until(self, condition) -> None:
        async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def open_sockets(self, session: aiohttp.ClientSession, url: str) -> list["asyncio.Task[None]"]:
        """Open the sockets, and wait until all chats are subscribed."""
        parts = [self.chats[at : at + TOPICS_OF_A_SOCKET] for at in range(0, len(self.chats), TOPICS_OF_A_SOCKET)]
        tasks = [asyncio.create_task(self._listen(session, url, part)) for part in parts]
        await self._wait_until(lambda: self.ready >= len(self.chats))
        return tasks

    async def _listen(self, session: aiohttp.ClientSession, url: str, chats: Sequence[str]) -> None:
        async with session.ws_connect(url, max_msg_size=0, autoping=True) as socket:
            for chat in chats:
                await socket.send_json({"type": "subscribe", "topic": f"chat:{chat}", "since": None})
            async for message in socket:
                self.record_frame(message.data)


def is_delta(text: str) -> bool:
    """Return whether a frame is a chunk of a streamed answer. Only such a frame begins with the id of its message."""
    return text.startswith('{"message_id":')


def build_session(who: Integrator) -> aiohttp.ClientSession:
    """Return an asynchronous HTTP session of the same person."""
    headers = {"X-Session-Token": str(who.http.headers["X-Session-Token"])}
    return aiohttp.ClientSession(
        who.stack.url, headers=headers, connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=2)
    )


@dataclass
class Clients:
    """Alice's HTTP session, and Bob's sockets."""

    poster: aiohttp.ClientSession
    watcher: Watcher

    async def post(self, chat: str, text: str = "hello", wake: str = "auto") -> tuple[float, float]:
        """Post a message. Return when the POST began and how many seconds it took."""
        began = time.perf_counter()
        body = {"id": str(new_id()), "text": text, "wake": wake}
        async with self.poster.post(f"/api/v1/chats/{chat}/messages", json=body) as answer:
            if answer.status != 201:
                raise RuntimeError(f"{answer.status}: {await answer.text()}")
            await answer.read()
        return began, time.perf_counter() - began


@asynccontextmanager
async def open_clients(installation: Installation, chats: Sequence[str]):
    """Open Alice's session, and Bob's sockets for all these chats."""
    async with build_session(installation.alice) as poster, build_session(installation.bob) as reader:
        watcher = Watcher(chats)
        tasks = await watcher.open_sockets(reader, "/ws/")
        try:
            yield Clients(poster, watcher)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
