"""P1 and P2: the time from the POST of a message to the first words of the answer on another member's socket. P5: only the POST."""

import asyncio
import time
from dataclasses import dataclass, field

import uvloop

from bench import floor as floors
from bench.installation import Clients, Installation, make_chats, open_clients
from bench.results import Figure, Table, format_ms, get_percentile

PAUSE_BETWEEN_MESSAGES_SECONDS = 0.05


@dataclass
class Answers:
    """Seconds for each message: the POST itself, until the model was called, until the first words were on the socket."""

    posts: list[float] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)
    words: list[float] = field(default_factory=list)


async def post_one_at_a_time(installation: Installation, clients: Clients, count: int) -> Answers:
    """Post `count` messages to the chats in turn, each after the run before has ended."""
    answers = Answers()
    for number in range(count):
        chat = clients.watcher.chats[number % len(clients.watcher.chats)]
        await post_at_once(installation, clients, [chat], answers)
        await asyncio.sleep(PAUSE_BETWEEN_MESSAGES_SECONDS)
    return answers


async def post_at_once(installation: Installation, clients: Clients, chats: list[str], answers: Answers) -> None:
    """Post a message to each of these chats at the same time, and wait for the end of all runs."""
    clients.watcher.reset()
    posts = await asyncio.gather(*[clients.post(chat) for chat in chats])
    await clients.watcher.wait_until_ended(chats)
    asked = sorted(await asyncio.to_thread(installation.model.read_request_times))
    answers.posts += [took for _, took in posts]
    answers.asked += [at - posts[0][0] for at in asked]
    # Under load the complete answer may arrive before its first chunk: then its end counts.
    shown = clients.watcher.ended | clients.watcher.first
    answers.words += [shown[chat] - began for chat, (began, _) in zip(chats, posts, strict=True)]


async def measure_one_at_a_time(installation: Installation, chats: list[str], count: int) -> tuple[Answers, str]:
    async with open_clients(installation, chats) as clients:
        await post_one_at_a_time(installation, clients, min(count, 2 * len(chats)))  # warm
        meter = installation.start_meter()
        answers = await post_one_at_a_time(installation, clients, count)
        return answers, meter.format_per_unit(count)


async def measure_at_once(installation: Installation, chats: list[str], rounds: int) -> tuple[Answers, str]:
    answers = Answers()
    async with open_clients(installation, chats) as clients:
        await post_at_once(installation, clients, chats, Answers())  # warm
        meter = installation.start_meter()
        for _ in range(rounds):
            await post_at_once(installation, clients, chats, answers)
        return answers, meter.format_per_unit(rounds * len(chats))


def build_figures(answers: Answers, floor: floors.Floor, cpu: str, goals: dict[float, str]) -> list[Figure]:
    """Return our times less the floor's median, and the parts of our time."""
    usual = get_percentile(floor.first, 0.5)
    found = []
    for part, name in ((0.5, "p50"), (0.95, "p95")):
        ours, theirs = get_percentile(answers.words, part), get_percentile(floor.first, part)
        less = f"{format_ms(ours)} ({format_ms(ours - usual)} over the floor's p50)"
        found.append(
            Figure(f"first words, {name}", format_ms(theirs), less, f"{ours / theirs:.1f}", cpu, goals.get(part, "–"))
        )
    for what, values in (("of it: the POST answered", answers.posts), ("of it: the model is asked", answers.asked)):
        found.append(
            Figure(
                what,
                ours=f"p50 {format_ms(get_percentile(values, 0.5))}, p95 {format_ms(get_percentile(values, 0.95))}",
            )
        )
    return found


def measure_p1(installation: Installation, quick: bool) -> Table:
    """Measure messages one at a time."""
    count = 20 if quick else 200
    base = installation.model.build_base(rate=50, count=5)
    floor = floors.measure(base, rounds=count, at_once=1)
    answers, cpu = uvloop.run(measure_one_at_a_time(installation, make_chats(installation, base, 10), count))
    found = build_figures(
        answers, floor, f"per message: {cpu}", {0.5: "≤ 20 ms over the floor", 0.95: "≤ 40 ms over the floor"}
    )
    how = f"{count} messages, each after the run before; 10 chats; 5 tokens at 50 a second; another member's socket."
    return Table("P1", "First words, one at a time", how, found)


def measure_p2(installation: Installation, quick: bool) -> Table:
    """Measure a hundred messages at once."""
    at_once, rounds = (30, 1) if quick else (100, 5)
    base = installation.model.build_base(rate=50, count=20)
    floor = floors.measure(base, rounds=rounds, at_once=at_once)
    answers, cpu = uvloop.run(measure_at_once(installation, make_chats(installation, base, at_once), rounds))
    found = build_figures(answers, floor, f"per message: {cpu}", {0.95: "≤ 1,000 ms over the floor"})
    how = f"{at_once} messages to {at_once} chats at the same moment, {rounds} times; 20 tokens at 50 a second."
    return Table("P2", f"First words, {at_once} at once", how, found)


async def measure_posts(
    installation: Installation, chats: list[str], count: int, at_once: int
) -> tuple[list[float], float, str, float]:
    async with open_clients(installation, chats) as clients:
        await asyncio.gather(*[clients.post(chats[0]) for _ in range(2 * at_once)])  # warm
        meter, began, times = installation.start_meter(), time.perf_counter(), []

        async def post_in_turn() -> None:
            for _ in range(count // at_once):
                times.append((await clients.post(chats[0]))[1])

        await asyncio.gather(*[post_in_turn() for _ in range(at_once)])
        return (
            times,
            time.perf_counter() - began,
            meter.format_per_unit(len(times)),
            meter.get_seconds("web") / len(times),
        )


def measure_p5(installation: Installation, quick: bool) -> Table:
    """Measure posting over HTTP into one chat without an agent, with one socket."""
    count, found = 80 if quick else 800, []
    chats = make_chats(installation, installation.model.build_base(count=1), 1, with_agent=False)
    for at_once in (1, 8):
        times, wall, cpu, web = uvloop.run(measure_posts(installation, chats, count, at_once))
        p50, p95 = format_ms(get_percentile(times, 0.5)), format_ms(get_percentile(times, 0.95))
        ours = f"p50 {p50}, p95 {p95}; {len(times) / wall:.0f}/s"
        goal = "≤ 5 ms CPU of web a POST; ≥ 100/s per core"
        found.append(
            Figure(f"{at_once} at once", ours=ours, cpu=f"per POST: {cpu} (1/web = {1 / web:.0f}/s)", goal=goal)
        )
    return Table("P5", "Posting into one chat, over HTTP", f"{count} messages that wake nobody; one watcher.", found)
