"""The tool by which an agent with a team plans: the tasks of the plan become a board in the chat, for which the run waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from actors.models import Actor
from agents.specs.content import MAX_TASKS_OF_PLAN, Team
from agents.sub_agents import describe_agent
from boards.plan import MAX_DESCRIPTION, PlannedTask
from boards.waits import BoardWait
from common.handles import normalize_handle
from common.text import remove_invisible, to_storable, to_storable_json
from tools.interface import InvalidArguments, Tool, ToolArgs, ToolConfig, ToolContext, ToolError
from tools.registry import PLAN_TASKS, build_agent_tool_name

MICRO_PER_DOLLAR = 1_000_000


@dataclass(frozen=True)
class InvalidPlan:
    """Arguments of a call that do not follow the schema: a plan that is not valid."""

    problems: tuple[str, ...]


class TaskOfPlan(ToolArgs):
    agent: str = Field(min_length=1, max_length=64, description="The name of the agent that does it.")
    description: str = Field(
        min_length=1,
        max_length=MAX_DESCRIPTION,
        description="What it is to do, with all that it needs: the agent does not see this conversation.",
    )
    parameters: dict[str, Any] = Field(default={}, description="Values that it needs, such as a city or a date.")
    after: list[Annotated[int, Field(ge=1, le=MAX_TASKS_OF_PLAN)]] = Field(
        default=[],
        max_length=MAX_TASKS_OF_PLAN,
        description="The numbers, from 1, of the tasks whose results it needs. It begins when they are done.",
    )
    output_schema: dict[str, Any] | None = Field(
        default=None,
        description="A JSON schema of an object, if the result is to have certain fields. Without it, the result is a text.",
    )


class PlanTasks(Tool):
    """Make a plan, whose tasks are done by agents of your team: at the same time, unless a task needs the results of others. You
    get all results together. You may plan once for each message. Plan only if you need the work of these agents: answer a
    greeting, or what you know, without a plan."""

    name = PLAN_TASKS
    effect = "read"  # what the agents do is checked call by call, in their own runs
    wait_kind = BoardWait.kind
    quotes_agents = True

    class Args(ToolArgs):
        reasoning: str = Field(max_length=MAX_DESCRIPTION, description="Why these tasks, in a sentence or two.")
        tasks: list[TaskOfPlan] = Field(min_length=1, description="The tasks, in the order of their numbers.")
        requires_aggregation: bool = Field(
            default=False,
            description="Whether you put the results together. False: the result of the only task is the answer as it is.",
        )

    def __init__(self, team: Team, members: Sequence[Actor]) -> None:
        """`members`: those that may be given tasks now."""
        self.team = team
        self.members = members
        self._named: dict[str, Actor] = {}
        for member in members:
            name = member.handle if member.handle not in self._named else build_agent_tool_name(member.pk)
            self._named[name] = member

    @property
    def description(self) -> str:
        lines = [f"- {name}: {describe_agent(member)}" for name, member in self._named.items()]
        return "\n".join([super().description, f"At most {self.team.max_tasks} tasks. The agents are:", *lines])

    @property
    def described_agents(self) -> Sequence[Actor]:
        return self.members

    def parse_arguments(self, arguments: str) -> Any:
        """Return the arguments, or an `InvalidPlan` instead of raising `ToolError`: the board keeps what was wrong with a plan, and
        the model repairs it once."""
        try:
            return super().parse_arguments(arguments)
        except InvalidArguments as error:
            return InvalidPlan(tuple(error.problems))
        except ToolError as error:
            return InvalidPlan((str(error),))

    def build_wait(self, args: Args | InvalidPlan, config: ToolConfig) -> BoardWait:
        if isinstance(args, InvalidPlan):
            return self._build_wait(problems=args.problems)
        tasks: list[PlannedTask] = []
        problems: list[str] = []
        for number, task in enumerate(args.tasks, 1):
            member, description = self._find(task.agent), remove_invisible(to_storable(task.description)).strip()
            parameters = self._clean(task.parameters, f"Task {number}: its parameters", problems)
            schema = self._clean(task.output_schema, f"Task {number}: its output schema", problems)
            if member is None:
                name, names = to_storable(task.agent), ", ".join(self._named)
                problems.append(f"Task {number}: there is no agent {name!r} in your team. There are: {names}.")
            if not description:
                problems.append(f"Task {number}: its description is empty.")
            if member is not None and not problems:
                planned = PlannedTask(
                    agent_id=member.id,
                    description=description,
                    parameters=parameters or {},
                    after=task.after,
                    output_schema=schema,
                )
                tasks.append(planned)
        return self._build_wait(
            tasks=tuple(tasks),
            reasoning=args.reasoning,
            requires_aggregation=args.requires_aggregation,
            problems=tuple(problems),
        )

    def _build_wait(
        self,
        *,
        tasks: tuple[PlannedTask, ...] = (),
        reasoning: str = "",
        requires_aggregation: bool = False,
        problems: tuple[str, ...],
    ) -> BoardWait:
        return BoardWait(
            tasks=tasks,
            reasoning=reasoning,
            requires_aggregation=requires_aggregation,
            problems=problems,
            max_tasks=self.team.max_tasks,
            max_at_once=self.team.max_at_once,
            limit_micro=_to_micro(self.team.limit_dollars),
            ask_above_micro=_to_micro(self.team.ask_above_dollars),
        )

    def run(self, ctx: ToolContext, args: Args) -> str:
        """Refuse the call. A run in a chat does not get here: it waits for the board."""
        raise ToolError("A plan is made only in a chat.", is_final=True)

    @staticmethod
    def _clean(value: dict[str, Any] | None, what: str, problems: list[str]) -> dict[str, Any] | None:
        """Return JSON of the model as it can be stored. If it cannot be, add that to the problems."""
        try:
            cleaned: dict[str, Any] | None = to_storable_json(value)
        except ValueError as error:
            problems.append(f"{what} cannot be used. {error}")
            return None
        return cleaned

    def _find(self, name: str) -> Actor | None:
        """Return the member with this handle, or with this name."""
        named = (member for member in self.members if member.name.casefold() == name.strip().casefold())
        return self._named.get(normalize_handle(name)) or next(named, None)


def build_plan_tool(team: Team, members: Sequence[Actor]) -> list[Tool]:
    """Return the tool by which an agent plans for these members of its team. A listener of `find_team_tools`."""
    return [PlanTasks(team, members)]


def _to_micro(dollars: float | None) -> int | None:
    return None if dollars is None else round(dollars * MICRO_PER_DOLLAR)
