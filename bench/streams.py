"""P3: two hundred runs streaming at once on one worker process."""

import asyncio
import time
from dataclasses import dataclass

import uvloop

from bench import floor as floors
from bench.installation import Clients, Installation, make_chats, open_clients
from bench.processes import Meter, get_cpu_seconds
from bench.results import Figure, Table, get_percentile

RATE = 25  # tokens a second
POSTS_AT_ONCE = 50
"""Concurrent requests; a web process lets a hundred requests of one person wait."""


@dataclass
class Streaming:
    """`total`: seconds from the last POST to the last end; `runs`: seconds of each run from its POST; `worker` and `steady`: CPU
    seconds per token."""

    total: float
    runs: list[float]
    worker: float
    steady: float | None
    model_share: float
    cpu: str


async def measure_streams(installation: Installation, chats: list[str], count: int) -> Streaming:
    async with open_clients(installation, chats) as clients:
        meter, model, began = installation.start_meter(), get_cpu_seconds(installation.model.pid), time.perf_counter()
        posts = [
            post
            for at in range(0, len(chats), POSTS_AT_ONCE)
            for post in await asyncio.gather(*[clients.post(chat) for chat in chats[at : at + POSTS_AT_ONCE]])
        ]
        last = time.perf_counter()
        steady = asyncio.create_task(measure_steady_state(installation, clients, count / RATE))
        await clients.watcher.wait_until_ended(chats)
        wall, tokens, ended = time.perf_counter() - began, len(chats) * count, clients.watcher.ended
        runs = [ended[chat] - post[0] for chat, post in zip(chats, posts, strict=True)]
        share = (get_cpu_seconds(installation.model.pid) - model) / wall
        worker = meter.get_seconds("worker") / tokens
        return Streaming(max(ended.values()) - last, runs, worker, await steady, share, meter.format_per_unit(tokens))


async def measure_steady_state(installation: Installation, clients: Clients, seconds: float) -> float | None:
    """Return the worker's CPU per token while all runs stream; None if there is no such time."""
    while len(clients.watcher.first) < len(clients.watcher.chats):
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    meter, began = Meter({"worker": installation.stack.processes()["worker"]}), time.perf_counter()
    while not clients.watcher.ended and time.perf_counter() < began + seconds / 2:
        await asyncio.sleep(0.05)
    took = time.perf_counter() - began
    return meter.get_seconds("worker") / (took * RATE * len(clients.watcher.chats)) if took > 0.5 else None


def measure_p3(installation: Installation, quick: bool) -> Table:
    """Measure concurrent runs on one worker."""
    runs, seconds = (50, 4) if quick else (200, 20)
    count = seconds * RATE
    base = installation.model.build_base(rate=RATE, count=count)
    floor = floors.measure(base, rounds=1, at_once=runs)
    ours = uvloop.run(measure_streams(installation, make_chats(installation, base, runs), count))
    return Table("P3", f"{runs} runs streaming at once", describe(runs, seconds, ours), build_figures(floor, ours))


def describe(runs: int, seconds: int, ours: Streaming) -> str:
    pace = f"{runs} runs of {seconds} s at {RATE} tokens a second on one worker; one member watches all of them."
    return f"{pace} The model's process was busy {ours.model_share:.0%} of a core."


def build_figures(floor: floors.Floor, ours: Streaming) -> list[Figure]:
    total, spread = max(floor.whole), get_percentile(ours.runs, 0.95) / get_percentile(ours.runs, 0.5)
    token = floor.cpu_per_token
    return [
        Figure(
            "total after the last POST",
            f"{total:.1f} s",
            f"{ours.total:.1f} s",
            f"{ours.total / total:.2f}",
            f"per token: {ours.cpu}",
            "≤ 1.15",
        ),
        Figure(
            "worker CPU per token, all in all",
            f"{token * 1e6:.0f} µs",
            f"{ours.worker * 1e6:.0f} µs",
            f"{ours.worker / token:.2f}",
            goal="≤ 2",
        ),
        build_steady_figure(token, ours.steady),
        Figure(
            "end of a run, p95 / p50",
            ours=f"{get_percentile(ours.runs, 0.95):.1f} / {get_percentile(ours.runs, 0.5):.1f} s",
            ratio=f"{spread:.2f}",
            goal="≤ 1.1",
        ),
    ]


def build_steady_figure(token: float, steady: float | None) -> Figure:
    """Build the figure of the time in which all runs stream."""
    what = "worker CPU per token, while all stream"
    if steady is None:
        return Figure(what, f"{token * 1e6:.0f} µs", "the first had ended before the last began", goal="≤ 2")
    return Figure(what, f"{token * 1e6:.0f} µs", f"{steady * 1e6:.0f} µs", f"{steady / token:.2f}", goal="≤ 2")
