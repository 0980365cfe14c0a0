"""Agents: their versions, how two differ, their tools."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from events.row import DescribedAs, Row
from events.rows.people import ActorRow


class ToolConfigRow(Row):
    """How an agent uses one tool."""

    tool: str
    is_enabled: bool = True
    custom_config: Annotated[dict[str, Any], DescribedAs("ToolSettings")] = {}
    usage_instructions: str = ""


class SpecRow(Row):
    """One saved version, or one applied text, of an agent: the whole spec, immutable."""

    id: UUID
    agent_id: UUID
    number: int | None
    prompt: str
    model: str
    parameters: Annotated[dict[str, Any], DescribedAs("Parameters")]
    limits: Annotated[dict[str, Any], DescribedAs("Limits")]
    memory: Literal["chat", "agent"]
    tools: list[ToolConfigRow]
    message: str
    origin: Literal["created", "draft", "applied", "restored", "imported", "published"]
    base_number: int | None = None
    author_id: UUID
    created_at: datetime


class AgentSummaryRow(Row):
    """An agent as lists have it: without its production version, whose prompt may be long. `verbs` are the reader's."""

    actor: ActorRow
    state: Literal["idle", "working"] = "idle"
    verbs: list[str]
    created_at: datetime


class AgentRow(AgentSummaryRow):
    """An agent with its production version."""

    spec: SpecRow
    revision: int


class ToolRow(Row):
    """A tool that an agent can be given."""

    name: str
    description: str
    effect: Literal["read", "write"]
    schema_: dict[str, Any] = Field(alias="schema", serialization_alias="schema")
    config_schema: dict[str, Any]


class FieldChange(Row):
    """One field of a spec that is not its prompt: `model`, `parameters.<name>`, `limits.<name>`, `memory`, `tools.<name>`.
    Null on one side: it was added or is gone."""

    field: str
    before: Any = None
    after: Any = None


class DiffRow(Row):
    """What changes from one spec to another. `prompt` is a unified diff, empty when the prompts are the same."""

    prompt: str
    prompt_added: int
    prompt_removed: int
    fields: list[FieldChange]


class DraftSnapshotRow(Row):
    """The text of a draft before another person's text, or a merge, replaced it."""

    id: UUID
    draft_id: UUID
    revision: int
    written: Annotated[dict[str, Any], DescribedAs("SpecContent")]
    author: ActorRow
    why: Literal["takeover", "merge", "revise", "rebase"]
    created_at: datetime


class LockedDraftRow(Row):
    """A draft that a person is editing. `chat_id` and `chat_title` are null for readers who are not in that chat."""

    draft_id: UUID
    agent_id: UUID
    lock_holder: ActorRow
    lock_expires_at: datetime
    chat_id: UUID | None
    chat_title: str | None


class DraftTrialRow(Row):
    """Whether the text of a draft is applied in its chat, and whether it has answered there."""

    is_applied: bool
    is_tried: bool


class LockWaiterRow(Row):
    """The reader's place in the waitlist of a draft: whether they are notified when it is free, and when they asked for it."""

    is_waiting: bool
    requested_at: datetime | None


class ReplyRow(Row):
    """An answer that was given with a version, in a chat that the reader takes part in."""

    run_id: UUID
    chat_id: UUID
    chat_title: str
    message_id: UUID | None
    excerpt: str
    state: str
    cost_micro: int
    seconds: float | None
    created_at: datetime
