"""P4: a message to many sockets of one chat, ten a second."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import uvloop

from bench.installation import Installation
from bench.processes import get_pss_mb, read_environment
from bench.results import Figure, Table, format_ms, get_percentile
from common.ids import new_id
from launcher.home import ROOT

PEOPLE = 100
PER_SECOND = 10
MAX_OPENING = 50  # sockets that open at the same time


@dataclass
class Receivers:
    """The frames of all sockets: the delay of each message in seconds, and the number of messages out of order."""

    chat: str
    ready: int = 0
    sent: dict[int, float] = field(default_factory=dict)
    lags: list[float] = field(default_factory=list)
    disorder: int = 0

    def record_frame(self, text: str, last: int) -> int:
        """Record a frame of a socket whose last message was number `last`. Return the number of this message."""
        now = time.perf_counter()
        if text.startswith('{"type":"subscribed"'):
            self.ready += 1
        if not text.startswith('{"type":"changes"'):
            return last
        number = int(text.split('"text":"bench ', 1)[1].split('"', 1)[0])
        self.lags.append(now - self.sent[number])
        self.disorder += number != last + 1
        return number

    async def listen(self, session: aiohttp.ClientSession, token: str, gate: asyncio.Semaphore) -> None:
        """Open a socket, and record its frames until the task is cancelled."""
        async with gate:
            socket = await session.ws_connect("/ws/", headers={"X-Session-Token": token}, max_msg_size=0)
            await socket.send_json({"type": "subscribe", "topic": f"chat:{self.chat}", "since": None})
            last = self.record_frame((await socket.receive()).data, -1)
        async for message in socket:
            last = self.record_frame(message.data, last)


@asynccontextmanager
async def open_sockets(session: aiohttp.ClientSession, receivers: Receivers, tokens: Sequence[str], sockets: int):
    """Open all sockets, and wait until they have caught up."""
    gate = asyncio.Semaphore(MAX_OPENING)
    tasks = [asyncio.create_task(receivers.listen(session, tokens[n % len(tokens)], gate)) for n in range(sockets)]
    try:
        async with asyncio.timeout(180):
            while receivers.ready < sockets:
                await asyncio.sleep(0.02)
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def post(session: aiohttp.ClientSession, receivers: Receivers, token: str, number: int) -> None:
    """Post one message; its delay counts from before the POST."""
    receivers.sent[number] = time.perf_counter()
    body = {"id": str(new_id()), "text": f"bench {number}", "wake": "nobody"}
    path, headers = f"/api/v1/chats/{receivers.chat}/messages", {"X-Session-Token": token}
    async with session.post(path, json=body, headers=headers) as answer:
        if answer.status != 201:
            raise RuntimeError(f"{answer.status}: {await answer.text()}")


async def measure(
    installation: Installation, receivers: Receivers, tokens: Sequence[str], sockets: int, seconds: int
) -> list[Figure]:
    web, count = installation.stack.processes()["web"], seconds * PER_SECOND
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=2)
    async with aiohttp.ClientSession(installation.stack.url, connector=connector) as session:
        before, began = get_pss_mb([web]), time.perf_counter()
        async with open_sockets(session, receivers, tokens, sockets):
            joined = time.perf_counter() - began
            await asyncio.sleep(3)  # until all presence frames have been sent
            memory, meter = (get_pss_mb([web]) - before) * 1024 / sockets, installation.start_meter()
            for number in range(count):
                await post(session, receivers, tokens[0], number)
                await asyncio.sleep(max(0.0, receivers.sent[number] + 1 / PER_SECOND - time.perf_counter()))
            await asyncio.sleep(1)
            cpu = meter.get_seconds("web") / max(1, len(receivers.lags)) * 1e6
    return build_figures(receivers, sockets * count, joined, memory, cpu)


def build_figures(receivers: Receivers, expected: int, joined: float, memory: float, cpu: float) -> list[Figure]:
    lag = f"p50 {format_ms(get_percentile(receivers.lags, 0.5))}, p95 {format_ms(get_percentile(receivers.lags, 0.95))}"
    came = f"{len(receivers.lags)} of {expected}, {receivers.disorder} out of order"
    return [
        Figure(
            "POST → on a socket",
            ours=lag,
            cpu=f"per frame, its POST included: web {cpu:.0f} µs",
            goal="p95 ≤ 100 ms; ≤ 50 µs a frame",
        ),
        Figure("frames that came", ours=came, goal="all, in order"),
        Figure("all joined and caught up", ours=f"{joined:.1f} s"),
        Figure("memory of web", ours=f"{memory:.0f} kB a socket", goal="≤ 60 kB a socket"),
    ]


def make_chat(installation: Installation) -> tuple[Receivers, list[str]]:
    """Create a chat of a hundred people. Return it with their sessions."""
    environment = read_environment(installation.stack.processes()["web"]) | {
        "DJANGO_SETTINGS_MODULE": "config.settings"
    }
    command = [sys.executable, "-m", "bench.people", str(PEOPLE)]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    made = json.loads(done.stdout)
    return Receivers(made["chat"]), made["sessions"]


def measure_p4(installation: Installation, quick: bool) -> Table:
    """Measure many sockets in one chat."""
    sockets, seconds = (200, 2) if quick else (1000, 10)
    receivers, tokens = make_chat(installation)
    found = uvloop.run(measure(installation, receivers, tokens, sockets, seconds))
    how = (
        f"{sockets} sockets of {PEOPLE} people in one chat, {PER_SECOND} messages a second for {seconds} s, over HTTP."
    )
    return Table("P4", f"A message to {sockets} sockets", how, found)
