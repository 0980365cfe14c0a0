"""P12: what people do in a workspace, beside the same in workspaces with ten times the chats, members, agents or messages.

All over HTTP and the socket of a running installation, in turns for all workspaces. Each list is read in pages of the same length.
"""

from dataclasses import replace

import uvloop

from bench.installation import Installation
from bench.operations import Target, build_figure, compare, open_person
from bench.results import Figure, Table
from bench.workspaces_made import Size, make_workspaces

FACTOR = 10
CHATS, PEOPLE, AGENTS, MESSAGES = 20, 5, 5, 500
QUICK_CHATS, QUICK_MESSAGES = 3, 50
PAGE = 5
"""Rows of a page: as many as the smallest list has."""
LISTS = {
    "the sidebar": "workspaces/{0.workspace}/chats",
    "the list of agents": "workspaces/{0.workspace}/agents",
    "the list of members": "workspaces/{0.workspace}/members",
    "the participants of a chat": "chats/{0.chat}/participants",
}


def list_sizes(chats: int, messages: int, *, factor: int) -> list[Size]:
    """Return the size of the small workspace, and those of the larger ones by what they have more of."""
    small = Size("small", [messages] * chats, PEOPLE, AGENTS)
    return [
        small,
        replace(small, name="chats", messages=[messages] * chats * factor),
        replace(small, name="members", people=PEOPLE * factor),
        replace(small, name="agents", agents=AGENTS * factor),
        replace(small, name="messages", messages=[messages * factor] * chats),
    ]


def measure_p12(installation: Installation, quick: bool, messages: int | None = None) -> Table:
    """Measure each operation in all workspaces. `messages`: those of each chat in the small workspace."""
    chats, rounds = (QUICK_CHATS, 10) if quick else (CHATS, 40)
    count = messages or (QUICK_MESSAGES if quick else MESSAGES)
    sizes = list_sizes(chats, count, factor=FACTOR)
    made = make_workspaces(installation, installation.model.build_base(rate=50, count=5), sizes)
    targets = {size.name: [Target(one.id, one.chats[0], one.handle)] for size, one in zip(sizes, made, strict=True)}
    figures = uvloop.run(measure_all(installation, targets, rounds))
    how = (
        f"A workspace of {chats} chats with {count:,} messages each, {PEOPLE} people and {AGENTS} agents, who are all in the chat"
        f" that is measured; and four workspaces with {FACTOR} times as many of one of them. {rounds} rounds; pages of {PAGE}"
        " rows. The median; the column of the CPU has the p95 of both."
    )
    return Table("P12", "Growth", f"{how} The floor: the small workspace.", figures)


async def measure_all(installation: Installation, targets: dict[str, list[Target]], rounds: int) -> list[Figure]:
    async with open_person(installation, [those[0].chat for those in targets.values()]) as person:

        def read_page(path: str):
            return lambda target: person.read(f"{path.format(target)}?limit={PAGE}")

        operations = {what: read_page(path) for what, path in LISTS.items()} | {
            "opening a chat": person.open_chat,
            "the oldest page of a chat": person.read_old_page,
            "search of an English word": person.search("deposit", in_chat=False),
            "search of a Chinese word": person.search("訂金", in_chat=False),
            "posting": person.post,
            "first words of an answer": person.get_answer,
        }
        times = {what: await compare(one, targets, rounds) for what, one in operations.items()}
    grown = [name for name in targets if name != "small"]
    return [
        build_figure(f"{what}, {name} × {FACTOR}", one["small"], one[name], "≤ 1.2")
        for what, one in times.items()
        for name in grown
    ]
