"""Boards in a chat, and helpers to read and control them."""

import json
from typing import Any, ClassVar
from uuid import UUID

import pytest
from django.db import transaction

from actors.models import Actor
from boards import services
from boards.models import Board, BoardTask, TaskEdge, TaskResult
from boards.plan import PlannedTask
from boards.waits import BoardWait
from chats.models import Message
from common.ids import new_id
from runs.models import Run
from tests.people import make_agent
from tests.runs.environment import RunEnvironment
from tools.interface import Tool, ToolArgs, ToolConfig
from tools.registry import registry


class BoardEnvironment:
    """Shorthand for tests of boards. The agents Weather, Finance and Travel are not in the chat; Robin is."""

    def __init__(self, environment: RunEnvironment) -> None:
        self.environment = environment
        self.team = environment.team
        with transaction.atomic():
            self.weather, self.finance, self.travel = (
                make_agent(self.team.workspace, self.team.alice, name, prompt=f"You are {name}.", tools=[])
                for name in ("Weather", "Finance", "Travel")
            )

    def plan(self, description: str, agent: Actor | None = None, **fields: Any) -> PlannedTask:
        """Return a task of a plan, by default for Weather."""
        return PlannedTask(agent_id=(agent or self.weather).id, description=description, **fields)

    def create(self, *tasks: PlannedTask, by: Actor | None = None, **fields: Any) -> Board:
        """Create a board of Alice by hand, and start it unless `start` is false."""
        options: dict[str, Any] = {"id": new_id(), "user_input": "Four days in Kyoto"} | fields
        with transaction.atomic():
            board, _ = services.create_board(by or self.team.alice, self.team.chat.id, tasks=tasks, **options)
        self.environment.submit_queued_runs()
        return board

    def read(self, board: Board) -> Board:
        return Board.objects.get(pk=board.pk)

    def task(self, board: Board, number: int) -> BoardTask:
        return BoardTask.objects.get(board=board, number=number)

    def list_states(self, board: Board) -> list[str]:
        """Return the states of the tasks, in the order of their numbers."""
        return list(board.tasks.order_by("number").values_list("state", flat=True))

    def list_edges(self, board: Board) -> list[tuple[int, int, str]]:
        edges = TaskEdge.objects.filter(board=board).order_by("source__number", "target__number")
        return list(edges.values_list("source__number", "target__number", "state"))

    def list_results(self, board: Board) -> list[tuple[int, int, bool, str]]:
        """Return number, attempt, success, and the text or the code of the error of the results that are not late."""
        results = TaskResult.objects.filter(task__board=board, is_late=False).order_by("task__number", "attempt")
        return [
            (result.task.number, result.attempt, result.success, result.text or result.error_code)
            for result in results.select_related("task")
        ]

    def run_of(self, board: Board, number: int) -> Run:
        run = self.task(board, number).run
        assert run is not None
        return run

    def wait_until_ended(self, board: Board, seconds: float = 60) -> Board:
        """Wait until a board has ended and no run of the chat is active, and return it."""
        self.environment.wait(lambda: self.read(board).has_ended, seconds)
        self.environment.wait_until_idle(seconds)
        return self.read(board)

    def list_messages(self, *types: str) -> list[Message]:
        return self.environment.log(*types)


@pytest.fixture
def boards(environment: RunEnvironment) -> BoardEnvironment:
    """The chat of the team, with agents for tasks."""
    return BoardEnvironment(environment)


class PlanTasks(Tool):
    """Make a plan."""

    name = "test_plan"
    effect = "read"
    wait_kind = BoardWait.kind
    ask_above_micro: ClassVar[int | None] = None
    members: ClassVar[dict[str, UUID]] = {}
    """The ids of the agents that get tasks, by their handles."""

    class Args(ToolArgs):
        tasks: list[dict[str, Any]]
        requires_aggregation: bool = False

    def build_wait(self, args: Args, config: ToolConfig) -> BoardWait:
        handles = {task["agent"] for task in args.tasks}
        unknown = sorted(handles - self.members.keys())
        return BoardWait(
            tasks=tuple(
                PlannedTask(agent_id=self.members[task["agent"]], **{k: v for k, v in task.items() if k != "agent"})
                for task in args.tasks
                if task["agent"] in self.members
            ),
            reasoning="Each does what it can.",
            requires_aggregation=args.requires_aggregation,
            problems=tuple(f"There is no agent {handle}." for handle in unknown),
            ask_above_micro=self.ask_above_micro,
        )


class Supervisor:
    """An agent that plans by a tool of the test, as the scripted model says."""

    def __init__(self, boards: BoardEnvironment) -> None:
        self.boards = boards
        self.environment = boards.environment
        self.agent = self.environment.add_agent("Lead", prompt="You lead.", tools=[PlanTasks.name])

    def script_plan(self, *tasks: dict[str, Any], then: Any = None, **fields: Any) -> None:
        """Let the model make this plan first, and do `then` when it has read the results."""
        arguments = json.dumps({"tasks": tasks} | fields)
        call = {"name": PlanTasks.name, "arguments": arguments}
        self.environment.model.script(system="You lead.", calls=[call], then=then or {"text": "All is done."})

    def ask(self, text: str = "@lead plan it") -> None:
        self.environment.post(text)

    def get_board(self) -> Board:
        """Wait for the board, and return it."""
        found = self.environment.wait(lambda: Board.objects.filter(supervisor_run__isnull=False).first())
        assert isinstance(found, Board)
        return found

    def get_run(self) -> Run:
        return Run.objects.get(agent=self.agent, kind="chat")


@pytest.fixture
def supervisor(boards: BoardEnvironment, monkeypatch: pytest.MonkeyPatch) -> Supervisor:
    """An agent of the chat that plans."""
    monkeypatch.setitem(registry, PlanTasks.name, PlanTasks())
    members = (boards.weather, boards.finance, boards.travel)
    monkeypatch.setattr(PlanTasks, "members", {agent.handle: agent.id for agent in members})
    return Supervisor(boards)
