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
    """Which text answered: a version (`v7`), or the n-th apply of a draft in this chat (`r3`) and by whom.

    `compared` is the id of the comparison that the answer is one `side` of.
    """

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
    compared: UUID | None = None
    side: Literal["production", "draft"] | None = None


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


class Voice(Row):
    """Whose words went into a draft that was not typed: a suggestion's author, or who told an agent to revise itself."""

    id: UUID
    actor_id: UUID
    name: str


class Piece(Row):
    """A run of whole lines of a prompt, and whose they are. No voice: they stand in production. Several: joined from them."""

    text: str
    voices: list[UUID] = []
    conflict: int | None = None


class Choice(Row):
    """One way to settle a conflict; no voice: what production says."""

    voice: UUID | None = None
    text: str


class Conflict(Row):
    """Where voices want different things. `about` is `prompt`, `model`, `parameters.<name>`, `limits.<name>`, `memory` or
    `tools.<name>`. `chosen` is what stands in the draft: an index into `choices`; null when it is something else."""

    about: str
    question: str
    choices: list[Choice]
    chosen: int | None = None


class Provenance(Row):
    """Where the words of a draft came from, as it was made: the pieces in order are its prompt (S0.12)."""

    origin: Literal["merge", "revise", "rebase"]
    merge_id: UUID | None = None
    voices: list[Voice]
    pieces: list[Piece]
    conflicts: list[Conflict] = []


class Tally(Row):
    """How the room voted when one apply of a draft was compared with production (B7)."""

    draft_apply: int
    production: int = 0
    equal: int = 0
    draft: int = 0


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
    provenance: Provenance | None = None
    votes: list[Tally] = []


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


# --- comparing specs -------------------------------------------------------------------------------------------


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


# --- suggestions -----------------------------------------------------------------------------------------------


class SuggestionRow(Row):
    """A proposal to change an agent (S0.11). `chat_id` and `chat_title` are null for who is not in that chat.

    `production` is today's version: when it is not `base_version`, the suggestion was made on an older one. `merge_id` is the
    merge under way, or the one by which it was accepted; `saved_as` the version that it went into. `verbs` are the reader's.
    """

    id: UUID
    workspace_id: UUID
    agent: ActorRow
    author: ActorRow
    chat_id: UUID | None
    chat_title: str | None
    content: dict[str, Any]
    base_version: int
    production: int
    touches: list[str]
    note: str
    summary: str
    summary_state: Literal["pending", "ready", "failed"]
    summary_error: str | None
    state: Literal["pending", "accepted", "rejected", "withdrawn"]
    merge_id: UUID | None
    saved_as: int | None
    decided_by: ActorRow | None
    decided_at: datetime | None
    reason: str
    verbs: list[Literal["accept", "reject", "withdraw", "summarize"]]
    created_at: datetime


class SuggestionDetailRow(Row):
    """A suggestion beside what it was made on, and beside what answers today."""

    suggestion: SuggestionRow
    base: SpecRow
    production: SpecRow
    against_base: DiffRow
    against_production: DiffRow


class MergeRow(Row):
    """Suggestions becoming one draft (S0.12). `method`: `copied` (one, on today's production), the merge `agent`, an `external`
    service, or the `text` merge that steps in when those fail (`error` says why). `chat_id` is null for who is not in it.
    """

    id: UUID
    workspace_id: UUID
    agent_id: UUID
    chat_id: UUID | None
    by: ActorRow
    suggestion_ids: list[UUID]
    state: Literal["waiting", "working", "done", "failed", "stopped"]
    method: Literal["copied", "agent", "external", "text"] | None
    base_version: int
    provenance: Provenance | None
    draft_id: UUID | None
    error_code: str | None
    error: str | None
    model: str
    tokens: int
    cost_micro: int | None
    created_at: datetime
    ended_at: datetime | None


# --- notifications ---------------------------------------------------------------------------------------------


class NotificationRow(Row):
    """Something happened that concerns the reader (S0.17). Names are as they were then; what it leads to is asked for anew."""

    id: UUID
    type: Literal[
        "mention", "suggestion_created", "suggestion_accepted", "suggestion_rejected", "suggestion_reopened", "lock_lost",
        "merge_done", "merge_failed",
    ]  # fmt: skip
    workspace_id: UUID
    actor_name: str
    agent_name: str
    chat_id: UUID | None
    agent_id: UUID | None
    message_id: UUID | None
    suggestion_id: UUID | None
    merge_id: UUID | None
    excerpt: str
    is_read: bool
    created_at: datetime
