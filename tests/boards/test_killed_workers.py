"""Boards whose workers are killed at random moments: real processes, real servers."""

import random
import time

import pytest

from boards.models import TaskEdge, TaskResult
from runs.models import Run
from tests.chaos import IS_CHAOS, N, report

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

BOARDS = N if IS_CHAOS else 1


def test_BRD3_RUN1_every_task_of_a_board_is_done_once_although_workers_are_killed(environment, boards, start_worker):
    chance = random.Random(time.time_ns() if IS_CHAOS else 7)
    environment.model.script(text="It is done at last, and well.", every=0.03)
    workers = [start_worker(), start_worker()]
    for _ in range(BOARDS):
        count = chance.randint(4, 9)
        plan = [
            boards.plan(
                f"Do part {number}", after=sorted(chance.sample(range(1, number), min(number - 1, chance.randrange(3))))
            )
            for number in range(1, count + 1)
        ]
        board = boards.create(*plan)
        for _ in range(2):
            time.sleep(chance.uniform(0.1, 1.2))
            place = chance.randrange(2)
            workers[place].kill()
            workers[place] = start_worker()
        board = boards.wait_until_ended(board, 60)
        assert (board.state, boards.list_states(board)) == ("completed", ["succeeded"] * count)
        assert [result[:3] for result in boards.list_results(board)] == [(n, 1, True) for n in range(1, count + 1)]
        assert not TaskResult.objects.filter(task__board=board, is_late=True).exists()
        assert not TaskEdge.objects.filter(board=board, state="").exists()
        tasks = Run.objects.filter(trigger_id__in=board.tasks.values("pk"))
        assert tasks.count() == count
        report(f"a board of {count} tasks, with {sum(run.crashes for run in tasks)} crashes")
