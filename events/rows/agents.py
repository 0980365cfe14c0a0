"""Agents: their versions, how two differ, their tools."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from events.rows.people import ActorRow
from events.rows.row import Row


class ToolConfigRow(Row):
    """How an agent uses one tool."""

    tool: str
    is_enabled: bool = True
    custom_config: dict[str, Any] = {}
    usage_instructions: str = ""


class SpecRow(Row):
    """One saved version, or one applied text, of an agent: the whole spec, immutable."""

    id: UUID
    agent_id: UUID
    number: int | None
    prompt: str
    model: str
    parameters: dict[str, Any]
    limits: dict[str, Any]
    memory: Literal["chat", "agent"]
    tools: list[ToolConfigRow]
    message: str
    origin: Literal["created", "draft", "applied", "restored", "imported", "published"]
    base_number: int | None = None
    author_id: UUID
    created_at: datetime


class AgentRow(Row):
    """An agent with its production version; `verbs` are what the reader may do with it."""

    actor: ActorRow
    spec: SpecRow
    state: Literal["idle", "working"] = "idle"
    revision: int
    verbs: list[str]
    created_at: datetime


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


class EarlierTextRow(Row):
    """What a draft said before somebody else's text took its place: nothing that was written is lost."""

    id: UUID
    draft_id: UUID
    revision: int
    written: dict[str, Any]
    author: ActorRow
    why: Literal["takeover", "merge", "revise", "rebase"]
    created_at: datetime


class DraftWishRow(Row):
    """What the reader wishes of a draft that somebody else holds: to be told when it is free; when they asked for it."""

    is_waiting: bool
    asked_at: datetime | None


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
