"""The base class of tools. Which agents may use a tool, and how, is stored with their specs."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from common.ids import new_id
from common.request_types import describe_problem
from common.text import to_storable, unwrap_json_object
from events.payloads import CallTarget, Question, ToolData
from events.rows import Policy, TextsOfOthers, ToolEffect

if TYPE_CHECKING:
    from actors.models import Actor

DEFAULT_TIMEOUT_SECONDS = 30.0
MAX_TIMEOUT_SECONDS = 120.0
MAX_ARGUMENT_CHARACTERS = 250_000
"""Longer arguments are refused, and cut before they are stored (RUN12)."""
MAX_PROBLEMS = 5
"""Problems of the arguments of one call that are reported."""
MAX_PROBLEM_CHARACTERS = 1_000

NO_SUCH_TOOL = "There is no tool "
"""The result of a call begins so if there is no such tool. The result of a call that was made may, too, but it has `seconds`."""


class ToolArgs(BaseModel):
    """The arguments of a tool. Types are not converted, and unknown arguments are refused (RUN12)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ToolConfig(BaseModel):
    """The settings of a tool for one agent: its `custom_config`, else these defaults. A tool may add fields in a subclass.

    `retries`: how often a call that raised `ToolError` is retried, if the tool `can_repeat` (RUN15). `timeout_s`: seconds of each
    try (RUN13).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    retries: int = Field(default=0, ge=0, le=3)
    timeout_s: float = Field(default=DEFAULT_TIMEOUT_SECONDS, gt=0, le=MAX_TIMEOUT_SECONDS)


async def allow_no_url(url: str) -> bool:
    """Return false: outside a chat, no address may be opened."""
    return False


@dataclass(frozen=True)
class ToolContext:
    """The context of a call. `call_id`: the idempotency key for requests to other servers.

    `is_url_allowed` returns whether a URL may be opened: the agent's prompt or a person in the chat names its host, or a result
    of a tool contains the URL (SEC9). `approved_by` is the person who has approved the call, if a person was asked. A tool that
    writes does only what this person and `on_behalf_of` both may do (FAIR8).

    `has_outside_texts`: the system text of the run, or the description of a tool, is from outside, as knowledge pages are
    (FAIR8).

    `chat_id` is null for a sub-agent, although its run has a chat, because it sees nothing of the chat but what it was given.
    `file_ids` are the files that it was given.

    `given_texts`: of a run that reads nothing of its chat, whose texts it was given besides those of `on_behalf_of`; null: that
    is not known, or it reads the chat.

    `task_metadata`: of a run that does a task and may write files into its chat with the rights of `on_behalf_of`: the metadata of
    its messages, which show them as a part of the task; null: it may not, or reads the chat.

    `workspace_id` is the workspace of the run, and `shown_in_chat_id` the chat whose readers see the call and its result; both
    are set in every chat, also for a sub-agent.
    """

    actor: "Actor"
    on_behalf_of: "Actor | None"
    chat_id: UUID | None
    run_id: UUID
    call_id: str
    config: ToolConfig = field(default_factory=ToolConfig)
    is_url_allowed: Callable[[str], Awaitable[bool]] = allow_no_url
    approved_by: "Actor | None" = None
    file_ids: tuple[UUID, ...] = ()
    has_outside_texts: bool = False
    given_texts: TextsOfOthers | None = None
    task_metadata: dict[str, Any] | None = None
    workspace_id: UUID | None = None
    shown_in_chat_id: UUID | None = None


@dataclass(frozen=True)
class ToolOutput:
    """The result of a tool: `text` for the model, and `data` for the web app if it shows more than the text. `quotes_agents`: the
    text contains texts of agents, so no URL in it counts as read (SEC9)."""

    text: str
    data: ToolData | None = None
    quotes_agents: bool = False


class ToolError(Exception):
    """A failed call, with a text for the model. `is_final`: a retry cannot help."""

    def __init__(self, text: str, *, is_final: bool = False) -> None:
        super().__init__(text)
        self.is_final = is_final


class InvalidArguments(ToolError):
    """Arguments that do not match the schema of the tool. `problems`: each begins with the path of its value, or `arguments`."""

    def __init__(self, problems: Sequence[str]) -> None:
        text = to_storable("; ".join(problems))
        if len(text) > MAX_PROBLEM_CHARACTERS:
            text = f"{text[:MAX_PROBLEM_CHARACTERS]}\n[cut: {len(text) - MAX_PROBLEM_CHARACTERS:,} more characters]"
        super().__init__(f"The call was not made, because its arguments are wrong. {text}")
        self.problems = [to_storable(problem[:MAX_PROBLEM_CHARACTERS]) for problem in problems]


@dataclass(frozen=True, kw_only=True)
class Wait:
    """What a call waits for, instead of having a result when it is made. `kind`: the name of the `WaitKind` that starts it and
    knows its result (`runs/runtime/waits.py`). `id`: the id that it gets."""

    kind: ClassVar[str]
    id: UUID = field(default_factory=new_id, compare=False)


@dataclass(frozen=True)
class AgentTask(Wait):
    """A task for another agent, whose run gets the `id`. `context` is JSON that goes along, and `file_ids` are the files that it
    may read. It ends after `max_steps` and `max_seconds`, or at the other agent's own limits if they are lower. It is refused if
    the agent that gives it is at the depth `max_depth` or deeper (`agents/sub_agents.py`)."""

    agent_id: UUID
    text: str
    context: dict[str, Any] | None
    file_ids: tuple[UUID, ...]
    max_steps: int | None
    max_seconds: int
    max_depth: int

    kind = "sub_agent"


class Tool:
    """A tool. Its docstring is the description that the model reads.

    `run(ctx, args) -> str` is a function if it uses only our database: it is called in one transaction. It is a coroutine if it
    sends requests to other servers: no transaction and no connection is open during the call. Both may return a `ToolOutput`.

    A tool of our code is a class (`registry.register`); a tool of a workspace is an object that is built from its row
    (`stored_tool.StoredTool`), whose name, description, effect and schema are those of the row.

    `effect` is `read` if a call changes nothing. `is_idempotent`: a call that writes may be repeated when a crash left its
    result unknown (RUN15). `is_trusted`: its results contain no texts of people or of other servers. `quotes_agents`: all its
    results contain texts of agents, so a URL in them may be made up by a model, and does not count as read (SEC9); a tool of
    which only some results do says so in its `ToolOutput`. `Data`: the class of the data that its results have beside the text
    (`ToolOutput.data`). `changes_only_notes`: calls change only the agent's own notes. They need no approval, whatever the run
    has read, because a note stores whose texts the run had read and never raises the rights of a later run.
    `changes_only_reactions`: calls only react to messages of the run's own chat. They need no approval either, as the answer of
    the run, which says more to the same readers, needs none. `is_question`: calls are questions to a person (`build_question`).
    `wait_kind`: the kind of what calls wait for (`build_wait`); empty: calls do not wait.
    """

    name: str
    effect: ToolEffect
    is_idempotent: bool = False
    is_trusted: ClassVar[bool] = False
    quotes_agents: ClassVar[bool] = False
    changes_only_notes: ClassVar[bool] = False
    changes_only_reactions: ClassVar[bool] = False
    is_question: ClassVar[bool] = False
    wait_kind: ClassVar[str] = ""
    Args: ClassVar[type[ToolArgs]]
    Config: ClassVar[type[ToolConfig]] = ToolConfig
    Data: ClassVar[type[BaseModel] | None] = None
    run: Callable[..., Any]

    @property
    def description(self) -> str:
        """Return the description that the model reads."""
        return inspect.getdoc(type(self)) or ""

    @property
    def server_name(self) -> str:
        """The name of the server that it calls; empty for a system tool."""
        return ""

    @property
    def called_agent(self) -> "Actor | None":
        """The public agent that is this tool; null for any other tool."""
        return None

    @property
    def described_agents(self) -> "Sequence[Actor]":
        """The agents that can be called by it, if its description repeats what they say about themselves."""
        return ()

    @property
    def default_policy(self) -> Policy:
        """The policy of a workspace that has set none: no approval is needed."""
        return Policy.AUTO

    def check_rights(self, ctx: ToolContext) -> None:
        """Raise `ToolError` if the person for whom the run works may not make this call. It is called before a person is asked to
        approve a call, so that nobody approves what fails afterwards. `run` checks the rights again."""

    @property
    def writes_elsewhere(self) -> bool:
        """Whether calls change something outside the chat: on another server, or in another chat. Once a run has read texts from
        outside, each such call needs its own approval."""
        return self.effect == "write" and self.is_async

    def describe_target(self, ctx: ToolContext, args: Any) -> CallTarget | None:
        """Return where this call goes, for the person who is asked to approve it: the server, or the chat and its readers. It
        must not contain what the model has made up. Null for a call that goes nowhere. An approved call is made only if this
        is still what the person has approved. If `run` is a coroutine, this makes no query. Raises `ToolError`, `AppError`."""
        return None

    def needs_approval(self, args: Any) -> bool:
        """Return whether a person is asked before this call even if the policy of the tool is `auto`."""
        return False

    def build_question(self, args: ToolArgs) -> Question | None:
        """Return the question to a person that this call is: the answer is its result, and `run` is not called. Null for a call
        that is made."""
        return None

    def build_wait(self, args: Any, config: ToolConfig) -> Wait:
        """Return what a call waits for, of a tool with a `wait_kind`: what comes of it is the result, and `run` is not called.
        Raises `ToolError`."""
        raise TypeError(f"Calls of {self.name} do not wait.")

    @property
    def is_available(self) -> bool:
        """Whether it can be called: a tool of a workspace may be switched off."""
        return True

    @property
    def is_async(self) -> bool:
        """Whether `run` is a coroutine function."""
        return inspect.iscoroutinefunction(self.run)

    @property
    def can_repeat(self) -> bool:
        """Whether a call may be repeated when its result is unknown."""
        return self.is_idempotent or self.effect == "read"

    def build_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its arguments, without titles, which would take tokens."""
        return deepcopy(_build_schema(self.Args))

    def build_output_schema(self) -> dict[str, Any] | None:
        """Return the JSON Schema of the data of its results, or null if they have a text only."""
        return deepcopy(_build_schema(self.Data)) if self.Data else None

    def parse_arguments(self, arguments: str) -> Any:
        """Validate arguments as the JSON object that they can only mean (`unwrap_json_object`). Raises `ToolError` with the
        problems, for the model."""
        if len(arguments) > MAX_ARGUMENT_CHARACTERS:
            raise ToolError(
                f"The arguments are too long: more than {MAX_ARGUMENT_CHARACTERS:,} characters. The call was not made."
            )
        try:
            return self.Args.model_validate_json(unwrap_json_object(arguments).strip(), strict=True)
        except ValidationError as error:
            found = error.errors(include_url=False)
            # Each problem once: the items of a list may have the same one.
            problems = dict.fromkeys(describe_problem(problem, "arguments") for problem in found)
            raise InvalidArguments(list(problems)[:MAX_PROBLEMS]) from error

    def build_config_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its settings, from which the workshop draws fields: without `retries` if no call is
        retried."""
        schema = deepcopy(_build_schema(self.Config))
        schema.pop("description", None)
        if not self.can_repeat:
            schema["properties"].pop("retries", None)
        return schema

    def parse_config(self, custom_config: dict[str, Any]) -> ToolConfig:
        """Validate the settings of an agent, with defaults. Raises `pydantic.ValidationError`."""
        return self.Config.model_validate(custom_config)


@cache
def _build_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema. It is cached, because Pydantic needs milliseconds to build it; callers copy it."""
    schema: dict[str, Any] = _remove_titles(model.model_json_schema())
    return schema


def _remove_titles(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_remove_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # The value of a property with the name "title" is a schema, not a text.
    return {
        key: _remove_titles(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))
    }
