"""The spec of an agent as one value, which is the same in a version, in a draft and in the editor."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from common.handles import HANDLE_PATTERN
from common.request_types import StrictModel
from events.payloads import ContextStrategy, MemoryScope

MAX_PROMPT = 100_000
MAX_MEMBERS = 20
MAX_TASKS_OF_PLAN = 25
MAX_DOLLARS = 1_000_000

MemberName = Annotated[str, Field(max_length=40, pattern=HANDLE_PATTERN.pattern)]
ToolName = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-zA-Z0-9_-]+$")]
SettingName = Annotated[str, Field(max_length=64)]
Single = Annotated[str, Field(max_length=4_000)] | bool | int | float | None
Setting = (
    Single | Annotated[list[Single], Field(max_length=100)] | Annotated[dict[SettingName, Single], Field(max_length=50)]
)
"""A setting of a tool: one value, a list of values or a dict of values. Deeper nesting is not allowed."""
ToolSettings = Annotated[dict[SettingName, Setting], Field(max_length=50)]


class Parameters(StrictModel):
    """Parameters of the model. Null means the default of the provider."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, le=200_000)


class Limits(StrictModel):
    """The limits of a run: steps (requests to the model) and seconds."""

    max_steps: int = Field(default=10, ge=1, le=50)
    max_seconds: int = Field(default=1800, ge=5, le=3600)


class ContextSettings(StrictModel):
    """What the agent's model reads of a long chat. `max_tokens`: at most so many tokens of a conversation; null: as many as the
    model and the workspace allow. `strategy`: what it reads of older messages; `default`: that of the workspace."""

    strategy: Literal["default", ContextStrategy] = "default"
    max_tokens: int | None = Field(default=None, ge=1_000, le=2_000_000)


class Team(StrictModel):
    """The agents to which this one gives the tasks of a plan, which is a board in the chat (`boards/agent_tools.py`). Without
    members it makes no plans.

    `members`: the handles of agents of the workspace and of those that come with the release, and the names of public agents as
    tools (`agent_<id>`), because another publisher may get the handle of one that was taken down. `max_tasks`: tasks of a plan;
    `max_at_once`: how many of them are done at the same time. `limit_dollars`: what a board may cost; null: as much as the budgets
    allow. `ask_above_dollars`: a board whose estimate is higher or not known waits for a person before it starts; null: none waits.
    `aggregation`: how the results become the answer, for the model.
    """

    members: tuple[MemberName, ...] = Field(default=(), max_length=MAX_MEMBERS)
    max_tasks: int = Field(default=10, ge=1, le=MAX_TASKS_OF_PLAN)
    max_at_once: int = Field(default=3, ge=1, le=10)
    limit_dollars: float | None = Field(default=None, ge=0, le=MAX_DOLLARS)
    ask_above_dollars: float | None = Field(default=None, ge=0, le=MAX_DOLLARS)
    aggregation: str = Field(default="", max_length=4_000)

    @field_validator("members")
    @classmethod
    def _check_each_member_once(cls, members: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(members)) != len(members):
            raise ValueError("Each agent is a member once.")
        return members

    @field_validator("aggregation")
    @classmethod
    def _remove_nul(cls, aggregation: str) -> str:
        return aggregation.replace("\x00", "")


class ListItem(StrictModel):
    """An item of a list in a spec. Specs are compared and merged item by item; `key` says which items are the same one."""

    @property
    def key(self) -> str:
        raise NotImplementedError


class ToolUse(ListItem):
    """How an agent uses one tool. `custom_config` is merged over the tool's defaults."""

    tool: ToolName
    is_enabled: bool = True
    custom_config: ToolSettings = {}
    usage_instructions: str = Field(default="", max_length=4_000)

    @property
    def key(self) -> str:
        return self.tool


class SpecContent(StrictModel):
    """A spec. An empty `model` means the default model of the workspace. Raises `ValidationError` for unknown fields.

    Specs are stored, compared, merged, exported and published by the fields of this class (`agents/specs/fields.py`): a field needs
    a default, because stored specs do not have it.
    """

    prompt: str = Field(default="", max_length=MAX_PROMPT)
    model: str = Field(default="", max_length=200)
    parameters: Parameters = Parameters()
    limits: Limits = Limits()
    memory: MemoryScope = "chat"
    context: ContextSettings = ContextSettings()
    team: Team = Team()
    tools: tuple[ToolUse, ...] = Field(default=(), max_length=64)

    @field_validator("prompt")
    @classmethod
    def _remove_nul(cls, prompt: str) -> str:
        # PostgreSQL stores no NUL in text or JSON.
        return prompt.replace("\x00", "")

    @field_validator("tools")
    @classmethod
    def _check_each_tool_once(cls, tools: tuple[ToolUse, ...]) -> tuple[ToolUse, ...]:
        if len({use.tool for use in tools}) != len(tools):
            raise ValueError("Each tool can be listed once.")
        return tools

    @property
    def tool_names(self) -> frozenset[str]:
        """The names of its tools, also of those that are switched off."""
        return frozenset(use.tool for use in self.tools)

    def as_json(self) -> dict[str, Any]:
        """Return the spec as JSON, for a column or a frame."""
        return self.model_dump(mode="json")
