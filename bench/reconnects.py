"""P8, MSG6: the web process is killed under a thousand sockets; how soon everybody has come back and caught up."""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import aiohttp
import psycopg
import uvloop

from bench.installation import Installation
from bench.processes import cpu_seconds, environment_of
from bench.results import Figure, Table, percentile
from common.ids import new_id
from launcher.home import ROOT

PEOPLE = 100
CHATS = 20
RECONNECT_TIMEOUT_SECONDS = 60.0
"""Seconds, after which a measurement is given up."""

LINE = (aiohttp.ClientError, OSError, ConnectionError)


def backoff(attempt: int) -> float:
    """As the web app waits: `frontend/src/realtime/backoff.ts`."""
    return 0.5 + random.random() * (min(30.0, 2.0**attempt) - 0.5)


@dataclass
class Storm:
    """What happened at all the sockets. Times are of `time.perf_counter`."""

    killed: float = 0.0
    back: dict[int, float] = field(default_factory=dict)
    """Socket → when it had caught up after the restart."""
    catch_ups: list[float] = field(default_factory=list)
    """Seconds from being let in to having everything."""
    tries: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    """How requests of people who look at their page meanwhile were answered; 0: the line broke."""
    connections: int = 0
    """The most database connections that were open at once."""


@dataclass
class Tab:
    """One socket of one person: their own topic, their workspace's, and one chat's."""

    number: int
    token: str
    topics: tuple[str, ...]
    versions: dict[str, int] = field(default_factory=dict)

    async def live(self, session: aiohttp.ClientSession, storm: Storm) -> None:
        """Connect, again and again, for as long as the measurement lasts."""
        attempt = 0
        while True:
            try:
                await self._stay(session, storm)
                attempt = 0
            except LINE:
                storm.tries += 1
            await asyncio.sleep(backoff(attempt))
            attempt += 1

    async def _stay(self, session: aiohttp.ClientSession, storm: Storm) -> None:
        headers = {"X-Session-Token": self.token}
        async with session.ws_connect("/ws/", headers=headers, max_msg_size=0) as socket:
            let_in = time.perf_counter()
            for topic in self.topics:
                since = self.versions.get(topic)
                await socket.send_json({"type": "subscribe", "topic": topic, "since": since})
            missing = set(self.topics)
            async for message in socket:
                self._hear(message.data, missing)
                if not missing and self.number not in storm.back and let_in > storm.killed:
                    storm.back[self.number] = now = time.perf_counter()
                    storm.catch_ups.append(now - let_in)

    def _hear(self, text: str, missing: set[str]) -> None:
        if not text.startswith(('{"type":"subscribed"', '{"type":"changes"')):
            return
        frame = json.loads(text)
        self.versions[frame["topic"]] = frame["version"]
        missing.discard(frame["topic"])


async def all_back(storm: Storm, tabs: Sequence[Tab]) -> None:
    async with asyncio.timeout(RECONNECT_TIMEOUT_SECONDS):
        while len(storm.back) < len(tabs):
            await asyncio.sleep(0.05)


async def look_at_pages(session: aiohttp.ClientSession, storm: Storm, tabs: Sequence[Tab]) -> None:
    """Ten requests a second of those who use the page meanwhile: one of five says something."""
    for number in range(10_000):
        tab = tabs[number % len(tabs)]
        asyncio.ensure_future(_ask(session, storm, tab, speaks=number % 5 == 0))
        await asyncio.sleep(0.1)


async def _ask(session: aiohttp.ClientSession, storm: Storm, tab: Tab, *, speaks: bool) -> None:
    path, headers = f"/api/v1/chats/{tab.topics[2].partition(':')[2]}/messages", {"X-Session-Token": tab.token}
    body = {"id": str(new_id()), "text": "meanwhile", "wake": "nobody"}
    try:
        ask = session.post(path, json=body, headers=headers) if speaks else session.get(path, headers=headers)
        async with ask as answer:
            await answer.read()
            storm.statuses[answer.status] += 1
    except LINE:
        storm.statuses[0] += 1


async def count_connections(url: str, storm: Storm) -> None:
    """Look at the database's connections, ten times a second."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while True:
            found = await connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            )
            row = await found.fetchone()
            storm.connections = max(storm.connections, row[0] - 1 if row else 0)
            await asyncio.sleep(0.1)


async def measure(installation: Installation, tabs: Sequence[Tab]) -> list[Figure]:
    storm = Storm()
    url = environment_of(installation.stack.processes()["web"])["DATABASE_URL"]
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=2)
    async with aiohttp.ClientSession(installation.stack.address, connector=connector) as session:
        living = [asyncio.create_task(tab.live(session, storm)) for tab in tabs]
        try:
            await all_back(storm, tabs)
            await asyncio.sleep(3)
            living += [
                asyncio.create_task(look_at_pages(session, storm, tabs)),
                asyncio.create_task(count_connections(url, storm)),
            ]
            storm.back.clear()
            storm.catch_ups.clear()
            storm.killed, storm.tries = time.perf_counter(), 0
            installation.stack.kill("web")
            await all_back(storm, tabs)
            cpu = cpu_seconds(installation.stack.processes()["web"])
            await asyncio.sleep(1)
            ceiling = await _most_connections(url)
        finally:
            for task in living:
                task.cancel()
            await asyncio.gather(*living, return_exceptions=True)
    return figures(storm, len(tabs), ceiling, cpu)


async def _most_connections(url: str) -> int:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        found = await connection.execute("SHOW max_connections")
        row = await found.fetchone()
        return int(row[0]) if row else 0


def figures(storm: Storm, sockets: int, ceiling: int, cpu: float) -> list[Figure]:
    back = [at - storm.killed for at in storm.back.values()]
    told = ", ".join(f"{count} × {status or 'no line'}" for status, count in sorted(storm.statuses.items()))
    return [
        Figure(
            "killed → caught up, the start of the process included",
            ours=f"first {min(back):.1f} s, p50 {percentile(back, 0.5):.1f} s, last {max(back):.1f} s",
            cpu=f"a socket, the start included: web {cpu / sockets * 1000:.1f} ms",
            goal="all ≤ 15 s",
        ),
        Figure(
            "let in → caught up",
            ours=f"p50 {percentile(storm.catch_ups, 0.5):.2f} s, p95 {percentile(storm.catch_ups, 0.95):.2f} s",
            goal="p95 < 2 s",
        ),
        Figure("tries that failed", ours=f"{storm.tries / sockets:.1f} a socket"),
        Figure("requests meanwhile", ours=told, goal="no 5xx"),
        Figure("database connections, all processes", ours=f"{storm.connections} of {ceiling}", goal="< 60 %"),
    ]


def make_tabs(installation: Installation, count: int) -> list[Tab]:
    """People in many chats, and their tabs: everybody looks at several of the chats."""
    environment = environment_of(installation.stack.processes()["web"]) | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-m", "bench.people", str(PEOPLE), str(CHATS)]
    made = json.loads(subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True).stdout)
    tabs = []
    for number in range(count):
        who = number % PEOPLE
        chat = made["chats"][(number // PEOPLE + who) % CHATS]
        topics = (f"workspace:{made['workspace']}", f"actor:{made['people'][who]}", f"chat:{chat}")
        tabs.append(Tab(number, made["sessions"][who], topics))
    return tabs


def p8(installation: Installation, quick: bool) -> Table:
    """A crowd comes back."""
    sockets = 200 if quick else 1000
    found = uvloop.run(measure(installation, make_tabs(installation, sockets)))
    how = (
        f"{sockets} sockets of {PEOPLE} people, three topics each, {CHATS} chats; `kill -9` of the web process, which the "
        "launcher starts again after a second; the clients wait as the web app does."
    )
    return Table("P8", "Everybody comes back", how, found)
