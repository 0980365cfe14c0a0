"""P6: opening, searching, posting into and answering in a chat of 1,000,000 messages, beside a chat of 100.

Also beside a chat of 1,000: a model reads as much of it as of 1,000,000, and of 100 messages less, because there are no more.

`python -m tests.servers python -m bench.long_chats MESSAGES ROUNDS` runs beside a PostgreSQL and a Valkey of its own, and prints
its figures as JSON. Everything is called in that one process, in turns for all chats, so that only the length differs.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from bench.results import Figure, Table
from launcher.home import ROOT

SHORT, FULL, LONG, QUICK = 100, 1_000, 1_000_000, 20_000
"""Messages of the chats. One of `FULL` has more than a model reads."""
MAX_TOKENS = 3_000
"""Tokens of a conversation in all chats: about 100 messages."""


def measure_p6(quick: bool) -> Table:
    """Measure each step in all three chats."""
    count, rounds = (QUICK, 20) if quick else (LONG, 40)
    command = [sys.executable, "-m", "tests.servers", sys.executable, "-m", "bench.long_chats", str(count), str(rounds)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found: list[Figure] = []
    for name, one in json.loads(done.stdout.splitlines()[-1]).items():
        for floor, size in (("short", SHORT), ("full", FULL)):
            found.append(
                Figure(
                    f"{name}, beside a chat of {size:,}",
                    f"{one[floor]:.1f} ms",
                    f"{one['long']:.1f} ms",
                    f"{one['long'] / one[floor]:.2f}",
                    f"p95 {one['p95']:.1f} ms",
                    one["goal"],
                )
            )
    how = (
        f"A chat of {count:,} messages beside one of {SHORT} and one of {FULL:,}, in one database, {rounds} rounds;"
        f" conversations of {MAX_TOKENS:,} tokens; PostgreSQL does not wait for the disk."
        " The median; the column of the CPU is the p95 of the long chat."
    )
    return Table("P6", "Long chats", f"{how} The floor: the same in the shorter chat.", found)


def main(count: int, rounds: int) -> None:
    from config.wsgi import application  # sets Django up: first  # isort: skip

    assert application
    from django.db import connection, transaction

    from agents.services.agents import create_agent
    from chats import services as chats
    from chats.models import Chat
    from chats.permissions import ChatVerb, get_chat_for
    from chats.selectors import list_messages, search_messages
    from common.ids import new_id
    from context.seeding import create_messages
    from runs.kinds import get_kind
    from runs.models import Run
    from tests.people import make_person
    from workspaces import services as workspaces
    from workspaces.models import Workspace

    person = make_person(f"Ada{new_id().hex[-8:]}")
    workspace = workspaces.create_workspace(person, name="Long chats")
    agent = create_agent(person, workspace.id, name="Scribe", prompt="Answer.").agent
    made: dict[str, Chat] = {}
    for name, size in (("short", SHORT), ("full", FULL), ("long", count)):
        made[name] = chats.create_chat(person, workspace.id, title=name, actor_ids=[agent.id])
        create_messages(made[name].id, size)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE chats_message")

    def open_chat(chat: Chat) -> object:
        found = list_messages(chat=get_chat_for(person, chat.id, ChatVerb.SEE), limit=50)
        return [message.to_row() for message in found.messages]

    def search(query: str) -> Callable[[Chat], object]:
        def run(chat: Chat) -> object:
            return list(search_messages(Chat.objects.filter(pk=chat.pk), query).order_by("-created_at", "-pk")[:20])

        return run

    def post(chat: Chat) -> object:
        return chats.post_message(person, chat.id, text="The deposit for the hotel is due.", wake="nobody")

    def prepare(strategy: str) -> Callable[[Chat], object]:
        def run(chat: Chat) -> object:
            with transaction.atomic():
                Workspace.objects.filter(pk=workspace.pk).update(
                    context_strategy=strategy, context_max_tokens=MAX_TOKENS
                )
                message, _ = chats.post_message(
                    person, chat.id, text="How much is the deposit for the hotel suite?", wake="nobody"
                )
                row = Run(
                    workspace=workspace, chat=Chat.objects.select_related("workspace").get(pk=chat.pk), agent=agent,
                    spec=agent.current_spec, trigger_id=message.id, trigger_seq=message.seq, on_behalf_of=person,
                    payer_id=workspace.pk, concurrency_key="bench", message_id=new_id(),
                )  # fmt: skip
                began = time.perf_counter()
                get_kind(row).prepare(row)
                seconds = time.perf_counter() - began
                transaction.set_rollback(True)
            return seconds

        return run

    steps: dict[str, tuple[Callable[[Chat], object], str]] = {
        "opening: rights and the newest 50 messages": (open_chat, "≤ 1.2"),
        "search of an English word": (search("deposit"), "–"),
        "search of a Chinese word": (search("訂金"), "–"),
        "search of a rare word": (search("badenfir"), "–"),
        "posting": (post, "≤ 1.2"),
        "the context of a run, leave out": (prepare("truncate"), "≤ 1.2"),
        "the context of a run, summarise": (prepare("summarise"), "≤ 1.2"),
        "the context of a run, retrieve": (prepare("retrieve"), "–"),
    }
    print(json.dumps({name: compare(step, made, rounds) | {"goal": goal} for name, (step, goal) in steps.items()}))


def compare(step: Callable[[Any], object], made: Mapping[str, Any], rounds: int) -> dict[str, Any]:
    """Return the median milliseconds of a step in each chat, called in turns. A step may return its own seconds."""
    times: dict[str, list[float]] = {name: [] for name in made}
    for _ in range(rounds):
        for name, chat in made.items():
            began = time.perf_counter()
            own = step(chat)
            times[name].append(own if isinstance(own, float) else time.perf_counter() - began)
    found = {name: sorted(values)[len(values) // 2] * 1000 for name, values in times.items()}
    return found | {"p95": sorted(times["long"])[int(len(times["long"]) * 0.95)] * 1000}


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
