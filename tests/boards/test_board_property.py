"""Random acyclic plans with failures, skips, doubled and late ends, dead workers, pauses, stops and repetitions: each task is done
once, in order, and each board ends.

The test plays the workers: it claims runs, stores their answers and errors, and loses their leases. All else is real.
"""

import random
from contextlib import suppress
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from boards import services
from boards.models import Board, BoardTask, TaskEdge, TaskResult
from boards.plan import PlannedTask
from chats import services as chats
from common.errors import AppError, Conflict
from common.ids import new_id
from common.secrets import Secret
from events.rows import BoardPause
from llm.messages import Answer, Usage
from llm.protocol import Endpoint
from runs.errors import LeaseLost
from runs.models import NOT_ENDED, Run
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.steps import LoopEnded, ModelAnswered, StepId
from runs.services import claims, leases, runs
from tests.chaos import examples
from tests.people import make_agent
from tests.recorder import Recorder
from usage.owners import ResolvedModel

pytestmark = pytest.mark.django_db

MODEL = ResolvedModel(Endpoint("demo", None, Secret(""), "demo"), "demo")
OWNER = "property:1:a"
MAX_FORKS = 2

BOARD_ARROWS = {
    ("decomposed", "executing"),
    ("decomposed", "failed"),
    ("executing", "aggregating"),
    ("executing", "failed"),
    ("aggregating", "completed"),
    ("aggregating", "failed"),
}
TASK_ARROWS = {
    ("pending", "ready"),
    ("pending", "running"),
    ("pending", "skipped"),
    ("pending", "failed"),
    ("pending", "cancelled"),
    ("ready", "running"),
    ("ready", "failed"),
    ("ready", "cancelled"),
    ("running", "succeeded"),
    ("running", "failed"),
    ("running", "ready"),
    ("running", "cancelled"),
    # A person tries a task again from whose failure nothing follows yet. One that was ready to follow it waits again.
    ("ready", "pending"),
    ("failed", "ready"),
    ("failed", "running"),
}


@st.composite
def plans(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw a plan whose tasks follow others of it in any order, without a circle."""
    count = draw(st.integers(1, 7))
    order = draw(st.permutations(range(1, count + 1)))
    tasks: list[dict[str, Any]] = [{} for _ in range(count)]
    for place, number in enumerate(order):
        before = order[:place]
        tasks[number - 1] = {
            "after": draw(st.lists(st.sampled_from(before), unique=True, max_size=3)) if before else [],
            "join": draw(st.sampled_from(["all", "any", "settled"])),
            "on_failure": draw(st.sampled_from(["go_on", "go_on", "go_on", "stop"])),
            "max_attempts": draw(st.integers(1, 3)),
        }
    return tasks


class World:
    """Boards of Alice, and the workers that the test plays."""

    def __init__(self, team, agents, seed: int) -> None:
        self.team = team
        self.agents = agents
        self.chance = random.Random(seed)
        self.boards: list[Board] = []
        self.claimed: dict[Any, ClaimedRun] = {}
        self.states: dict[Any, str] = {}
        self.results: set[Any] = set()
        self.forks = 0

    def create(self, tasks: list[dict[str, Any]], max_at_once: int) -> None:
        planned = [
            PlannedTask(agent_id=self.chance.choice(self.agents).id, description=f"Do {number}", **task)
            for number, task in enumerate(tasks, 1)
        ]
        board, _ = services.create_board(
            self.team.alice, self.team.chat.id, id=new_id(), user_input="Go", tasks=planned, max_at_once=max_at_once
        )
        self.boards.append(board)

    # --- workers --------------------------------------------------------------------------------------------------

    def pick_run(self, *states: str) -> Run | None:
        found = list(Run.objects.filter(chat=self.team.chat, state__in=states).select_related("agent").order_by("pk"))
        return self.chance.choice(found) if found else None

    def claim(self) -> None:
        if run := self.pick_run("queued"):
            claimed = claims.claim_run(run.pk, OWNER, isolated=run.is_isolated)
            if claimed is not None:
                claimed.has_outside_texts = False
                self.claimed[claimed.row.pk] = claimed

    def end(self, how: str = "") -> None:
        """Let a worker store an answer or an error of a run, or find that it lost the run."""
        run = self.pick_run("running")
        claimed = self.claimed.get(run.pk) if run else None
        if run is None or claimed is None:
            return
        how = how or self.chance.choice(["answer", "answer", "answer", "error", "budget", "final"])
        recorder = Recorder(claimed, MODEL)
        step = StepId(run.steps_done + 1, run.get_message_id())
        try:
            with transaction.atomic():
                if how == "answer":
                    answer = Answer(f"Done by {run.agent.name}", "", (), Usage(3, 5, cost_micro=7), "stop", "demo")
                    recorder.record_answer(ModelAnswered(step, answer))
                else:
                    code = {"error": "server", "budget": "budget_used_up", "final": "no_version"}[how]
                    recorder.record_loop_end(LoopEnded("failed", code, "It failed."))
        except LeaseLost:
            pass

    def die(self) -> None:
        """Let the worker of a run die. Another one takes the run over; the dead one may still try to store its answer."""
        if run := self.pick_run("running"):
            leases.reclaim_run(run, leases.LeaseOwnerState.PRESUMED_DEAD)

    def end_again(self) -> None:
        """Tell the boards of the end of a run a second time."""
        ended = list(Run.objects.filter(kind__in=["board_task", "board_answer"]).exclude(state__in=NOT_ENDED))
        if ended:
            chats.lock_chat(self.team.chat.id)
            if changes := services.update_boards([self.chance.choice(ended)]):
                chats.save_changes(self.team.chat.id, changes)

    # --- people ---------------------------------------------------------------------------------------------------

    def control(self) -> None:
        """Let a person do something with a board. What is not possible raises an error, and changes nothing."""
        board, alice = self.chance.choice(self.boards), self.team.alice
        number = self.chance.randint(1, board.task_count)
        acts = [
            lambda: services.pause_board(alice, board.id),
            lambda: services.resume_board(alice, board.id),
            lambda: services.retry_task(alice, board.id, number, description=self.chance.choice([None, "Again"])),
            lambda: self.fork(board, number),
            self.stop_run,
        ]
        rare = [lambda: services.answer_board(alice, board.id), lambda: services.stop_board(alice, board.id)]
        self.chance.choice([*acts, *acts, *rare])()

    def fork(self, board: Board, number: int) -> None:
        if self.forks < MAX_FORKS:
            fork, _ = services.fork_board(
                self.team.alice, board.id, id=new_id(), number=number, description="Otherwise"
            )
            self.boards.append(fork)
            self.forks += 1

    def stop_run(self) -> None:
        if run := self.pick_run("queued", "running"):
            runs.stop_run(self.team.alice, run.id)

    def step(self) -> None:
        act = self.chance.choice(
            [self.claim, self.claim, self.claim, self.end, self.end, self.end, self.die, self.end_again, self.control]
        )
        try:
            with transaction.atomic():
                act()
        except (AppError, LeaseLost):
            pass

    def finish(self) -> None:
        """Let all boards go on to their ends."""
        for _ in range(500):
            active = Board.objects.filter(pk__in=[board.pk for board in self.boards], ended_at=None)
            for board in active.exclude(pause_reason=""):
                services.resume_board(self.team.alice, board.id)
            if not active.exists() and not Run.objects.filter(state__in=NOT_ENDED).exists():
                return
            self.claim()
            self.end("answer")
            for run in Run.objects.filter(state="running", stop_requested_at__isnull=False):
                with suppress(LeaseLost), transaction.atomic():
                    Recorder(self.claimed[run.pk], MODEL).record_loop_end(LoopEnded("stopped"))
            self.check()
        raise AssertionError("The boards do not end.")

    # --- what always holds ----------------------------------------------------------------------------------------

    def check(self) -> None:
        for board in Board.objects.filter(pk__in=[board.pk for board in self.boards]):
            self.check_arrow(BOARD_ARROWS, board.pk, board.state)
            tasks = {task.number: task for task in BoardTask.objects.filter(board=board)}
            running = [task for task in tasks.values() if task.state == "running"]
            assert len(running) <= board.max_at_once
            assert len({task.run_id for task in running}) == len(running)
            for task in tasks.values():
                self.check_arrow(TASK_ARROWS, task.pk, task.state)
                if task.state == "running":
                    assert all(tasks[number].has_ended for number in task.after), "it began before what it follows"
                if board.has_ended:
                    assert task.has_ended
            if board.has_ended:
                assert not TaskEdge.objects.filter(board=board, state="").exists(), "an edge is not settled"
            if board.state == "executing" and not board.is_paused:
                assert running, "it does nothing although it could"

    def check_arrow(self, arrows: set[tuple[str, str]], id: Any, state: str) -> None:
        before = self.states.get(id, state)
        self.states[id] = state
        assert before == state or (before, state) in arrows or is_two_arrows(arrows, before, state), (before, state)

    def check_at_end(self) -> None:
        current = TaskResult.objects.filter(is_late=False, task__board__in=self.boards)
        for task in BoardTask.objects.filter(board__in=self.boards):
            results = list(current.filter(task=task).order_by("attempt"))
            attempts = [result.attempt for result in results]
            assert attempts == sorted(set(attempts)), "two results of one attempt"
            assert len([result for result in results if result.success]) == (task.state == "succeeded")
            assert task.cost_micro == sum(r.cost_micro for r in TaskResult.objects.filter(task=task))
            runs_of_task = Run.objects.filter(kind="board_task", trigger_id=task.pk)
            keys = list(runs_of_task.values_list("concurrency_key", flat=True))
            assert len(keys) == len(set(keys)) <= task.attempt
        for board in Board.objects.filter(pk__in=[board.pk for board in self.boards], forked_from__isnull=False):
            reused = TaskResult.objects.filter(task__board=board, reused_from__isnull=False).select_related(
                "reused_from"
            )
            assert all(
                result.reused_from and result.data == result.reused_from.data and result.cost_micro == 0
                for result in reused
            )
        assert not Run.objects.filter(state__in=NOT_ENDED).exists()
        version = type(self.team.chat).objects.get(pk=self.team.chat.pk).version
        for board in self.boards:
            services.advance_board(board.id)
        assert type(self.team.chat).objects.get(pk=self.team.chat.pk).version == version, (
            "advancing again changes something"
        )


def is_two_arrows(arrows: set[tuple[str, str]], before: str, after: str) -> bool:
    """Return whether one transaction may lead from one state to the other by a state between them."""
    return any((before, between) in arrows and (between, after) in arrows for between in {b for _, b in arrows})


@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(plan=plans(), max_at_once=st.integers(1, 4), seed=st.integers(0, 10**9), steps=st.integers(5, 45))
def test_BRD3_BRD5_BRD10_any_plan_is_done_once_in_order_and_ends(team, plan, max_at_once, seed, steps):
    with transaction.atomic():
        agents = [
            make_agent(team.workspace, team.alice, name, prompt="Do it.", tools=[]) for name in ("Weather", "Finance")
        ]
        world = World(team, agents, seed)
        world.create(plan, max_at_once)
        for _ in range(steps):
            world.step()
            world.check()
        world.finish()
        world.check()
        world.check_at_end()
        transaction.set_rollback(True)


def test_a_board_that_is_paused_by_a_budget_goes_on(team):
    """The other reason for a pause; a person's pause is in the property above."""
    agents = [make_agent(team.workspace, team.alice, "Weather", prompt="Do it.", tools=[])]
    world = World(team, agents, 1)
    world.create([{"after": []}, {"after": [1]}], 1)
    world.claim()
    world.end("budget")
    [board] = world.boards
    board.refresh_from_db()
    assert (board.state, board.pause_reason) == ("executing", BoardPause.BUDGET)
    assert [task.state for task in BoardTask.objects.filter(board=board).order_by("number")] == ["ready", "pending"]
    assert not Run.objects.filter(state__in=NOT_ENDED).exists()
    services.resume_board(team.alice, board.id)
    world.finish()
    assert [r.error_code for r in TaskResult.objects.order_by("task__number", "attempt")] == ["budget_used_up", "", ""]
    with pytest.raises(Conflict):
        services.resume_board(team.alice, board.id)
