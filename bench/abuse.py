"""P15: the latency of one tenant's first words, posts and lists while another tenant attacks, with the default limits."""

import json
import time
from dataclasses import dataclass, field
from subprocess import PIPE
from typing import Any

import uvloop

from bench import model as work_model
from bench.first_words import Answers, post_one_at_a_time
from bench.installation import Installation, make_chats, open_clients
from bench.model import Model
from bench.processes import get_cpu_seconds, start_module, write_to_stdin
from bench.results import Figure, Table, format_ms, get_percentile
from common.ids import new_id
from tests.stack import Stack
from tests.stories.integrator import Integrator

AGENTS, CHATS = 25, 20
"""Each of the attacker's chats has all the agents, and one message wakes them all: 500 runs that stream slowly for an hour."""
DRIP = (0.2, 500)
FLOOD = (0, 100_000)
"""An answer of about 700 kB, at once."""
READERS = 8


@dataclass
class Durations:
    """The latencies of the other tenant, in seconds."""

    words: list[float] = field(default_factory=list)
    posts: list[float] = field(default_factory=list)
    lists: list[float] = field(default_factory=list)


def measure_p15(quick: bool) -> Table:
    """Measure before and during the attack, with the default limits."""
    count = 10 if quick else 60
    with work_model.run_model() as model, work_model.run_model(nice=19) as theirs:
        hosts = ",".join([*model.list_paths(), *theirs.list_paths(), build_silent_base(theirs).removeprefix("http://")])
        with Stack(LOG_LEVEL="WARNING", ATELIER_ALLOW_PRIVATE_HOSTS=hosts) as stack:
            installation = Installation(stack, model, Integrator(stack, "Alice"), Integrator(stack, "Bob"))
            workspace, chats = make_workspace(installation)
            before, cpu_before = measure_tenant(installation, workspace, chats, count)
            attacker = Attacker(stack, theirs)
            attacker.start()  # its processes end with this one
            clients = sum(get_cpu_seconds(pid) for pid in (attacker.clients.pid, theirs.pid))
            began = time.perf_counter()
            during, cpu_during = measure_tenant(installation, workspace, chats, count)
            took = time.perf_counter() - began
            clients = sum(get_cpu_seconds(pid) for pid in (attacker.clients.pid, theirs.pid)) - clients
            statuses = attacker.stop()
    found = [
        build_figure("first words (P1)", before.words, during.words),
        build_figure("a POST (P5)", before.posts, during.posts),
        build_figure("the list of chats (P7)", before.lists, during.lists),
        Figure("the servers, in parts of a core", cpu_before, cpu_during),
        Figure("the attacker's clients and model", ours=f"{clients / took:.0%} of a core, at the lowest priority"),
        Figure("what the attacker got meanwhile", ours=statuses),
    ]
    how = (
        f"Another tenant's {AGENTS * CHATS} runs on a model that drips, {READERS} readers of pages of long messages, 9 tests of a "
        f"model that does not answer, and answers of 700 kB; {count} of each, before (floor) and meanwhile. The attacker's clients "
        "and model are processes of their own at nice 19: they would be on other machines."
    )
    return Table("P15", "One tenant does its worst", how, found)


def build_silent_base(model: Model) -> str:
    """Return the URL of a model that sends nothing for a minute."""
    return model.build_base(first_ms=60_000, count=1)


def build_figure(what: str, before: list[float], during: list[float]) -> Figure:
    floor, ours = get_percentile(before, 0.5), get_percentile(during, 0.5)
    return Figure(
        f"{what}, p50 (p95)",
        f"{format_ms(floor)} ({format_ms(get_percentile(before, 0.95))})",
        f"{format_ms(ours)} ({format_ms(get_percentile(during, 0.95))})",
        f"{ours / floor:.2f}",
        goal="≤ 2",
    )


def make_workspace(installation: Installation) -> tuple[str, list[str]]:
    chats = make_chats(installation, installation.model.build_base(rate=50, count=5), 5)
    return installation.alice.ok("GET", f"chats/{chats[0]}")["chat"]["workspace_id"], chats


def measure_tenant(installation: Installation, workspace: str, chats: list[str], count: int) -> tuple[Durations, str]:
    """Measure the latencies of Alice and Bob, and the CPU that the servers use in that time."""
    meter, began = installation.start_meter(), time.perf_counter()
    answers: Answers = uvloop.run(_measure_first_words(installation, chats, count))
    lists = []
    for _ in range(count):
        asked = time.perf_counter()
        installation.alice.ok("GET", f"workspaces/{workspace}/chats")
        lists.append(time.perf_counter() - asked)
    return Durations(answers.words, answers.posts, lists), meter.format_share(time.perf_counter() - began)


async def _measure_first_words(installation: Installation, chats: list[str], count: int) -> Answers:
    async with open_clients(installation, chats) as clients:
        await post_one_at_a_time(installation, clients, 2)  # warm
        return await post_one_at_a_time(installation, clients, count)


class Attacker:
    """The tenant that attacks, by clients in a process of their own (`bench.attacker`)."""

    def __init__(self, stack: Stack, model: Model) -> None:
        self._stack, self._model = stack, model
        self._requests: list[dict[str, Any]] = []

    def start(self) -> None:
        """Prepare the chats and the requests, queue the runs, and start the clients."""
        slow, flood = Integrator(self._stack, "Mallory"), Integrator(self._stack, "Oscar")
        chats = self._make_chats(slow, self._model.build_base(rate=DRIP[0], count=DRIP[1]), AGENTS, CHATS)
        floods = self._make_chats(flood, self._model.build_base(rate=FLOOD[0], count=FLOOD[1]), 1, 4)
        mentions = " ".join(f"@{handle}" for handle in chats.handles)
        text = "word " * 15_000
        for _ in range(60):
            flood.status("POST", f"chats/{floods.ids[0]}/messages", _message(text, wake="nobody"))
        for chat in chats.ids:
            slow.status("POST", f"chats/{chat}/messages", _message(mentions))
        for _ in range(READERS):
            self._add_request(flood, "GET", f"chats/{floods.ids[0]}/messages?limit=200")
        test = {"provider": "openai_compatible", "api_base": build_silent_base(self._model), "key": "sk-bench"}
        for _ in range(9):
            path = f"workspaces/{chats.workspace}/model/test"
            self._add_request(slow, "POST", path, test | {"default_model": "scripted"}, pause=1.0)
        for chat in floods.ids[1:]:
            self._add_request(flood, "POST", f"chats/{chat}/messages", _message("go"), pause=1.0)
        self.clients = start_module("bench.attacker", self._stack.url, nice=19, stdin=PIPE, stdout=PIPE)
        write_to_stdin(self.clients, json.dumps(self._requests).encode())

    def stop(self) -> str:
        """Stop the clients. Return how often each status was returned to them."""
        self.clients.terminate()
        output, _ = self.clients.communicate(timeout=30)
        statuses = json.loads(output)
        return ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items())) or "nothing"

    def _add_request(self, who: Integrator, method: str, path: str, body: object = None, *, pause: float = 0.0) -> None:
        headers = {"X-Session-Token": who.http.headers["X-Session-Token"]}
        request = {"method": method, "path": f"/api/v1/{path}", "body": body, "pause": pause, "headers": headers}
        self._requests.append(request)

    def _make_chats(self, who: Integrator, api_base: str, agents: int, chat_count: int) -> "AttackerChats":
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
        return AttackerChats(workspace, chats, [agent["actor"]["handle"] for agent in made])


@dataclass(frozen=True)
class AttackerChats:
    """The attacker's workspace, chats and agents."""

    workspace: str
    ids: list[str]
    handles: list[str]


def _message(text: str, **more: str) -> dict[str, str]:
    return {"id": str(new_id()), "text": text, **more}
