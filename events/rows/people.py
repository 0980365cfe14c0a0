"""People, agents as others meet them, workspaces."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from events.rows.row import Row


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
