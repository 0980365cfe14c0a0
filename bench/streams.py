"""P3: two hundred runs streaming at once on one worker process."""

import asyncio
import time
from dataclasses import dataclass

import uvloop

from bench import floor as floors
from bench.installation import Installation, Scene, make_chats, scene
from bench.processes import Meter, cpu_seconds
from bench.results import Figure, Table, percentile

RATE = 25  # tokens a second
POSTS_AT_ONCE = 50
"""Requests of one person that may wait at the same time, and a few more."""


@dataclass
class Streaming:
    """Seconds: `total` from the last POST to the last end, `runs` each from its POST; CPU seconds per token."""

    total: float
    runs: list[float]
    worker: float
    steady: float | None
    model_share: float
    cpu: str


async def stream(installation: Installation, chats: list[str], count: int) -> Streaming:
    async with scene(installation, chats) as here:
        meter, model, began = installation.meter(), cpu_seconds(installation.model.pid), time.perf_counter()
        posts = [
            post
            for at in range(0, len(chats), POSTS_AT_ONCE)
            for post in await asyncio.gather(*[here.post(chat) for chat in chats[at : at + POSTS_AT_ONCE]])
        ]
        last = time.perf_counter()
        steady = asyncio.create_task(steady_state(installation, here, count / RATE))
        await here.watch.until_ended(chats)
        wall, tokens, ended = time.perf_counter() - began, len(chats) * count, here.watch.ended
        runs = [ended[chat] - post[0] for chat, post in zip(chats, posts, strict=True)]
        share = (cpu_seconds(installation.model.pid) - model) / wall
        worker = meter.seconds("worker") / tokens
        return Streaming(max(ended.values()) - last, runs, worker, await steady, share, meter.per(tokens))


async def steady_state(installation: Installation, here: Scene, seconds: float) -> float | None:
    """The worker's CPU per token while all stream and none begins or ends; nothing when there is no such time."""
    while len(here.watch.first) < len(here.watch.chats):
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    meter, began = Meter({"worker": installation.stack.processes()["worker"]}), time.perf_counter()
    while not here.watch.ended and time.perf_counter() < began + seconds / 2:
        await asyncio.sleep(0.05)
    took = time.perf_counter() - began
    return meter.seconds("worker") / (took * RATE * len(here.watch.chats)) if took > 0.5 else None


def p3(installation: Installation, quick: bool) -> Table:
    """Concurrent runs, one worker."""
    runs, seconds = (50, 4) if quick else (200, 20)
    count = seconds * RATE
    base = installation.model.base(rate=RATE, count=count)
    floor = floors.measure(base, rounds=1, at_once=runs)
    ours = uvloop.run(stream(installation, make_chats(installation, base, runs), count))
    return Table("P3", f"{runs} runs streaming at once", how(runs, seconds, ours), figures(floor, ours))


def how(runs: int, seconds: int, ours: Streaming) -> str:
    pace = f"{runs} runs of {seconds} s at {RATE} tokens a second on one worker; one member watches all of them."
    return f"{pace} The model's process was busy {ours.model_share:.0%} of a core."


def figures(floor: floors.Floor, ours: Streaming) -> list[Figure]:
    total, spread = max(floor.whole), percentile(ours.runs, 0.95) / percentile(ours.runs, 0.5)
    token = floor.cpu_per_token
    return [
        Figure("total after the last POST", f"{total:.1f} s", f"{ours.total:.1f} s", f"{ours.total / total:.2f}",
               f"per token: {ours.cpu}", "≤ 1.15"),
        Figure("worker CPU per token, all in all", f"{token * 1e6:.0f} µs", f"{ours.worker * 1e6:.0f} µs",
               f"{ours.worker / token:.2f}", goal="≤ 2"),
        in_the_middle(token, ours.steady),
        Figure("end of a run, p95 / p50", ours=f"{percentile(ours.runs, 0.95):.1f} / {percentile(ours.runs, 0.5):.1f} s",
               ratio=f"{spread:.2f}", goal="≤ 1.1"),
    ]  # fmt: skip


def in_the_middle(token: float, steady: float | None) -> Figure:
    """The line of the steady state."""
    what = "worker CPU per token, while all stream"
    if steady is None:
        return Figure(what, f"{token * 1e6:.0f} µs", "the first had ended before the last began", goal="≤ 2")
    return Figure(what, f"{token * 1e6:.0f} µs", f"{steady * 1e6:.0f} µs", f"{steady / token:.2f}", goal="≤ 2")
