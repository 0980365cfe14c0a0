"""P8, MSG6: the web process is killed while a thousand sockets are open; the time until all have reconnected and caught up."""

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
from bench.processes import get_cpu_seconds, read_environment
from bench.results import Figure, Table, get_percentile
from common.ids import new_id
from launcher.home import ROOT

PEOPLE = 100
CHATS = 20
RECONNECT_TIMEOUT_SECONDS = 60.0
"""Seconds after which a measurement fails."""

CONNECTION_ERRORS = (aiohttp.ClientError, OSError, ConnectionError)


def get_delay(attempt: int) -> float:
    """Return the seconds before an attempt, as in `frontend/src/realtime/backoff.ts`."""
    return 0.5 + random.random() * (min(30.0, 2.0**attempt) - 0.5)


@dataclass
class Reconnects:
    """The events of all sockets. Times are those of `time.perf_counter`."""

    killed: float = 0.0
    caught_up_at: dict[int, float] = field(default_factory=dict)
    """The time when each socket had caught up after the restart."""
    catch_ups: list[float] = field(default_factory=list)
    """Seconds from the connection to the last missing row."""
    tries: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    """The statuses of requests in the meantime; 0: the connection failed."""
    connections: int = 0
    """The most database connections that were open at once."""


@dataclass
class Tab:
    """One socket of one person, with three topics: the person's, the workspace's, and a chat's."""

    number: int
    token: str
    topics: tuple[str, ...]
    versions: dict[str, int] = field(default_factory=dict)

    async def run(self, session: aiohttp.ClientSession, reconnects: Reconnects) -> None:
        """Connect, and reconnect after each failure, until the task is cancelled."""
        attempt = 0
        while True:
            try:
                await self._stay_connected(session, reconnects)
                attempt = 0
            except CONNECTION_ERRORS:
                reconnects.tries += 1
            await asyncio.sleep(get_delay(attempt))
            attempt += 1

    async def _stay_connected(self, session: aiohttp.ClientSession, reconnects: Reconnects) -> None:
        headers = {"X-Session-Token": self.token}
        async with session.ws_connect("/ws/", headers=headers, max_msg_size=0) as socket:
            connected_at = time.perf_counter()
            for topic in self.topics:
                since = self.versions.get(topic)
                await socket.send_json({"type": "subscribe", "topic": topic, "since": since})
            missing = set(self.topics)
            async for message in socket:
                self._record_frame(message.data, missing)
                if not missing and self.number not in reconnects.caught_up_at and connected_at > reconnects.killed:
                    reconnects.caught_up_at[self.number] = now = time.perf_counter()
                    reconnects.catch_ups.append(now - connected_at)

    def _record_frame(self, text: str, missing: set[str]) -> None:
        if not text.startswith(('{"type":"subscribed"', '{"type":"changes"')):
            return
        frame = json.loads(text)
        self.versions[frame["topic"]] = frame["version"]
        missing.discard(frame["topic"])


async def wait_until_reconnected(reconnects: Reconnects, tabs: Sequence[Tab]) -> None:
    async with asyncio.timeout(RECONNECT_TIMEOUT_SECONDS):
        while len(reconnects.caught_up_at) < len(tabs):
            await asyncio.sleep(0.05)


async def send_requests(session: aiohttp.ClientSession, reconnects: Reconnects, tabs: Sequence[Tab]) -> None:
    """Send ten requests a second: one of five posts a message, the others read messages."""
    for number in range(10_000):
        tab = tabs[number % len(tabs)]
        asyncio.ensure_future(_send_request(session, reconnects, tab, posts=number % 5 == 0))
        await asyncio.sleep(0.1)


async def _send_request(session: aiohttp.ClientSession, reconnects: Reconnects, tab: Tab, *, posts: bool) -> None:
    path, headers = f"/api/v1/chats/{tab.topics[2].partition(':')[2]}/messages", {"X-Session-Token": tab.token}
    body = {"id": str(new_id()), "text": "meanwhile", "wake": "nobody"}
    try:
        ask = session.post(path, json=body, headers=headers) if posts else session.get(path, headers=headers)
        async with ask as answer:
            await answer.read()
            reconnects.statuses[answer.status] += 1
    except CONNECTION_ERRORS:
        reconnects.statuses[0] += 1


async def count_connections(url: str, reconnects: Reconnects) -> None:
    """Count the connections to the database ten times a second."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while True:
            found = await connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            )
            row = await found.fetchone()
            reconnects.connections = max(reconnects.connections, row[0] - 1 if row else 0)
            await asyncio.sleep(0.1)


async def measure(installation: Installation, tabs: Sequence[Tab]) -> list[Figure]:
    reconnects = Reconnects()
    url = read_environment(installation.stack.processes()["web"])["DATABASE_URL"]
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=2)
    async with aiohttp.ClientSession(installation.stack.url, connector=connector) as session:
        tasks = [asyncio.create_task(tab.run(session, reconnects)) for tab in tabs]
        try:
            await wait_until_reconnected(reconnects, tabs)
            await asyncio.sleep(3)
            tasks += [
                asyncio.create_task(send_requests(session, reconnects, tabs)),
                asyncio.create_task(count_connections(url, reconnects)),
            ]
            reconnects.caught_up_at.clear()
            reconnects.catch_ups.clear()
            reconnects.killed, reconnects.tries = time.perf_counter(), 0
            installation.stack.kill("web")
            await wait_until_reconnected(reconnects, tabs)
            cpu = get_cpu_seconds(installation.stack.processes()["web"])
            await asyncio.sleep(1)
            max_connections = await _read_max_connections(url)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return build_figures(reconnects, len(tabs), max_connections, cpu)


async def _read_max_connections(url: str) -> int:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        found = await connection.execute("SHOW max_connections")
        row = await found.fetchone()
        return int(row[0]) if row else 0


def build_figures(reconnects: Reconnects, sockets: int, max_connections: int, cpu: float) -> list[Figure]:
    back = [at - reconnects.killed for at in reconnects.caught_up_at.values()]
    statuses = ", ".join(f"{count} × {status or 'no line'}" for status, count in sorted(reconnects.statuses.items()))
    return [
        Figure(
            "killed → caught up, the start of the process included",
            ours=f"first {min(back):.1f} s, p50 {get_percentile(back, 0.5):.1f} s, last {max(back):.1f} s",
            cpu=f"a socket, the start included: web {cpu / sockets * 1000:.1f} ms",
            goal="all ≤ 15 s",
        ),
        Figure(
            "let in → caught up",
            ours=f"p50 {get_percentile(reconnects.catch_ups, 0.5):.2f} s, p95 {get_percentile(reconnects.catch_ups, 0.95):.2f} s",
            goal="p95 < 2 s",
        ),
        Figure("tries that failed", ours=f"{reconnects.tries / sockets:.1f} a socket"),
        Figure("requests meanwhile", ours=statuses, goal="no 5xx"),
        Figure(
            "database connections, all processes", ours=f"{reconnects.connections} of {max_connections}", goal="< 60 %"
        ),
    ]


def make_tabs(installation: Installation, count: int) -> list[Tab]:
    """Create people in many chats, and their sockets."""
    environment = read_environment(installation.stack.processes()["web"]) | {
        "DJANGO_SETTINGS_MODULE": "config.settings"
    }
    command = [sys.executable, "-m", "bench.people", str(PEOPLE), str(CHATS)]
    made = json.loads(subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True).stdout)
    tabs = []
    for number in range(count):
        who = number % PEOPLE
        chat = made["chats"][(number // PEOPLE + who) % CHATS]
        topics = (f"workspace:{made['workspace']}", f"actor:{made['people'][who]}", f"chat:{chat}")
        tabs.append(Tab(number, made["sessions"][who], topics))
    return tabs


def measure_p8(installation: Installation, quick: bool) -> Table:
    """Measure the reconnection of all sockets."""
    sockets = 200 if quick else 1000
    found = uvloop.run(measure(installation, make_tabs(installation, sockets)))
    how = (
        f"{sockets} sockets of {PEOPLE} people, three topics each, {CHATS} chats; `kill -9` of the web process, which the "
        "launcher starts again after a second; the clients wait as the web app does."
    )
    return Table("P8", "Everybody comes back", how, found)
