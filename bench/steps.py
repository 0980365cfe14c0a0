"""The cost of each step of a message, in one process: `python -m tests.servers .venv/bin/python -m bench.steps [COUNT] [STEP]`.
With a step it also prints its profile (cProfile).

CPU is that of this thread; the rest of the time is PostgreSQL, Redis, and other processes of the machine. The figures are medians.
"""

import cProfile
import io
import itertools
import json
import pstats
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from config.wsgi import application  # sets Django up: first  # isort: skip

from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from chats import services as chats
from common.ids import new_id
from config.asgi import build_environ
from llm.messages import Answer, Usage
from runs.kinds import get_kind
from runs.kinds.base import PreparedRun
from runs.models import Run
from runs.runtime.steps import ModelAnswered, StepId
from runs.services.claims import claim_run
from tests.people import Team, make_team
from tests.realtime.tab import create_session_key
from tests.recorder import Recorder

TOKEN = "a" * 32
STEPS = ("post", "claim", "prepare", "answered")


class Steps:
    """Runs the steps of a message, in ten chats in turn, each with one agent."""

    def __init__(self, team: Team, profiled: str = "") -> None:
        self._session, self._profiled = create_session_key(team.alice), profiled
        self.profile = cProfile.Profile()
        with transaction.atomic():
            ids = [team.bob.id, team.robin.id]
            created = [
                chats.create_chat(team.alice, team.workspace.id, title=str(number), actor_ids=ids)
                for number in range(10)
            ]
        self._turns = itertools.cycle(created)
        self.cpu: dict[str, list[float]] = defaultdict(list)
        self.wall: dict[str, list[float]] = defaultdict(list)
        self.statements: dict[str, int] = {}

    def run_message(self, *, count: bool = False) -> None:
        """Run the steps from the POST to the stored answer, without a model. `count` counts statements, which takes time."""
        self._step("post", self._post, count)
        run_id = Run.objects.filter(state="queued").values_list("pk", flat=True)[0]
        run = self._step("claim", lambda: claim_run(run_id, "bench:1:1"), count)
        if run is None:
            raise RuntimeError("The run could not be claimed.")
        ready = self._step("prepare", lambda: get_kind(run).prepare(run), count)
        self._step("answered", lambda: self._store_answer(run, ready), count)

    def _step(self, name: str, work: Callable[[], Any], count: bool) -> Any:
        connections.close_all()
        if count:
            with CaptureQueriesContext(connection) as queries:
                made = work()
            self.statements[name] = len(queries)
            return made
        if name == self._profiled:
            self.profile.enable()
        began, cpu = time.perf_counter(), time.thread_time()
        made = work()
        connections.close_all()
        self.cpu[name].append(time.thread_time() - cpu)
        self.wall[name].append(time.perf_counter() - began)
        self.profile.disable()
        return made

    def _post(self) -> None:
        body = json.dumps({"id": str(new_id()), "text": "hello"}).encode()
        cookie = f"sessionid={self._session}; csrftoken={TOKEN}".encode()
        headers = [
            (b"host", b"localhost"), (b"content-type", b"application/json"),
            (b"cookie", cookie), (b"x-csrftoken", TOKEN.encode()),
        ]  # fmt: skip
        path = f"/api/v1/chats/{next(self._turns).id}/messages"
        scope: Any = {"method": "POST", "path": path, "query_string": b"", "http_version": "1.1", "headers": headers}
        statuses: list[str] = []
        answer: Any = application(
            build_environ(scope, io.BytesIO(body)), lambda status, headers: statuses.append(status)
        )
        text = b"".join(answer)
        answer.close()
        if not statuses[0].startswith("201"):
            raise RuntimeError(f"{statuses[0]} {text!r}")

    def _store_answer(self, run: Run, ready: PreparedRun) -> None:
        if run.message_id is None:
            raise RuntimeError("The run has no message.")
        answer = Answer(
            text="Five words as an answer.", thinking="", calls=(), usage=Usage(11, 5), finish="stop", model="scripted"
        )
        Recorder(run, ready.model).record_answer(ModelAnswered(StepId(1, run.message_id), answer))


def main(count: int = 200, profiled: str = "") -> None:
    call_command("migrate", verbosity=0)
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.RATES = dict.fromkeys(settings.RATES, (100_000.0, 100_000.0))
    steps = Steps(make_team(), profiled)
    for _ in range(30):
        steps.run_message()
    steps.run_message(count=True)
    steps.cpu.clear()
    steps.wall.clear()
    steps.profile.clear()
    for _ in range(count):
        steps.run_message()
    print("| step | statements | CPU | time |\n|---|---|---|---|")
    for name in STEPS:
        cpu, wall = (sorted(times[name])[count // 2] * 1000 for times in (steps.cpu, steps.wall))
        print(f"| {name} | {steps.statements[name]} | {cpu:.1f} ms | {wall:.1f} ms |")
    if profiled:
        pstats.Stats(steps.profile).sort_stats("cumulative").print_stats(50)


if __name__ == "__main__":
    main(*(int(word) if word.isdigit() else word for word in sys.argv[1:]))  # type: ignore[arg-type]  # COUNT, then STEP
