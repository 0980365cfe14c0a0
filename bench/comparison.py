"""P1 or P2 of two variants by turns: two installations run at once, and their messages alternate, so that whatever else the machine
does is the same for both.
"""

import asyncio
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from bench.first_words import PAUSE_BETWEEN_MESSAGES_SECONDS, Answers, post_at_once
from bench.installation import Clients, Installation, make_chats, open_clients, open_installation
from bench.processes import Meter
from bench.results import Figure, Table, format_ms, get_percentile

REST_SECONDS = 5.0


@dataclass
class Variant:
    """One of the two installations, with what was measured of it. `cpu`: the seconds of each process during its own turns."""

    name: str
    installation: Installation
    clients: Clients
    meter: Meter
    at_rest: str = ""
    answers: Answers = field(default_factory=Answers)
    cpu: Counter[str] = field(default_factory=Counter)

    async def take_turn(self, chats: list[str]) -> None:
        """Post a message to each of these chats at the same time, and wait for the answers."""
        before = self.meter.read_seconds()
        await post_at_once(self.installation, self.clients, chats, self.answers)
        after = self.meter.read_seconds()
        self.cpu.update({name: after[name] - before[name] for name in before})

    def build_figure(self, part: float, base: "Variant") -> Figure:
        """Return a percentile of the first words beside that of the other variant."""
        ours, theirs = (get_percentile(one.answers.words, part) for one in (self, base))
        messages = len(self.answers.words)
        cpu = ", ".join(f"{name} {seconds / messages * 1000:.1f}" for name, seconds in self.cpu.items())
        return Figure(
            f"first words, p{part * 100:.0f}, {self.name}",
            format_ms(theirs),
            format_ms(ours),
            f"{ours / theirs:.2f}",
            f"per message: {cpu} ms; at rest: {self.at_rest}",
        )


def measure_comparison(row: str, other: str, quick: bool) -> Table:
    """Measure P1 or P2 of this checkout and of another variant: a setting `NAME=VALUE`, or the folder of another checkout."""
    at_once, turns = (1, 20 if quick else 200) if row == "P1" else (100, 1 if quick else 5)
    name, is_setting, value = other.partition("=")
    with (
        open_installation() as ours,
        open_installation(**{name: value}) if is_setting else open_installation(Path(other).resolve()) as theirs,
    ):
        found = uvloop.run(_measure([("this checkout", ours), (other, theirs)], at_once, turns))
    how = (
        f"{turns} turns of {at_once} messages each of two installations that run at once. The column *floor*: {other}."
    )
    return Table(row, "First words by turns", how, found)


async def _measure(installations: list[tuple[str, Installation]], at_once: int, turns: int) -> list[Figure]:
    async with AsyncExitStack() as stack:
        variants: list[Variant] = []
        for name, one in installations:
            base = one.model.build_base(rate=50, count=5 if at_once == 1 else 20)
            chats = await asyncio.to_thread(make_chats, one, base, max(10, at_once))
            clients = await stack.enter_async_context(open_clients(one, chats))
            variants.append(Variant(name, one, clients, one.start_meter()))
        for variant in variants:
            await post_at_once(variant.installation, variant.clients, variant.clients.watcher.chats, Answers())  # warm
        meters, began = [variant.installation.start_meter() for variant in variants], time.perf_counter()
        await asyncio.sleep(REST_SECONDS)
        for variant, meter in zip(variants, meters, strict=True):
            variant.at_rest = meter.format_share(time.perf_counter() - began)
        for turn in range(turns):
            for variant in variants if turn % 2 else reversed(variants):
                chats = variant.clients.watcher.chats
                await variant.take_turn(chats if at_once > 1 else [chats[turn % len(chats)]])
                await asyncio.sleep(PAUSE_BETWEEN_MESSAGES_SECONDS)
        ours, theirs = variants
        return [one.build_figure(part, theirs) for part in (0.1, 0.5, 0.95) for one in variants]
