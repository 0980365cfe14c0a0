"""P15: one tenant does its worst; how another tenant's first words, posts and lists stand up to it. Limits as shipped."""

import json
import time
from dataclasses import dataclass, field
from subprocess import PIPE
from typing import Any

import uvloop

from bench import model as work_model
from bench.first_words import Answers, one_at_a_time
from bench.installation import Installation, make_chats, scene
from bench.model import Model
from bench.processes import child, cpu_seconds
from bench.results import Figure, Table, ms, percentile
from common.ids import new_id
from tests.stack import Stack
from tests.stories.integrator import Integrator

AGENTS, CHATS = 25, 20
"""Each of the attacker's chats has all the agents, and one message wakes them all: 500 runs, that drip for an hour."""
DRIP = (0.2, 500)
FLOOD = (0, 100_000)
"""An answer of about 700 kB, at once."""
READERS = 8


@dataclass
class Seen:
    """What the other tenant has: seconds, each."""

    words: list[float] = field(default_factory=list)
    posts: list[float] = field(default_factory=list)
    lists: list[float] = field(default_factory=list)


def p15(quick: bool) -> Table:
    """The same before and during the attack, with the limits that are shipped."""
    count = 10 if quick else 60
    with work_model.running() as model, work_model.running(nice=19) as theirs:
        hosts = ",".join([*model.paths(), *theirs.paths(), silent(theirs).removeprefix("http://")])
        with Stack(LOG_LEVEL="WARNING", ATELIER_ALLOW_PRIVATE_HOSTS=hosts) as stack:
            installation = Installation(stack, model, Integrator(stack, "Alice"), Integrator(stack, "Bob"))
            workspace, chats = furnish(installation)
            before, cpu_before = look(installation, workspace, chats, count)
            mallory = Mallory(stack, theirs)
            mallory.begin()  # what it starts ends with us
            clients = sum(cpu_seconds(pid) for pid in (mallory.clients.pid, theirs.pid))
            began = time.perf_counter()
            during, cpu_during = look(installation, workspace, chats, count)
            took = time.perf_counter() - began
            clients = sum(cpu_seconds(pid) for pid in (mallory.clients.pid, theirs.pid)) - clients
            told = mallory.end()
    found = [
        figure("first words (P1)", before.words, during.words),
        figure("a POST (P5)", before.posts, during.posts),
        figure("the list of chats (P7)", before.lists, during.lists),
        Figure("the servers, in parts of a core", cpu_before, cpu_during),
        Figure("the attacker's clients and model", ours=f"{clients / took:.0%} of a core, at the lowest priority"),
        Figure("what the attacker got meanwhile", ours=told),
    ]
    how = (
        f"Another tenant's {AGENTS * CHATS} runs on a model that drips, {READERS} readers of pages of long messages, 9 tests of a "
        f"model that does not answer, and answers of 700 kB; {count} of each, before (floor) and meanwhile. The attacker's clients "
        "and model are processes of their own at nice 19: they would be on other machines."
    )
    return Table("P15", "One tenant does its worst", how, found)


def silent(model: Model) -> str:
    """The address of a model that says nothing for a minute."""
    return model.base(first_ms=60_000, count=1)


def figure(what: str, before: list[float], during: list[float]) -> Figure:
    floor, ours = percentile(before, 0.5), percentile(during, 0.5)
    return Figure(
        f"{what}, p50 (p95)", f"{ms(floor)} ({ms(percentile(before, 0.95))})",
        f"{ms(ours)} ({ms(percentile(during, 0.95))})", f"{ours / floor:.2f}", goal="≤ 2",
    )  # fmt: skip


def furnish(installation: Installation) -> tuple[str, list[str]]:
    chats = make_chats(installation, installation.model.base(rate=50, count=5), 5)
    return installation.alice.ok("GET", f"chats/{chats[0]}")["chat"]["workspace_id"], chats


def look(installation: Installation, workspace: str, chats: list[str], count: int) -> tuple[Seen, str]:
    """What Alice and Bob have; and how much CPU the servers use meanwhile."""
    meter, began = installation.meter(), time.perf_counter()
    answers: Answers = uvloop.run(_words(installation, chats, count))
    lists = []
    for _ in range(count):
        asked = time.perf_counter()
        installation.alice.ok("GET", f"workspaces/{workspace}/chats")
        lists.append(time.perf_counter() - asked)
    return Seen(answers.words, answers.posts, lists), meter.share(time.perf_counter() - began)


async def _words(installation: Installation, chats: list[str], count: int) -> Answers:
    async with scene(installation, chats) as here:
        await one_at_a_time(installation, here, 2)  # warm
        return await one_at_a_time(installation, here, count)


class Mallory:
    """The tenant that does its worst, by clients in a process of their own (`bench.attacker`), until it is ended."""

    def __init__(self, stack: Stack, model: Model) -> None:
        self._stack, self._model = stack, model
        self._asks: list[dict[str, Any]] = []

    def begin(self) -> None:
        """Prepare all of it, then begin at once. Returns when the runs are queued."""
        slow, flood = Integrator(self._stack, "Mallory"), Integrator(self._stack, "Oscar")
        chats = self._make_chats(slow, self._model.base(rate=DRIP[0], count=DRIP[1]), AGENTS, CHATS)
        floods = self._make_chats(flood, self._model.base(rate=FLOOD[0], count=FLOOD[1]), 1, 4)
        mentions = " ".join(f"@{handle}" for handle in chats.handles)
        text = "word " * 15_000
        for _ in range(60):
            flood.status("POST", f"chats/{floods.ids[0]}/messages", _message(text, wake="nobody"))
        for chat in chats.ids:
            slow.status("POST", f"chats/{chat}/messages", _message(mentions))
        for _ in range(READERS):
            self._keep(flood, "GET", f"chats/{floods.ids[0]}/messages?limit=200")
        test = {"provider": "openai_compatible", "api_base": silent(self._model), "key": "sk-bench"}
        for _ in range(9):
            path = f"workspaces/{chats.workspace}/model/test"
            self._keep(slow, "POST", path, test | {"default_model": "scripted"}, pause=1.0)
        for chat in floods.ids[1:]:
            self._keep(flood, "POST", f"chats/{chat}/messages", _message("go"), pause=1.0)
        self.clients = child("bench.attacker", self._stack.address, nice=19, stdin=PIPE, stdout=PIPE)
        assert self.clients.stdin is not None
        self.clients.stdin.write(json.dumps(self._asks).encode())
        self.clients.stdin.close()

    def end(self) -> str:
        """End it; how often each status came."""
        self.clients.terminate()
        assert self.clients.stdout is not None
        statuses = json.loads(self.clients.stdout.read())
        self.clients.wait(30)
        return ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items())) or "nothing"

    def _keep(self, who: Integrator, method: str, path: str, body: object = None, *, pause: float = 0.0) -> None:
        headers = {"X-Session-Token": who.http.headers["X-Session-Token"]}
        ask = {"method": method, "path": f"/api/v1/{path}", "body": body, "pause": pause, "headers": headers}
        self._asks.append(ask)

    def _make_chats(self, who: Integrator, api_base: str, agents: int, chat_count: int) -> "BenchChats":
        workspace = who.ok("POST", "workspaces", {"name": "Worst"})["id"]
        model = {"provider": "openai_compatible", "api_base": api_base, "default_model": "scripted", "revision": 0}
        who.ok("PUT", f"workspaces/{workspace}/model", model | {"key": "sk-bench"})
        made = [
            who.ok(
                "POST", f"workspaces/{workspace}/agents", {"name": f"Agent {n}", "template": "scribe", "prompt": "Go."}
            )
            for n in range(agents)
        ]
        ids = [agent["actor"]["id"] for agent in made]
        chats = [
            who.ok("POST", f"workspaces/{workspace}/chats", {"title": f"{n}", "actor_ids": ids})["chat"]["id"]
            for n in range(chat_count)
        ]
        return BenchChats(workspace, chats, [agent["actor"]["handle"] for agent in made])


@dataclass(frozen=True)
class BenchChats:
    """What the attacker has made."""

    workspace: str
    ids: list[str]
    handles: list[str]


def _message(text: str, **more: str) -> dict[str, str]:
    return {"id": str(new_id()), "text": text, **more}
