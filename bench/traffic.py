"""P13: the requests and the CPU of many people who look at one chat while its agent answers.

A few clients are the web app in Chromium. The others send the same messages and requests as the web app
(`frontend/src/app/listChanges.ts`, `features/chats/readCursor.ts`).
"""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from socket import create_connection
from typing import Any

import aiohttp
from playwright.async_api import Page, async_playwright

from bench.installation import Installation, is_delta
from bench.processes import get_cpu_seconds, read_environment, start_module
from bench.results import Figure, Table
from common.ids import new_id
from common.processes import find_free_port, wait_until
from launcher.home import ROOT
from tests.browser import chromium

REAL = 3
READ_EVERY = 2.0
READ_DELAY_SECONDS, READ_JITTER_SECONDS = 0.15, 0.85
LISTS = {"chats": "chats", "agents": "agents", "members": "members", "suggestions": "suggestions?state=pending"}


@dataclass
class BenchChat:
    """The chat that all people look at."""

    url: str
    workspace: str
    handle: str
    chat: str
    agent: str
    people: list[str]
    sessions: list[str]


@dataclass
class Requests:
    """HTTP requests by path, of the real clients and of the others, and the frames of the others."""

    real: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    ends: Counter[int] = field(default_factory=Counter)
    """The number of ended answers that each viewer has received."""
    ready: int = 0
    frames: int = 0
    characters: int = 0
    """Characters of all frames to the other clients."""


@dataclass
class Viewer:
    """A simulated client, which subscribes to the same topics as the web app."""

    number: int
    chat: BenchChat
    session: aiohttp.ClientSession
    requests: Requests
    waiting: set[str] = field(default_factory=set)
    seq: int = 0
    sent_seq: int = 0
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    async def run(self) -> None:
        """Open the socket, and behave like the web app until the task is cancelled."""
        headers = {"X-Session-Token": self.chat.sessions[self.number]}
        async with self.session.ws_connect("/ws/", headers=headers, max_msg_size=0) as socket:
            topics = [f"workspace:{self.chat.workspace}", f"actor:{self.chat.people[self.number]}"]
            for topic in [*topics, f"chat:{self.chat.chat}"]:
                await socket.send_json({"type": "subscribe", "topic": topic, "since": None})
            async for message in socket:
                self.requests.frames += 1
                self.requests.characters += len(message.data)
                if not is_delta(message.data):
                    await self._handle_frame(json.loads(message.data), socket)

    async def _handle_frame(self, frame: dict[str, Any], socket: aiohttp.ClientWebSocketResponse) -> None:
        if frame["type"] == "subscribed":
            self.requests.ready += 1
        elif frame["type"] == "changes":
            self.seq = max(self.seq, *(row.get("seq", 0) for row in frame["rows"]), 0)
            self.requests.ends[self.number] += sum(row.get("state") == "completed" for row in frame["rows"])
            if not self.has_task("read"):
                self._start_task("read", self._read(socket))
        elif frame["type"] == "list_changed":
            self.waiting.add(frame["list"])
            if not self.has_task("lists"):
                self._start_task("lists", self._read_lists())

    def has_task(self, name: str) -> bool:
        return any(task.get_name() == name for task in self.tasks)

    def _start_task(self, name: str, work: Any) -> None:
        task = asyncio.create_task(work, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        while self.seq > self.sent_seq:
            self.sent_seq = self.seq
            await socket.send_json({"type": "mark_read", "topic": f"chat:{self.chat.chat}", "seq": self.sent_seq})
            await asyncio.sleep(READ_EVERY)

    async def _read_lists(self) -> None:
        await asyncio.sleep(READ_DELAY_SECONDS + random.random() * READ_JITTER_SECONDS)
        waiting, self.waiting = self.waiting, set()
        for what in waiting:
            path = f"/api/v1/workspaces/{self.chat.workspace}/{LISTS[what]}" if what in LISTS else "/api/v1/me"
            self.requests.others[f"GET {what}"] += 1
            async with self.session.get(path, headers={"X-Session-Token": self.chat.sessions[self.number]}) as answer:
                await answer.read()


async def _post(session: aiohttp.ClientSession, chat: BenchChat, number: int) -> None:
    """Post a question to the agent as the first person, who has no page open."""
    body = {"id": str(new_id()), "text": f"@{chat.agent} question {number}"}
    headers = {"X-Session-Token": chat.sessions[0]}
    async with session.post(f"/api/v1/chats/{chat.chat}/messages", json=body, headers=headers) as answer:
        if answer.status != 201:
            raise RuntimeError(f"{answer.status}: {await answer.text()}")


async def _open_pages(stack: AsyncExitStack, chat: BenchChat, requests: Requests) -> list[Page]:
    playwright = await stack.enter_async_context(async_playwright())
    browser = await playwright.chromium.launch(**chromium().launch_options)
    stack.push_async_callback(browser.close)
    pages = []
    for number in range(1, REAL + 1):
        context = await browser.new_context()
        await context.add_cookies([{"name": "sessionid", "value": chat.sessions[number], "url": chat.url}])
        page = await context.new_page()
        await page.goto(f"{chat.url}/w/{chat.handle}/c/{chat.chat}")
        await page.locator("[data-pane=composer] textarea").wait_for()
        page.on("request", lambda request: requests.real.update([f"{request.method} {request.url.split('?')[0]}"]))
        pages.append(page)
    return pages


async def measure(installation: Installation, chat: BenchChat, answers: int) -> list[Figure]:
    requests = Requests()
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=2)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession(chat.url, connector=connector))
        await _open_pages(stack, chat, requests)
        viewers = [Viewer(number, chat, session, requests) for number in range(REAL + 1, len(chat.people))]
        tasks = [asyncio.create_task(viewer.run()) for viewer in viewers]
        try:
            async with asyncio.timeout(120):
                while requests.ready < 3 * len(viewers):
                    await asyncio.sleep(0.05)
                await _post(session, chat, 0)  # warm: the pages load what draws an answer
                await asyncio.sleep(8)
                idle, began = installation.start_meter(), time.perf_counter()
                await asyncio.sleep(5)
                at_rest = idle.get_seconds("web") / (time.perf_counter() - began)
            requests.real.clear()
            requests.others.clear()
            requests.ends.clear()
            requests.frames = requests.characters = 0
            meter, began = installation.start_meter(), time.perf_counter()
            for number in range(answers):
                await _post(session, chat, number)
                async with asyncio.timeout(60):
                    while min(requests.ends[viewer.number] for viewer in viewers) <= number:
                        await asyncio.sleep(0.05)
            await asyncio.sleep(3)  # what follows: cursors, lists
            took = time.perf_counter() - began
            web = meter.get_seconds("web")
            frames, size = requests.frames // len(viewers), requests.characters // max(1, requests.frames)
            floor = await asyncio.to_thread(measure_bare_server, len(chat.people) - 1, frames, size, took / frames)
            return build_figures(requests, len(viewers), answers, web, at_rest * took, floor)
        finally:
            for task in [*tasks, *(task for viewer in viewers for task in viewer.tasks)]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def measure_bare_server(viewers: int, frames: int, size: int, pause: float) -> float:
    """Return the CPU seconds of a bare server that sends as many frames of the mean size to as many sockets, at the same rate."""
    port = find_free_port()
    process = start_module("bench.bare_sockets", str(port))
    try:
        wait_until(lambda: is_listening(port), process, seconds=20)
        return asyncio.run(_send_bare(port, process.pid, viewers, frames, size, pause))
    finally:
        process.terminate()
        process.wait(10)


def is_listening(port: int) -> bool:
    try:
        create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


async def _send_bare(port: int, pid: int, viewers: int, frames: int, size: int, pause: float) -> float:
    async def read(socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            if message.data == "done":
                return

    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession(f"http://127.0.0.1:{port}"))
        sockets = [await stack.enter_async_context(session.ws_connect("/")) for _ in range(viewers)]
        readers = [asyncio.create_task(read(socket)) for socket in sockets]
        before = get_cpu_seconds(pid)
        await sockets[0].send_json([frames, size, pause])
        await readers[0]
        used = get_cpu_seconds(pid) - before
        for reader in readers:
            reader.cancel()
        return used


def build_figures(
    requests: Requests, others: int, answers: int, web: float, at_rest: float, bare: float
) -> list[Figure]:
    def format_requests(requests: Counter[str], viewers: int) -> str:
        kinds = ", ".join(f"{count} × {path.rpartition('/')[2]}" for path, count in requests.most_common(4))
        return f"{requests.total() / viewers / answers:.2f} ({kinds or 'none'})"

    answers_seen = (REAL + others) * answers
    size = requests.characters // max(1, requests.frames)
    return [
        Figure(
            "HTTP requests per viewer and answer, real clients", ours=format_requests(requests.real, REAL), goal="≤ 0.3"
        ),
        Figure(
            "HTTP requests per viewer and answer, the others",
            ours=format_requests(requests.others, others),
            goal="≤ 0.3",
        ),
        Figure(
            "CPU of web per viewer and answer",
            f"{bare / answers_seen * 1000:.2f} ms",
            f"{web / answers_seen * 1000:.2f} ms",
            f"{web / bare:.2f}",
            goal="≤ 1 ms",
        ),
        Figure(
            "frames per viewer and answer", ours=f"{requests.frames / others / answers:.1f}, {size} characters each"
        ),
        Figure("of it: with nobody speaking for as long", ours=f"{at_rest / answers_seen * 1000:.2f} ms"),
    ]


def make_chat(installation: Installation, base: str, viewers: int) -> BenchChat:
    """Create a chat with an agent, `viewers` people, and one more who posts."""
    environment = read_environment(installation.stack.processes()["web"]) | {
        "DJANGO_SETTINGS_MODULE": "config.settings"
    }
    command = [sys.executable, "-m", "bench.people", str(viewers + 1)]
    made = json.loads(subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True).stdout)
    return asyncio.run(_add_agent(installation.stack.url, made, base))


async def _raise_for_status(answer: aiohttp.ClientResponse) -> None:
    if answer.status >= 400:
        raise RuntimeError(f"{answer.status}: {await answer.text()}")


async def _add_agent(url: str, made: dict[str, Any], base: str) -> BenchChat:
    headers = {"X-Session-Token": made["sessions"][0]}
    async with aiohttp.ClientSession(f"{url}/api/v1/", headers=headers, raise_for_status=_raise_for_status) as session:
        model = {"provider": "openai_compatible", "api_base": base, "default_model": "scripted", "revision": 0}
        await session.put(f"workspaces/{made['workspace']}/model", json=model | {"key": "sk-bench"})
        body = {"name": "Scribe", "prompt": "Answer."}
        agent = await (await session.post(f"workspaces/{made['workspace']}/agents", json=body)).json()
        await session.post(f"chats/{made['chat']}/participants", json={"actor_id": agent["actor"]["id"]})
        workspace = await (await session.get(f"workspaces/{made['workspace']}")).json()
    return BenchChat(
        url,
        made["workspace"],
        workspace["handle"],
        made["chat"],
        agent["actor"]["handle"],
        made["people"],
        made["sessions"],
    )


def measure_p13(installation: Installation, quick: bool) -> Table:
    """Measure the requests and the CPU while the people of a chat read an answer."""
    viewers, answers = (20, 3) if quick else (100, 10)
    chat = make_chat(installation, installation.model.build_base(rate=25, count=100), viewers)
    found = asyncio.run(measure(installation, chat, answers))
    how = (
        f"{viewers} people look at one chat; {answers} answers of 4 s at 25 tokens a second, one after the other. "
        f"{REAL} of them are the web app in Chromium, the others say and ask the same. The floor of the CPU: a bare uvicorn that "
        "sends as many frames of the mean size to as many sockets, and is requests nothing."
    )
    return Table("P13", "What viewers ask for while an agent answers", how, found)
