"""What the database itself refuses about boards, their tasks and results."""

import pytest
from django.db import IntegrityError, transaction

from boards.models import TaskResult
from common.clock import now
from common.database import allow_purge, get_violated_constraint
from tests.factories.boards import BoardFactory, BoardTaskFactory, TaskEdgeFactory, TaskResultFactory

pytestmark = pytest.mark.django_db


def refuses(constraint, make):
    """Check that the database refuses what `make` writes, by this constraint."""
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        make()
    assert get_violated_constraint(caught.value) == constraint


@pytest.fixture
def board(team):
    return BoardFactory.create(chat=team.chat, on_behalf_of=team.alice)


@pytest.fixture
def task(board, team):
    return BoardTaskFactory.create(board=board, agent=team.robin)


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"state": "done"}, "board_state_known"),
        ({"state": "completed", "final_response": "Go."}, "ended_board_has_time"),
        ({"state": "executing", "ended_at": now()}, "ended_board_has_time"),
        ({"state": "completed", "ended_at": now()}, "completed_board_has_response"),
        ({"state": "failed", "ended_at": now()}, "failed_board_has_reason"),
        ({"state": "executing", "reason_code": "stopped"}, "failed_board_has_reason"),
        ({"state": "executing", "task_count": 0}, "planned_board_has_tasks"),
        ({"task_count": 2}, "several_tasks_are_aggregated"),
        ({"user_input": ""}, "board_has_input"),
        ({"pause_reason": "person"}, "paused_board_has_reason"),
        ({"paused_at": now()}, "paused_board_has_reason"),
        ({"planned_by": "fork"}, "forked_board_has_task"),
        ({"max_at_once": 0}, "board_works_on_one_task"),
    ],
)
def test_BRD1_a_board_follows_the_rules_of_its_state(team, fields, constraint):
    refuses(constraint, lambda: BoardFactory.create(chat=team.chat, on_behalf_of=team.alice, **fields))


def test_BRD1_a_board_without_a_plan_has_no_tasks(team):
    board = BoardFactory.create(chat=team.chat, on_behalf_of=team.alice, state="init", task_count=0)
    assert board.to_row().state == "init"


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"number": 1}, "one_task_per_number"),
        ({"number": 0}, "task_number_from_one"),
        ({"description": ""}, "task_has_description"),
        ({"state": "done"}, "task_state_known"),
        ({"state": "running", "attempt": 1}, "running_task_has_run"),
        ({"state": "succeeded"}, "ended_task_has_time"),
        ({"ended_at": now()}, "ended_task_has_time"),
        ({"join": "some"}, "task_join_known"),
        ({"on_failure": "retry"}, "task_on_failure_known"),
        ({"max_attempts": 0}, "task_is_tried"),
    ],
)
def test_BRD1_a_task_follows_the_rules_of_its_state(team, board, task, fields, constraint):
    fields = {"number": 2} | fields
    refuses(constraint, lambda: BoardTaskFactory.create(board=board, agent=team.robin, **fields))


def test_BRD1_an_edge_has_two_ends_and_is_there_once(team, board, task):
    other = BoardTaskFactory.create(board=board, agent=team.robin, number=2)
    TaskEdgeFactory.create(source=task, target=other)
    refuses("one_edge_per_pair", lambda: TaskEdgeFactory.create(source=task, target=other))
    refuses("edge_has_two_ends", lambda: TaskEdgeFactory.create(source=task, target=task))
    refuses("edge_state_known", lambda: TaskEdgeFactory.create(source=other, target=task, state="done"))


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"data": None}, "result_has_data_or_error"),
        ({"error": "no"}, "result_has_data_or_error"),
        ({"success": False, "error": None}, "result_has_data_or_error"),
        ({"success": False, "error": ""}, "result_has_data_or_error"),
        ({"success": False, "data": {"text": ""}}, "result_has_data_or_error"),
        ({"execution_time": -0.1}, "execution_time_not_negative"),
        ({"attempt": 1}, "one_result_per_attempt"),
    ],
)
def test_BRD1_a_result_has_data_or_an_error(task, fields, constraint):
    TaskResultFactory.create(task=task)
    refuses(constraint, lambda: TaskResultFactory.create(task=task, **({"attempt": 2} | fields)))


def test_BRD1_a_late_result_stands_beside_that_of_its_attempt(task):
    TaskResultFactory.create(task=task)
    TaskResultFactory.create(task=task, is_late=True)
    assert task.results.count() == 2


def test_BRD2_results_are_only_appended(task):
    result = TaskResultFactory.create(task=task)
    refuses("append_only", lambda: TaskResult.objects.update(error_code="x"))
    refuses("append_only", lambda: TaskResult.objects.all().delete())
    refuses("append_only", task.board.delete)
    with transaction.atomic():
        allow_purge()
        refuses("append_only", lambda: TaskResult.objects.update(error_code="x"))
        result.delete()
    assert not TaskResult.objects.exists()
