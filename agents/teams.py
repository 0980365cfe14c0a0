"""Teams: the tool by which an agent with members in its team plans. A call gives them the tasks of a plan, which become a board in
the chat (`boards/services/supervisors.py`); what the board brought is the result of the call."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from pydantic import Field

from actors.models import Actor
from agents.specs.content import MAX_TASKS_OF_PLAN, Team
from agents.sub_agents import MAX_TASK_CHARACTERS, describe_agent
from common.handles import normalize_handle
from common.text import remove_invisible, to_storable, to_storable_json
from tools.interface import InvalidArguments, Tool, ToolArgs, ToolConfig, ToolContext, ToolError, Wait
from tools.registry import PLAN_TASKS

MICRO_PER_DOLLAR = 1_000_000


@dataclass(frozen=True)
class TaskOfPlan:
    """A task of a plan for a member of a team. `after`: the numbers of the tasks of the plan, from 1, that it follows."""

    agent_id: UUID
    description: str
    parameters: dict[str, Any]
    after: tuple[int, ...]


@dataclass(frozen=True)
class BoardPlan(Wait):
    """A plan, whose board the call waits for. `problems`: why it is not valid, for the model; its tasks are not used then. `team`:
    the limits of the board."""

    team: Team
    reasoning: str = ""
    tasks: tuple[TaskOfPlan, ...] = ()
    requires_aggregation: bool = False
    problems: tuple[str, ...] = ()

    kind: ClassVar[str] = "board"

    @property
    def limit_micro(self) -> int | None:
        """What the board may cost, in millionths of a dollar."""
        return _to_micro(self.team.limit_dollars)

    @property
    def ask_above_micro(self) -> int | None:
        """The estimate above which a person is asked before the board starts, in millionths of a dollar."""
        return _to_micro(self.team.ask_above_dollars)


@dataclass(frozen=True)
class InvalidPlan:
    """Arguments of a call that do not follow the schema. They count as a plan that is not valid."""

    problems: tuple[str, ...]


class TaskArgs(ToolArgs):
    agent: str = Field(min_length=1, max_length=64, description="The name of the agent that does it.")
    description: str = Field(
        min_length=1,
        max_length=MAX_TASK_CHARACTERS,
        description="What it is to do, with all that it needs: it does not see this conversation.",
    )
    parameters: dict[str, Any] = Field(default={}, description="Values that it needs, such as a city or a date.")
    after: list[int] = Field(
        default=[],
        max_length=MAX_TASKS_OF_PLAN,
        description="The numbers (from 1) of the tasks whose results it reads. It begins when they are done.",
    )


class PlanTasks(Tool):
    """Make a plan for agents of your team. They do its tasks at the same time, as far as no task needs the result of another, and
    you get all results together. You can plan once for each message. Plan only if the work of others is needed: answer a greeting,
    or what you know, by yourself."""

    name = PLAN_TASKS
    effect = "read"  # what the members do is checked call by call, in their own runs
    wait_kind = BoardPlan.kind
    quotes_agents = True

    class Args(ToolArgs):
        reasoning: str = Field(max_length=MAX_TASK_CHARACTERS, description="Why these tasks, in a sentence or two.")
        tasks: list[TaskArgs] = Field(min_length=1, description="The tasks, in the order of their numbers.")
        requires_aggregation: bool = Field(
            default=False,
            description="Whether you put the results together. With a single task, false makes its result the answer.",
        )

    def __init__(self, team: Team, members: Sequence[Actor], *, asked_ids: Collection[UUID] = ()) -> None:
        """`members`: those that may be given tasks now. `asked_ids`: those of them for which a person is asked first."""
        self.team = team
        self.members = members
        self.asked_ids = asked_ids

    @property
    def description(self) -> str:
        lines = [f"- {member.handle}: {describe_agent(member)}" for member in self.members]
        limit = f"At most {self.team.max_tasks} tasks. The agents are:"
        return "\n".join([super().description, limit, *lines])

    def parse_arguments(self, arguments: str) -> Any:
        """Return the arguments, or an `InvalidPlan`: the model may repair a plan once, and the board keeps what was wrong."""
        try:
            return super().parse_arguments(arguments)
        except InvalidArguments as error:
            return InvalidPlan(tuple(error.problems))
        except ToolError as error:
            return InvalidPlan((str(error),))

    def build_wait(self, args: Args | InvalidPlan, config: ToolConfig) -> BoardPlan:
        if isinstance(args, InvalidPlan):
            return BoardPlan(team=self.team, problems=args.problems)
        tasks: list[TaskOfPlan] = []
        problems: list[str] = []
        for number, task in enumerate(args.tasks, 1):
            member, description = self._find(task.agent), remove_invisible(to_storable(task.description)).strip()
            if member is None:
                names = ", ".join(member.handle for member in self.members)
                problems.append(f"Task {number}: there is no agent {task.agent!r} in your team. There are: {names}.")
            if not description:
                problems.append(f"Task {number}: the description is empty.")
            try:
                parameters = to_storable_json(task.parameters)
            except ValueError as error:
                problems.append(f"Task {number}: parameters: {error}")
                continue
            if member is not None:
                tasks.append(TaskOfPlan(member.id, description, parameters, tuple(task.after)))
        return BoardPlan(
            team=self.team,
            reasoning=args.reasoning,
            tasks=tuple(tasks),
            requires_aggregation=args.requires_aggregation,
            problems=tuple(to_storable(problem) for problem in problems),
        )

    def needs_approval(self, args: Args | InvalidPlan) -> bool:
        if isinstance(args, InvalidPlan):
            return False
        planned = [self._find(task.agent) for task in args.tasks]
        return any(member is not None and member.id in self.asked_ids for member in planned)

    def run(self, ctx: ToolContext, args: Args) -> str:
        """Refuse the call. A run in a chat does not get here: it waits for the board."""
        raise ToolError("A plan is made only in a chat.", is_final=True)

    def _find(self, name: str) -> Actor | None:
        """Return the member of this handle or, if models write it instead, of this name."""
        by_handle: Mapping[str, Actor] = {member.handle: member for member in self.members}
        named = (member for member in self.members if member.name.casefold() == name.strip().casefold())
        return by_handle.get(normalize_handle(name)) or next(named, None)


def _to_micro(dollars: float | None) -> int | None:
    return None if dollars is None else round(dollars * MICRO_PER_DOLLAR)
