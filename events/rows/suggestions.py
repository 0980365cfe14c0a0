"""Suggestions and the merges that make drafts of them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from events.row import DescribedAs, Row
from events.rows.agents import DiffRow, SpecRow
from events.rows.chats import Provenance
from events.rows.people import ActorRow


class ListedSuggestionRow(Row):
    """A proposal to change an agent, in lists: without its content, which may be long.

    `chat_id` and `chat_title` are null for who is not in that chat.
    `production` is today's version: when it is not `base_version`, the suggestion was made on an older one. `merge_id` is the
    merge under way, or the one by which it was accepted; `saved_as` the version that its draft became: it went into
    that one, or, `unused`, nothing of it did. `verbs` are the reader's.
    """

    id: UUID
    workspace_id: UUID
    agent: ActorRow
    author: ActorRow
    chat_id: UUID | None
    chat_title: str | None
    base_version: int
    production: int
    touches: list[str]
    note: str
    summary: str
    summary_state: Literal["pending", "ready", "failed"]
    summary_error: str | None
    state: Literal["pending", "accepted", "rejected", "withdrawn", "unused"]
    merge_id: UUID | None
    saved_as: int | None
    decided_by: ActorRow | None
    decided_at: datetime | None
    reason: str
    verbs: list[Literal["accept", "reject", "withdraw", "summarize"]]
    created_at: datetime


class SuggestionRow(ListedSuggestionRow):
    """A proposal with its `content`: the whole spec that it wants the agent to be."""

    content: Annotated[dict[str, Any], DescribedAs("SpecContent")]


class SuggestionDetailRow(Row):
    """A suggestion with the version that it was made on, and the production version."""

    suggestion: SuggestionRow
    base: SpecRow
    production: SpecRow
    against_base: DiffRow
    against_production: DiffRow


class MergeRow(Row):
    """Suggestions becoming one draft. `method`: `copied` (one, on today's production), the merge `agent`, an `external`
    service, or the `text` merge that steps in when those fail (`error` says why). `unused_ids`: suggestions of which nothing was
    left in the version that its draft became. `chat_id` is null for who is not in it.
    """

    id: UUID
    workspace_id: UUID
    agent_id: UUID
    chat_id: UUID | None
    by: ActorRow
    suggestion_ids: list[UUID]
    unused_ids: list[UUID]
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
