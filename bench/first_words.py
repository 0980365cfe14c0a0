"""P1 and P2: from the POST of a message to the first words of the answer on another member's socket. P5: the POST alone."""

import asyncio
import time
from dataclasses import dataclass, field

import uvloop

from bench import floor as floors
from bench.installation import Installation, Scene, make_chats, scene
from bench.results import Figure, Table, ms, percentile

PAUSE_BETWEEN_MESSAGES_SECONDS = 0.05  # seconds between two messages, one at a time


@dataclass
class Answers:
    """In seconds, for each message: the POST, until the model was asked, until the first words were on the socket."""

    posts: list[float] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)
    words: list[float] = field(default_factory=list)


async def one_at_a_time(installation: Installation, here: Scene, count: int) -> Answers:
    """Messages to the chats in turn, each after the run before has ended."""
    answers = Answers()
    for number in range(count):
        chat = here.watch.chats[number % len(here.watch.chats)]
        await together(installation, here, [chat], answers)
        await asyncio.sleep(PAUSE_BETWEEN_MESSAGES_SECONDS)
    return answers


async def together(installation: Installation, here: Scene, chats: list[str], answers: Answers) -> None:
    """A message to each of these chats at the same time; waits for the end of all runs."""
    here.watch.forget()
    posts = await asyncio.gather(*[here.post(chat) for chat in chats])
    await here.watch.until_ended(chats)
    asked = sorted(await asyncio.to_thread(installation.model.asked))
    answers.posts += [took for _, took in posts]
    answers.asked += [at - posts[0][0] for at in asked]
    # Under load the whole answer may come before its first piece: then its words came with the end.
    shown = here.watch.ended | here.watch.first
    answers.words += [shown[chat] - began for chat, (began, _) in zip(chats, posts, strict=True)]


async def p1_messages(installation: Installation, chats: list[str], count: int) -> tuple[Answers, str]:
    async with scene(installation, chats) as here:
        await one_at_a_time(installation, here, min(count, 2 * len(chats)))  # warm
        meter = installation.meter()
        answers = await one_at_a_time(installation, here, count)
        return answers, meter.per(count)


async def p2_messages(installation: Installation, chats: list[str], rounds: int) -> tuple[Answers, str]:
    answers = Answers()
    async with scene(installation, chats) as here:
        await together(installation, here, chats, Answers())  # warm
        meter = installation.meter()
        for _ in range(rounds):
            await together(installation, here, chats, answers)
        return answers, meter.per(rounds * len(chats))


def figures(answers: Answers, floor: floors.Floor, cpu: str, goals: dict[float, str]) -> list[Figure]:
    """Ours less the floor's median, at each percentile; then where the time goes."""
    usual = percentile(floor.first, 0.5)
    found = []
    for part, name in ((0.5, "p50"), (0.95, "p95")):
        ours, theirs = percentile(answers.words, part), percentile(floor.first, part)
        less = f"{ms(ours)} ({ms(ours - usual)} over the floor's p50)"
        found.append(
            Figure(f"first words, {name}", ms(theirs), less, f"{ours / theirs:.1f}", cpu, goals.get(part, "–"))
        )
    for what, values in (("of it: the POST answered", answers.posts), ("of it: the model is asked", answers.asked)):
        found.append(Figure(what, ours=f"p50 {ms(percentile(values, 0.5))}, p95 {ms(percentile(values, 0.95))}"))
    return found


def p1(installation: Installation, quick: bool) -> Table:
    """One at a time."""
    count = 20 if quick else 200
    base = installation.model.base(rate=50, count=5)
    floor = floors.measure(base, rounds=count, at_once=1)
    answers, cpu = uvloop.run(p1_messages(installation, make_chats(installation, base, 10), count))
    found = figures(
        answers, floor, f"per message: {cpu}", {0.5: "≤ 20 ms over the floor", 0.95: "≤ 40 ms over the floor"}
    )
    how = f"{count} messages, each after the run before; 10 chats; 5 tokens at 50 a second; another member's socket."
    return Table("P1", "First words, one at a time", how, found)


def p2(installation: Installation, quick: bool) -> Table:
    """A hundred at once."""
    at_once, rounds = (30, 1) if quick else (100, 5)
    base = installation.model.base(rate=50, count=20)
    floor = floors.measure(base, rounds=rounds, at_once=at_once)
    answers, cpu = uvloop.run(p2_messages(installation, make_chats(installation, base, at_once), rounds))
    found = figures(answers, floor, f"per message: {cpu}", {0.95: "≤ 1,000 ms over the floor"})
    how = f"{at_once} messages to {at_once} chats at the same moment, {rounds} times; 20 tokens at 50 a second."
    return Table("P2", f"First words, {at_once} at once", how, found)


async def p5_posts(
    installation: Installation, chats: list[str], count: int, at_once: int
) -> tuple[list[float], float, str, float]:
    async with scene(installation, chats) as here:
        await asyncio.gather(*[here.post(chats[0]) for _ in range(2 * at_once)])  # warm
        meter, began, times = installation.meter(), time.perf_counter(), []

        async def speak() -> None:
            for _ in range(count // at_once):
                times.append((await here.post(chats[0]))[1])

        await asyncio.gather(*[speak() for _ in range(at_once)])
        return times, time.perf_counter() - began, meter.per(len(times)), meter.seconds("web") / len(times)


def p5(installation: Installation, quick: bool) -> Table:
    """Posting over HTTP into one chat without an agent, one watcher."""
    count, found = 80 if quick else 800, []
    chats = make_chats(installation, installation.model.base(count=1), 1, with_agent=False)
    for at_once in (1, 8):
        times, wall, cpu, web = uvloop.run(p5_posts(installation, chats, count, at_once))
        ours = f"p50 {ms(percentile(times, 0.5))}, p95 {ms(percentile(times, 0.95))}; {len(times) / wall:.0f}/s"
        goal = "≤ 5 ms CPU of web a POST; ≥ 100/s per core"
        found.append(
            Figure(f"{at_once} at once", ours=ours, cpu=f"per POST: {cpu} (1/web = {1 / web:.0f}/s)", goal=goal)
        )
    return Table("P5", "Posting into one chat, over HTTP", f"{count} messages that wake nobody; one watcher.", found)
