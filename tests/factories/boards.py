"""Factories of boards, their tasks, edges and results."""

from factory.declarations import LazyAttribute, LazyFunction, SelfAttribute, Trait
from factory.django import DjangoModelFactory

from boards.models import Board, BoardTask, TaskEdge, TaskResult
from common.clock import now
from events.rows import BoardReason, BoardState, BoardTaskState, PlannedBy


class BoardFactory(DjangoModelFactory[Board]):
    """A planned board by hand in `chat`, of `on_behalf_of`, which has not started. `ended`: it has failed."""

    class Meta:
        model = Board

    class Params:
        ended = Trait(state=BoardState.FAILED, reason_code=BoardReason.STOPPED, ended_at=LazyFunction(now))

    workspace = SelfAttribute("chat.workspace")
    planned_by = PlannedBy.PERSON
    state = BoardState.DECOMPOSED
    user_input = "Four days in Kyoto"
    task_count = 1
    started_by = SelfAttribute("on_behalf_of")


class BoardTaskFactory(DjangoModelFactory[BoardTask]):
    """A task of `board` for `agent`, which waits."""

    class Meta:
        model = BoardTask

    chat = SelfAttribute("board.chat")
    number = 1
    agent_name = SelfAttribute("agent.name")
    description = "Find four dry days"
    state = BoardTaskState.PENDING


class TaskEdgeFactory(DjangoModelFactory[TaskEdge]):
    """`target` follows `source`."""

    class Meta:
        model = TaskEdge

    board = SelfAttribute("source.board")


class TaskResultFactory(DjangoModelFactory[TaskResult]):
    """What the first attempt at `task` brought."""

    class Meta:
        model = TaskResult

    attempt = 1
    success = True
    data = LazyAttribute(lambda result: {"text": "19 to 22 November", "files": []} if result.success else None)
    error = LazyAttribute(lambda result: None if result.success else "It failed.")
    execution_time = 1.0
    description = SelfAttribute("task.description")
