"""Agents as tools: a call gives another agent a task, which it does in a run of its own (`runs/runtime/sub_agents.py`).

An agent is called by a tool of its own if it is public (`AgentTool`), and by `delegate` if it is of the same workspace or comes
with the release (`Delegate`). It sees nothing but what the call passes.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar
from uuid import UUID

from pydantic import Field

from actors.models import Actor, AgentStatus, Kind
from common.handles import normalize_handle
from common.text import to_storable, to_storable_json
from tools.interface import AgentTask, Tool, ToolArgs, ToolConfig, ToolContext, ToolError
from tools.registry import build_agent_tool_name, get_called_agent_id

MAX_TASK_CHARACTERS = 20_000
MAX_CONTEXT_CHARACTERS = 50_000
"""Characters of the JSON that goes along with a task."""
MAX_ALLOWED_HANDLES = 20
MAX_DEPTH = 5
"""The greatest depth of a sub-agent: the agent that a person has asked is at depth 0."""


class TaskOptions(ToolArgs):
    """What a caller may set for one task."""

    max_steps: int | None = Field(default=None, ge=1, le=50, description="At most so many requests to its model.")
    file_ids: list[str] = Field(
        default=[], max_length=20, description="The ids of files of this chat that it may read with its own tools."
    )


class TaskArgs(ToolArgs):
    task: str = Field(
        min_length=1,
        max_length=MAX_TASK_CHARACTERS,
        description="The task, with all that is needed to do it: the agent does not see this conversation.",
    )
    context: dict[str, Any] | None = Field(
        default=None, description="Facts that go along, such as URLs, names or numbers."
    )
    options: TaskOptions | None = None


class TaskConfig(ToolConfig):
    """`max_seconds`: how long one task may take, in seconds; `max_depth`: an agent at this depth, or deeper, gives no tasks."""

    max_seconds: int = Field(default=900, ge=5, le=3600)
    max_depth: int = Field(default=3, ge=1, le=MAX_DEPTH)


class TaskTool(Tool):
    """A tool whose calls give tasks to other agents. Its result is `{ok, messageId, summary}` as JSON."""

    effect = "read"  # what the other agent does is checked call by call, in its own run
    wait_kind = AgentTask.kind
    quotes_agents = True
    Args: ClassVar[type[TaskArgs]] = TaskArgs
    Config = TaskConfig

    def build_config_schema(self) -> dict[str, Any]:
        """Return the schema of the settings, without `retries` and `timeout_s`, which have no effect on a task."""
        schema = super().build_config_schema()
        for name in ("retries", "timeout_s"):
            schema["properties"].pop(name, None)
        return schema

    def run(self, ctx: ToolContext, args: TaskArgs) -> str:
        """Refuse the call. A run in a chat does not get here: it gives the task that `build_wait` returns."""
        raise ToolError("A task is given only in a chat.", is_final=True)

    def build_task_for(self, agent: Actor, args: TaskArgs, config: ToolConfig) -> AgentTask:
        """Return the task for this agent. Raises `ToolError` for an invalid id of a file, and for a `context` that
        cannot be stored or is too long."""
        if not isinstance(config, TaskConfig):
            raise TypeError(f"A task needs a TaskConfig, not {type(config).__name__}.")
        options = args.options or TaskOptions()
        try:
            file_ids = tuple(UUID(id) for id in options.file_ids)
        except ValueError:
            raise ToolError("options.file_ids: this is not the id of a file.", is_final=True) from None
        try:
            context = to_storable_json(args.context) if args.context else None
        except ValueError as error:
            raise ToolError(f"context: {error}", is_final=True) from None
        if context and len(json.dumps(context, ensure_ascii=False)) > MAX_CONTEXT_CHARACTERS:
            raise ToolError(f"context: it has more than {MAX_CONTEXT_CHARACTERS:,} characters.", is_final=True)
        return AgentTask(
            agent_id=agent.id,
            text=to_storable(args.task),
            context=context,
            file_ids=file_ids,
            max_steps=options.max_steps,
            max_seconds=config.max_seconds,
            max_depth=config.max_depth,
        )


class AgentTool(TaskTool):
    """A public agent as a tool."""

    def __init__(self, agent: Actor) -> None:
        self.agent = agent
        self.name = build_agent_tool_name(agent.id)

    @property
    def called_agent(self) -> Actor:
        return self.agent

    @property
    def description(self) -> str:
        return (
            f"Give a task to another agent: {describe_agent(self.agent)}\nIt sees only what you pass, works by itself, and"
            " answers with a summary. Several calls in one answer work at the same time."
        )

    @property
    def described_agents(self) -> Sequence[Actor]:
        return [self.agent]

    def build_wait(self, args: TaskArgs, config: ToolConfig) -> AgentTask:
        return self.build_task_for(self.agent, args, config)


class DelegateConfig(TaskConfig):
    """`allowed_sub_agents`: the handles of the agents that may be given tasks."""

    allowed_sub_agents: list[str] = Field(default=["browser"], max_length=MAX_ALLOWED_HANDLES)


class Delegate(TaskTool):
    """Give a task to another agent of your team. It sees only what you pass, works by itself, and answers with a summary. Several
    calls in one answer work at the same time."""

    name = "delegate"
    Config = DelegateConfig

    class Args(TaskArgs):
        name: str = Field(min_length=1, max_length=64, description="The name of the agent.")

    def __init__(self, sub_agents: Sequence[Actor] = (), *, asked_ids: Collection[UUID] = ()) -> None:
        """`sub_agents`: the agents that a run may call; none for the tool in the registry. `asked_ids`: those of them for which a
        person is asked first."""
        self.sub_agents = sub_agents
        self.asked_ids = asked_ids

    @property
    def description(self) -> str:
        lines = [f"- {agent.handle}: {describe_agent(agent)}" for agent in self.sub_agents]
        return "\n".join([super().description, *(["The agents are:", *lines] if lines else [])])

    def build_wait(self, args: Args, config: ToolConfig) -> AgentTask:
        found = self._find(args)
        if found is None:
            names = ", ".join(agent.handle for agent in self.sub_agents) or "none"
            raise ToolError(
                f"There is no agent {args.name!r} that you may give tasks to. There are: {names}.", is_final=True
            )
        return self.build_task_for(found, args, config)

    def needs_approval(self, args: Args) -> bool:
        found = self._find(args)
        return found is not None and found.pk in self.asked_ids

    def _find(self, args: Args) -> Actor | None:
        handle = normalize_handle(args.name)
        return next((agent for agent in self.sub_agents if agent.handle == handle), None)


def build_task_tool(agent: Actor) -> TaskTool | None:
    """Return the tool by which other agents give this one tasks, or null if it gets none."""
    if agent.taken_down_at is not None or agent.status != AgentStatus.READY:
        return None
    if agent.is_public:
        return AgentTool(agent)
    return Delegate([agent]) if agent.accepts_tasks and not agent.runs_outside else None


def describe_agent(agent: Actor) -> str:
    """Return the name and the description in one line."""
    return " ".join(f"{agent.name}. {agent.description or ''}".split())


def find_agent_tools(names: Iterable[str]) -> list[Tool]:
    """Return the tools of these names that are public agents, sorted by the names of the agents. Makes no query if no name is one
    of an agent. A listener of `find_tools`."""
    ids = [id for id in map(get_called_agent_id, names) if id is not None]
    if not ids:
        return []
    public = Actor.objects.filter(
        pk__in=ids, kind=Kind.AGENT, is_public=True, taken_down_at=None, status=AgentStatus.READY
    )
    return [AgentTool(agent) for agent in public.select_related("published_by_workspace").order_by("name", "pk")]
