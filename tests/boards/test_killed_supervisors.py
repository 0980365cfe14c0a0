"""Workers that are killed while a supervisor plans, waits and answers: nothing is done twice, and the board ends (RUN1, RUN23)."""

import random
import time
from typing import Any

import pytest

from boards.models import Board, BoardTask, TaskResult
from chats.models import Message
from runs.models import Run
from tests.boards.fixtures import BoardEnvironment
from tests.boards.test_teams import DRY, SUM, plan
from tests.chaos import IS_CHAOS, N
from tests.factories.agents import change_spec
from tests.runs.environment import RunEnvironment
from tests.workers import Worker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

MOMENTS = ("while it plans", "while tasks are done", "while it answers")
ROUNDS = max(N, 3) if IS_CHAOS else 3


def kill_owner(workers: list[Worker], **which: Any) -> None:
    """Kill the worker that executes a run of these, or any worker, and remove it from the list."""
    owners = list(Run.objects.filter(state="running", **which).values_list("lease_owner", flat=True))
    victim = next((worker for worker in workers if any(map(worker.owns, owners))), random.choice(workers))
    victim.kill()
    workers.remove(victim)


def test_RUN23_a_plan_and_its_tasks_are_done_once_whenever_a_worker_is_killed(
    environment: RunEnvironment, boards: BoardEnvironment, start_worker: Any
) -> None:
    lead = environment.add_agent("Lead", prompt="You lead.", tools=[])
    change_spec(lead.current_spec, team={"members": ["weather", "finance"]})
    workers: list[Worker] = []
    for number in range(ROUNDS):
        while len(workers) < 2:
            workers.append(start_worker())
        moment = MOMENTS[number % len(MOMENTS)]
        environment.model.reset()
        environment.model.script(system="You are Weather.", text="Dry.", first=0.3)
        environment.model.script(system="You are Finance.", text="89,080.", first=0.3)
        environment.model.script(
            system="You lead.", calls=[plan(DRY, SUM)], first=0.3, then={"text": "Go then.", "first": 0.3}
        )
        trigger = environment.post("@lead plan it")
        if moment == "while it plans":
            environment.wait(Run.objects.filter(trigger_id=trigger.id, state="running").exists, 40)
            time.sleep(random.uniform(0.0, 0.5))
            kill_owner(workers, agent=lead)
        elif moment == "while tasks are done":
            running = BoardTask.objects.filter(board__supervisor_run__trigger_id=trigger.id, state="running")
            environment.wait(running.exists, 40)
            time.sleep(random.uniform(0.0, 0.5))
            kill_owner(workers, kind="board_task")
        else:
            aggregating = Board.objects.filter(supervisor_run__trigger_id=trigger.id, state="aggregating")
            environment.wait(aggregating.exists, 40)
            time.sleep(random.uniform(0.0, 0.3))
            kill_owner(workers, agent=lead)
        environment.wait_until_idle(60)

        run = Run.objects.get(trigger_id=trigger.id, kind="chat")
        board = Board.objects.get(supervisor_run=run)
        assert (run.state, board.state, board.final_response) == ("completed", "completed", "Go then."), moment
        assert boards.list_states(board) == ["succeeded", "succeeded"]
        assert [number for number, *_ in boards.list_results(board)] == [1, 2]
        assert not TaskResult.objects.filter(task__board=board, is_late=True).exists()
        assert Run.objects.filter(kind="board_task", trigger_id__in=board.tasks.values("pk")).count() == 2
        kinds = list(Message.objects.filter(run_id=run.id).order_by("seq").values_list("type", flat=True))
        assert kinds == ["TOOL_CALL", "TOOL_RESPONSE", "TEXT_MESSAGE"], moment
