"""What people do in a chat, over HTTP and the socket of a running installation, timed in chats of several sizes in turns."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import aiohttp

from bench.installation import ANSWER_TIMEOUT_SECONDS, Clients, Installation, build_session, make_chats, open_clients
from bench.results import Figure, format_ms, get_percentile

Operation = Callable[["Target"], Awaitable[float]]
PAUSE_BETWEEN_CHATS_SECONDS = 0.5
"""With three chats in turns, each is opened again after more than `SHARED_READ_SECONDS`, within which openings share one read. A
person may also send only a limited number of frames a second."""
BUSY_CHATS = 10
BUSY_PACE = (25, 100)
"""Tokens a second and tokens of each answer in the busy chats."""


@dataclass(frozen=True)
class Target:
    """The ids of a workspace and of one of its chats, and the handle of an agent in it."""

    workspace: str
    chat: str
    handle: str


@dataclass
class Person:
    """Alice's HTTP session and socket, with Bob's sockets for the same chats. Each operation returns its seconds."""

    clients: Clients
    socket: aiohttp.ClientWebSocketResponse

    async def read(self, path: str) -> float:
        """Read a resource of the API."""
        began = time.perf_counter()
        async with self.clients.poster.get(f"/api/v1/{path}") as answer:
            body = await answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{path}: {answer.status} {body[:500]!r}")
        return time.perf_counter() - began

    async def open_chat(self, target: Target) -> float:
        """Subscribe to the chat, until its snapshot has come, as the web app opens it."""
        topic = f"chat:{target.chat}"
        await asyncio.sleep(PAUSE_BETWEEN_CHATS_SECONDS)
        began = time.perf_counter()
        await self.socket.send_json({"type": "subscribe", "topic": topic, "since": None})
        async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
            while not (text := await self.socket.receive_str()).startswith('{"type":"subscribed"'):
                if text.startswith('{"type":"error"'):
                    raise RuntimeError(text)
        seconds = time.perf_counter() - began
        if not json.loads(text)["snapshot"]:
            raise RuntimeError(f"No snapshot: {text[:500]}")
        await self.socket.send_json({"type": "unsubscribe", "topic": topic})
        return seconds

    async def read_old_page(self, target: Target) -> float:
        """Read the page before the 60th message."""
        return await self.read(f"chats/{target.chat}/messages?limit=50&before=60")

    def search(self, query: str, *, in_chat: bool) -> Operation:
        """Return the operation that searches the chat, or the workspace."""

        async def run(target: Target) -> float:
            chat = f"&chat_id={target.chat}" if in_chat else ""
            return await self.read(f"workspaces/{target.workspace}/messages?limit=20&q={query}{chat}")

        return run

    async def post(self, target: Target) -> float:
        """Post a message that wakes nobody, until it is on Bob's socket."""
        self.clients.watcher.reset()
        began, _ = await self.clients.post(target.chat, "The deposit for the hotel is due.", "nobody")
        async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
            while target.chat not in self.clients.watcher.changed:
                await asyncio.sleep(0.001)
        return self.clients.watcher.changed[target.chat] - began

    async def get_answer(self, target: Target) -> float:
        """Ask the agent, until its first words are on Bob's socket; and wait for the end of the run."""
        watcher = self.clients.watcher
        watcher.reset()
        text = f"@{target.handle} how much is the deposit for the hotel suite?"
        began, _ = await self.clients.post(target.chat, text)
        await watcher.wait_until_ended([target.chat])
        return (watcher.ended | watcher.first)[target.chat] - began  # under load, the whole answer may come first


@asynccontextmanager
async def open_person(installation: Installation, chats: Sequence[str]) -> AsyncIterator[Person]:
    """Open Alice's HTTP session and socket, and Bob's sockets for these chats."""
    async with AsyncExitStack() as stack:
        clients = await stack.enter_async_context(open_clients(installation, chats))
        session = await stack.enter_async_context(build_session(installation.alice))
        yield Person(clients, await stack.enter_async_context(session.ws_connect("/ws/", max_msg_size=0)))


@asynccontextmanager
async def keep_busy(installation: Installation, chats: Sequence[str]) -> AsyncIterator[None]:
    """Let the agents of these chats write all the time: each is asked again as soon as it has answered."""
    async with open_clients(installation, chats) as clients:

        async def ask(chat: str) -> None:
            while True:
                await clients.post(chat)
                await clients.watcher.wait_until_ended([chat])
                del clients.watcher.ended[chat]

        tasks = [asyncio.create_task(ask(chat)) for chat in chats]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error


def make_busy_chats(installation: Installation) -> list[str]:
    """Create the chats for `keep_busy`, in a workspace of their own."""
    rate, count = BUSY_PACE
    return make_chats(installation, installation.model.build_base(rate=rate, count=count), BUSY_CHATS)


async def compare(operation: Operation, targets: Mapping[str, Sequence[Target]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of an operation in each size, whose targets are taken in turns. The first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in targets}
    for number in range(rounds + 1):
        for name, those in targets.items():
            seconds = await operation(those[number % len(those)])
            if number:
                times[name].append(seconds)
    return times


def build_figure(what: str, floor: Sequence[float], ours: Sequence[float], goal: str = "–") -> Figure:
    """Return the medians of an operation in a small and a large size, and their ratio."""
    small, large = get_percentile(floor, 0.5), get_percentile(ours, 0.5)
    p95 = f"p95 {format_ms(get_percentile(floor, 0.95))} and {format_ms(get_percentile(ours, 0.95))}"
    return Figure(what, format_ms(small), format_ms(large), f"{large / small:.2f}", p95, goal)
