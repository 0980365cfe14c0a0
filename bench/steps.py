"""The cost of each step of a message, and of a message whose agent gives tasks to five others, in one process:
`python -m tests.servers .venv/bin/python -m bench.steps [COUNT] [STEP]`. With a step it also prints its profile (cProfile).

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
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any
from uuid import UUID

from config.wsgi import application  # sets Django up: first  # isort: skip

from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from actors.models import Actor
from chats import services as chats
from chats.models import Chat
from common.ids import new_id
from config.asgi import build_environ
from llm.messages import Answer, ModelRequest, ToolCall, Usage
from llm.sent_requests import RequestRecorder
from runs.kinds.base import PreparedRun
from runs.models import Run
from runs.runtime.conversation import get_call_id, make_storable
from runs.runtime.offered_tools import build_tool_schemas
from runs.runtime.steps import LoopEnded, ModelAnswered, ToolsFinished, WaitingCall
from runs.services.capacity import Capacity
from runs.services.claims import claim_posted_run, claim_run, claim_siblings
from tests.factories.agents import add_tool_use
from tests.people import Team, make_agent, make_team
from tests.realtime.tab import create_session_key
from tests.recorder import Recorder, prepare_run
from tools.interface import AgentTask

TOKEN = "a" * 32
STEPS = ("post", "claim", "prepare", "answered")
STEPS_OF_TASKS = (
    "caller claim",
    "caller prepare",
    "calls answered",
    "tasks started",
    "tasks claim",
    "task prepare",
    "task answered",
    "resumed claim",
    "resumed prepare",
    "results stored",
)
TASKS = 5


class Steps:
    """Runs the steps of a message, in ten chats in turn, each with one agent, and those of tasks in ten others."""

    def __init__(self, team: Team, profiled: str = "") -> None:
        self._session, self._profiled = create_session_key(team.alice), profiled
        self.profile = cProfile.Profile(time.thread_time)  # CPU, not waiting
        with transaction.atomic():
            self._helper = make_agent(team.workspace, team.alice, "Helper", tools=[])
            caller = make_agent(team.workspace, team.alice, "Caller", tools=[])
            add_tool_use(caller.current_spec, "delegate", custom_config={"allowed_sub_agents": [self._helper.handle]})
            self._turns = itertools.cycle(self._create_chats(team, team.robin))
            self._turns_of_caller = itertools.cycle(self._create_chats(team, caller))
        self.cpu: dict[str, list[float]] = defaultdict(list)
        self.wall: dict[str, list[float]] = defaultdict(list)
        self.statements: dict[str, int] = {}
        self._is_counting = False

    def run_message(self, *, count: bool = False) -> None:
        """Run the steps from the POST to the stored answer, without a model. `count` counts statements, which takes time."""
        self._is_counting = count
        self._step("post", lambda: self._post(next(self._turns)))
        ready = self._claim_and_prepare()
        self._step("answered", lambda: self._store_answer(ready))

    def run_tasks(self, *, count: bool = False) -> None:
        """Run the steps of a message whose agent gives `TASKS` tasks, until it has stored their results."""
        self._is_counting = count
        self._post(next(self._turns_of_caller))
        [run_id] = self._list_queued()
        caller = self._claim_and_prepare("caller ", run_id)
        calls = tuple(
            ToolCall("", "delegate", json.dumps({"name": self._helper.handle, "task": f"task {number}"}), index=number)
            for number in range(TASKS)
        )
        self._step("calls answered", lambda: self._store_answer(caller, calls))
        tasks = tuple(
            WaitingCall(replace(call, id=get_call_id(caller.run.get_message_id(), call.index)), self._build_task())
            for call in calls
        )
        recorder = Recorder(caller.claimed, caller.model)
        self._step("tasks started", lambda: recorder.record_loop_end(LoopEnded("waiting_child", waits=tasks)))
        queued = self._list_queued()
        for run in self._step("tasks claim", lambda: claim_siblings(queued, "bench:1:1", slots=Capacity())):
            task = self._step("task prepare", partial(prepare_run, run))
            self._step("task answered", partial(self._store_answer, task))
        [run_id] = self._list_queued()
        resumed = self._claim_and_prepare("resumed ", run_id)
        self._step("results stored", lambda: self._store_results(resumed))
        self._store_answer(resumed)

    @staticmethod
    def _create_chats(team: Team, agent: Actor) -> list[Chat]:
        ids = [team.bob.id, agent.id]
        return [
            chats.create_chat(team.alice, team.workspace.id, title=str(number), actor_ids=ids) for number in range(10)
        ]

    def _list_queued(self) -> list[UUID]:
        return list(Run.objects.filter(state="queued").order_by("pk").values_list("pk", flat=True))

    def _claim_and_prepare(self, name: str = "", run_id: UUID | None = None) -> PreparedRun:
        if run_id is None:
            posted = Run.objects.filter(state="queued").order_by("pk")[0]
            claim = partial(claim_posted_run, posted.pk, "bench:1:1", chat_id=posted.get_chat_id())
        else:
            claim = partial(claim_run, run_id, "bench:1:1")
        run = self._step(f"{name}claim", claim)
        if run is None:
            raise RuntimeError("The run could not be claimed.")
        prepared: PreparedRun = self._step(f"{name}prepare", lambda: prepare_run(run))
        return prepared

    def _step(self, name: str, work: Callable[[], Any]) -> Any:
        connections.close_all()
        if self._is_counting:
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

    def _post(self, chat: Chat) -> None:
        body = json.dumps({"id": str(new_id()), "text": "hello"}).encode()
        cookie = f"sessionid={self._session}; csrftoken={TOKEN}".encode()
        headers = [
            (b"host", b"localhost"),
            (b"content-type", b"application/json"),
            (b"cookie", cookie),
            (b"x-csrftoken", TOKEN.encode()),
        ]
        path = f"/api/v1/chats/{chat.id}/messages"
        scope: Any = {"method": "POST", "path": path, "query_string": b"", "http_version": "1.1", "headers": headers}
        statuses: list[str] = []
        answer: Any = application(
            build_environ(scope, io.BytesIO(body)), lambda status, headers: statuses.append(status)
        )
        text = b"".join(answer)
        answer.close()
        if not statuses[0].startswith("201"):
            raise RuntimeError(f"{statuses[0]} {text!r}")

    def _build_task(self) -> AgentTask:
        return AgentTask(
            self._helper.id, text="task", context=None, file_ids=(), max_steps=None, max_seconds=900, max_depth=3
        )

    def _store_answer(self, ready: PreparedRun, calls: Sequence[ToolCall] = ()) -> None:
        step = ready.build_conversation().step
        answer = Answer(
            text="" if calls else "Five words as an answer.",
            thinking="",
            calls=tuple(calls),
            usage=Usage(11, 5),
            finish="tool_calls" if calls else "stop",
            model="scripted",
        )
        ready.claimed.request_recorder = RequestRecorder(ready.sections)
        schemas = build_tool_schemas(ready.tools, ())
        ready.claimed.request_recorder.current = ModelRequest("scripted", ready.transcript.turns, schemas)
        Recorder(ready.claimed, ready.model).record_answer(ModelAnswered(step, make_storable(answer, step)))

    def _store_results(self, resumed: PreparedRun) -> None:
        results = tuple(resumed.known_results.values())
        Recorder(resumed.claimed, resumed.model).record_tool_results(ToolsFinished(results))


def main(count: int = 200, profiled: str = "") -> None:
    call_command("migrate", verbosity=0)
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.RATES = dict.fromkeys(settings.RATES, (100_000.0, 100_000.0))
    steps = Steps(make_team(), profiled)
    for _ in range(30):
        steps.run_message()
        steps.run_tasks()
    steps.run_message(count=True)
    steps.run_tasks(count=True)
    steps.cpu.clear()
    steps.wall.clear()
    steps.profile.clear()
    for _ in range(count):
        steps.run_message()
        steps.run_tasks()
    print("| step | statements | CPU | time |\n|---|---|---|---|")
    for name in (*STEPS, *STEPS_OF_TASKS):
        cpu, wall = (1000 * median(times[name]) for times in (steps.cpu, steps.wall))
        print(f"| {name} | {steps.statements[name]} | {cpu:.1f} ms | {wall:.1f} ms |")
    if profiled:
        pstats.Stats(steps.profile).sort_stats("cumulative").print_stats(60)


if __name__ == "__main__":
    main(*(int(word) if word.isdigit() else word for word in sys.argv[1:]))  # type: ignore[arg-type]  # COUNT, then STEP
