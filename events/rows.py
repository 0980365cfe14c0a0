"""The rows on the wire: the same shapes in REST answers and in frames, declared once, mirrored in TypeScript.

A row that belongs to a chat carries `version`: the chat's version at its last change. The client upserts by
(`kind`, `id`) and keeps the higher version, so that applying a row twice or late changes nothing (architecture §7).
"""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class Row(BaseModel):
    """Closed and frozen: an unknown field is an error on our side, never silently sent."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


# --- people, agents, workspaces -------------------------------------------------------------------------------


class ActorRow(Row):
    """A person or an agent as everyone who meets it sees it."""

    id: UUID
    kind: Literal["human", "agent"]
    name: str
    handle: str
    description: str | None = None
    workspace_id: UUID | None = None
    is_public: bool = False


class ApiTokenRow(Row):
    """One of the reader's own API tokens. Its text is shown once, when it is made; `prefix` is how it begins."""

    id: UUID
    name: str
    prefix: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class WorkspaceRow(Row):
    """A workspace as one of its members sees it; `role` and `verbs` are the reader's own."""

    id: UUID
    name: str
    handle: str
    revision: int
    role: Literal["editor", "suggester"]
    verbs: list[str]


class MembershipRow(Row):
    """A person in a workspace."""

    id: UUID
    workspace_id: UUID
    actor: ActorRow
    role: Literal["editor", "suggester"]
    joined_at: datetime


class ModelRow(Row):
    """What a workspace's agents think with. The key is write-only: only its last four characters come back."""

    provider: Literal["demo", "openai", "anthropic", "gemini", "openrouter", "openai_compatible"]
    api_base: str | None = None
    default_model: str
    key_last4: str | None = None
    revision: int


# --- what is in a chat ----------------------------------------------------------------------------------------


class Stamp(Row):
    """Which text answered: a version (`v7`), or the n-th apply of a draft in this chat (`r3`) and by whom."""

    spec_id: UUID
    version: int | None = None
    draft_apply: int | None = None
    draft_by: str | None = None
    model: str = ""
    provider: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_micro: int | None = None
    paid_by: Literal["workspace", "system", "demo"] | None = None


class MessageRow(Row):
    """One line of a chat's log (ADR-004): what people and agents said and did, and what the system noted.

    `payload`'s shape is fixed per `type` (`events/payloads.py`). A reply is the rows of one `run_id`.
    """

    kind: Literal["message"] = "message"
    id: UUID
    chat_id: UUID
    version: int
    seq: int
    author_id: UUID | None
    type: str
    payload: dict[str, Any]
    reply_to: UUID | None = None
    run_id: UUID | None = None
    created_at: datetime
    edited_at: datetime | None = None
    deleted: bool = False


class MemberRow(Row):
    """Somebody's place in a chat; `ended` when they left. Their role is the workspace's business: `MembershipRow`."""

    kind: Literal["member"] = "member"
    id: UUID
    chat_id: UUID
    version: int
    actor: ActorRow
    wake: Literal["mention", "always"] = "mention"
    joined_at: datetime
    ended: bool = False


class DraftRow(Row):
    """The draft of one agent in one chat: what is being written, what is applied here, who holds it.

    `written` and `applied` are whole specs (`SpecContent` as JSON). `apply_count` is the n of `r<n>`.
    """

    kind: Literal["draft"] = "draft"
    id: UUID
    chat_id: UUID
    version: int
    agent_id: UUID
    status: Literal["drafting", "applied", "ended"]
    written: dict[str, Any]
    applied: dict[str, Any] | None = None
    applied_spec_id: UUID | None = None
    applied_by: UUID | None = None
    apply_count: int = 0
    revision: int
    base_version: int
    holder_id: UUID | None = None
    held_until: datetime | None = None
    created_by: UUID
    updated_by: UUID
    updated_at: datetime
    ended_how: Literal["saved", "discarded", "suggested"] | None = None


class RunRow(Row):
    """An agent at work in a chat."""

    kind: Literal["run"] = "run"
    id: UUID
    chat_id: UUID
    version: int
    agent_id: UUID
    state: Literal["queued", "running", "waiting_approval", "waiting_child", "completed", "failed", "stopped"]
    attempt: int
    trigger_id: UUID | None = None
    on_behalf_of: UUID | None = None
    stamp: Stamp | None = None
    stopping: bool = False
    error_code: str | None = None
    error: str | None = None
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None


class ChatRow(Row):
    """A chat as its participants see it; `version` is the one counter of everything in it."""

    kind: Literal["chat"] = "chat"
    id: UUID
    workspace_id: UUID
    title: str
    version: int
    created_by: UUID | None
    created_at: datetime
    ended: bool = False


AnyRow = Annotated[MessageRow | MemberRow | DraftRow | RunRow | ChatRow, Field(discriminator="kind")]


class ChatSummaryRow(Row):
    """A line of the sidebar: a chat, who is in it, and how much of it the reader has not read."""

    chat: ChatRow
    members: list[ActorRow]
    unread: int
    mentioned: bool
    last_read_seq: int
    last_message: MessageRow | None = None


class LinkRow(Row):
    """A link that brings people into a workspace and a chat. Its `url` is shown once, when it is made."""

    id: UUID
    chat_id: UUID
    role: Literal["editor", "suggester"]
    created_by: UUID
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None
    uses: int = 0
    url: str | None = None


# --- agents ---------------------------------------------------------------------------------------------------


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
