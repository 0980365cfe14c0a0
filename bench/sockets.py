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
from bench.processes import environment_of, pss_mb
from bench.results import Figure, Table, ms, percentile
from common.ids import new_id
from launcher.home import ROOT

PEOPLE = 100
PER_SECOND = 10
JOINING = 50  # sockets that open at the same time


@dataclass
class Crowd:
    """What all the sockets heard: how late each message came, in seconds, and what came out of order."""

    chat: str
    ready: int = 0
    sent: dict[int, float] = field(default_factory=dict)
    lags: list[float] = field(default_factory=list)
    disorder: int = 0

    def hear(self, text: str, last: int) -> int:
        """One frame at one socket whose last message was `last`; the number of this one."""
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
        """One socket for as long as the measurement lasts."""
        async with gate:
            socket = await session.ws_connect("/ws/", headers={"X-Session-Token": token}, max_msg_size=0)
            await socket.send_json({"type": "subscribe", "topic": f"chat:{self.chat}", "since": None})
            last = self.hear((await socket.receive()).data, -1)
        async for message in socket:
            last = self.hear(message.data, last)


@asynccontextmanager
async def gathered(session: aiohttp.ClientSession, crowd: Crowd, tokens: Sequence[str], sockets: int):
    """All sockets open and caught up."""
    gate = asyncio.Semaphore(JOINING)
    tasks = [asyncio.create_task(crowd.listen(session, tokens[n % len(tokens)], gate)) for n in range(sockets)]
    try:
        async with asyncio.timeout(180):
            while crowd.ready < sockets:
                await asyncio.sleep(0.02)
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def speak(session: aiohttp.ClientSession, crowd: Crowd, token: str, number: int) -> None:
    """One message; its lag counts from before the POST."""
    crowd.sent[number] = time.perf_counter()
    body = {"id": str(new_id()), "text": f"bench {number}", "wake": "nobody"}
    path, headers = f"/api/v1/chats/{crowd.chat}/messages", {"X-Session-Token": token}
    async with session.post(path, json=body, headers=headers) as answer:
        if answer.status != 201:
            raise RuntimeError(f"{answer.status}: {await answer.text()}")


async def measure(
    installation: Installation, crowd: Crowd, tokens: Sequence[str], sockets: int, seconds: int
) -> list[Figure]:
    web, count = installation.stack.processes()["web"], seconds * PER_SECOND
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=2)
    async with aiohttp.ClientSession(installation.stack.address, connector=connector) as session:
        before, began = pss_mb([web]), time.perf_counter()
        async with gathered(session, crowd, tokens, sockets):
            joined = time.perf_counter() - began
            await asyncio.sleep(3)  # the presence of so many has been told by then
            memory, meter = (pss_mb([web]) - before) * 1024 / sockets, installation.meter()
            for number in range(count):
                await speak(session, crowd, tokens[0], number)
                await asyncio.sleep(max(0.0, crowd.sent[number] + 1 / PER_SECOND - time.perf_counter()))
            await asyncio.sleep(1)
            cpu = meter.seconds("web") / max(1, len(crowd.lags)) * 1e6
    return figures(crowd, sockets * count, joined, memory, cpu)


def figures(crowd: Crowd, expected: int, joined: float, memory: float, cpu: float) -> list[Figure]:
    lag = f"p50 {ms(percentile(crowd.lags, 0.5))}, p95 {ms(percentile(crowd.lags, 0.95))}"
    came = f"{len(crowd.lags)} of {expected}, {crowd.disorder} out of order"
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


def make_crowd(installation: Installation) -> tuple[Crowd, list[str]]:
    """A chat of a hundred people, and their sessions."""
    environment = environment_of(installation.stack.processes()["web"]) | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-m", "bench.people", str(PEOPLE)]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    made = json.loads(done.stdout)
    return Crowd(made["chat"]), made["sessions"]


def p4(installation: Installation, quick: bool) -> Table:
    """A crowd in one chat."""
    sockets, seconds = (200, 2) if quick else (1000, 10)
    crowd, tokens = make_crowd(installation)
    found = uvloop.run(measure(installation, crowd, tokens, sockets, seconds))
    how = (
        f"{sockets} sockets of {PEOPLE} people in one chat, {PER_SECOND} messages a second for {seconds} s, over HTTP."
    )
    return Table("P4", f"A message to {sockets} sockets", how, found)
