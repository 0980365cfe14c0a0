"""P6: opening, searching, posting into and answering in a chat of 1,000,000 messages, beside chats of 100 and of 1,000.

A model reads as much of a chat of 1,000 messages as of one of 1,000,000, and of 100 messages less, because there are no more.
Everything goes over HTTP and the socket of a running installation, in turns for all sizes, so that only the length differs; once
while nothing else happens, and once while agents write in other chats.
"""

import uvloop

from bench.installation import Installation
from bench.operations import (
    BUSY_CHATS,
    BUSY_PACE,
    Target,
    build_figure,
    compare,
    keep_busy,
    make_busy_chats,
    open_person,
)
from bench.results import Figure, Table
from bench.workspaces_made import Size, make_workspaces

SHORT, FULL, LONG, QUICK = 100, 1_000, 1_000_000, 20_000
"""Messages of the chats. One of `FULL` has more than a model reads."""
COPIES = 20
"""Chats of `SHORT` and of `FULL` messages. They take turns, so that each remains as short as it is."""
MAX_TOKENS = 3_000
"""Tokens of a conversation in all chats: about 100 messages."""
STRATEGIES = {"truncate": "leave out", "summarise": "summarise", "retrieve": "retrieve"}


def measure_p6(installation: Installation, quick: bool, messages: int | None = None) -> Table:
    """Measure each operation in chats of all sizes. `messages`: those of the longest chat."""
    count, rounds = messages or (QUICK if quick else LONG), 10 if quick else 40
    size = Size("Long chats", [*[SHORT] * COPIES, *[FULL] * COPIES, count])
    made = make_workspaces(installation, installation.model.build_base(rate=50, count=5), [size])[0]
    found = [Target(made.id, chat, made.handle) for chat in made.chats]
    targets = {"short": found[:COPIES], "full": found[COPIES:-1], "long": found[-1:]}
    figures = uvloop.run(measure_all(installation, targets, made.chats, rounds))
    rate, tokens = BUSY_PACE
    how = (
        f"A chat of {count:,} messages beside {COPIES} of {SHORT} and {COPIES} of {FULL:,}, in one workspace, {rounds} rounds;"
        f" conversations of {MAX_TOKENS:,} tokens. All over HTTP and the socket: the time until the response, the snapshot, or the"
        " message or the first words on another member's socket. Under load: meanwhile, agents write in"
        f" {BUSY_CHATS} other chats, {tokens} tokens at {rate} a second each, and are asked again when they have answered."
        " The median; the column of the CPU has the p95 of both."
    )
    return Table("P6", "Long chats", f"{how} The floor: the same in the shorter chat.", figures)


async def measure_all(
    installation: Installation, targets: dict[str, list[Target]], chats: list[str], rounds: int
) -> list[Figure]:
    busy, figures = make_busy_chats(installation), []
    for load in ("", ", under load"):
        async with open_person(installation, chats) as person, keep_busy(installation, busy if load else []):
            operations = {
                "opening": (person.open_chat, "≤ 1.2"),
                "the oldest page": (person.read_old_page, "–"),
                "search of an English word": (person.search("deposit", in_chat=True), "–"),
                "search of a Chinese word": (person.search("訂金", in_chat=True), "–"),
                "search of a rare word": (person.search("badenfir", in_chat=True), "–"),
                "posting": (person.post, "≤ 1.2"),
            }
            times = {what: await compare(one, targets, rounds) for what, (one, _) in operations.items()}
            goals = {what: goal for what, (_, goal) in operations.items()}
            for strategy, name in STRATEGIES.items():
                set_strategy(installation, targets["long"][0].workspace, strategy)
                what = f"first words of an answer, {name}"
                times[what] = await compare(person.get_answer, targets, rounds)
                goals[what] = "–" if strategy == "retrieve" else "≤ 1.2"
        figures += [
            build_figure(f"{what}{load}, beside a chat of {size:,}", one[floor], one["long"], goals[what])
            for what, one in times.items()
            for floor, size in (("short", SHORT), ("full", FULL))
        ]
    return figures


def set_strategy(installation: Installation, workspace: str, strategy: str) -> None:
    """Set how much the models of the workspace read, and of what."""
    path = f"workspaces/{workspace}/context"
    revision = installation.alice.ok("GET", path)["revision"]
    body = {"strategy": strategy, "max_tokens": MAX_TOKENS, "revision": revision}
    installation.alice.ok("PUT", path, body)
