"""The rows of agents: versions, differences of versions, tools, and drafts that are being edited."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from events.row import DescribedAs, Row
from events.rows.people import ActorRow


class SpecOrigin(models.TextChoices):
    """How a spec was created. Specs of origin `applied` have no number: they answer in one chat only."""

    CREATED = "created", _("Created")
    DRAFT = "draft", _("Draft")
    APPLIED = "applied", _("Applied")
    RESTORED = "restored", _("Restored")
    IMPORTED = "imported", _("Imported")
    PUBLISHED = "published", _("Published")


class SpecRow(Row):
    """An immutable spec of an agent: a saved version, or the content of a draft that was applied."""

    id: UUID
    agent_id: UUID
    number: int | None
    content: Annotated[dict[str, Any], DescribedAs("SpecContent")]
    message: str
    origin: SpecOrigin
    base_version: int | None = None
    author_id: UUID
    created_at: datetime


AgentState = Literal["idle", "working", "waiting"]
"""Whether an agent works in any chat, waits for people in one, or does nothing."""


class ListedAgentRow(Row):
    """An agent in lists: without its production version, whose prompt may be long. `verbs` are those of the reader.
    `is_suspended`: an operator has suspended it, so that it answers nobody and gets no tasks.
    `accepts_tasks`: other agents of its workspace may give it tasks. `role`: what it does in the team; `parent_id`: the agent that
    it reports to."""

    actor: ActorRow
    state: AgentState = "idle"
    is_suspended: bool = False
    verbs: list[str]
    accepts_tasks: bool
    role: str = ""
    parent_id: UUID | None = None
    created_at: datetime


class AgentRow(ListedAgentRow):
    """An agent with its production version. `tool_name` and `tool_schema`: the tool by which other agents give it tasks, and the
    JSON Schema of its arguments. For an agent of a workspace this is `delegate`, with its handle as `name`. Null if it gets no
    tasks."""

    spec: SpecRow
    revision: int
    tool_name: str | None
    tool_schema: dict[str, Any] | None


class FieldChange(Row):
    """A changed field of a spec other than the prompt, by its path, for example `model`, `limits.max_steps` or `tools.<name>`.
    `before` is null for an added field, and `after` for a removed one."""

    field: str
    before: Any = None
    after: Any = None


class DiffRow(Row):
    """The difference of two specs. `prompt` is a unified diff, empty if the prompts are equal."""

    prompt: str
    prompt_added: int
    prompt_removed: int
    fields: list[FieldChange]


class SnapshotReason(models.TextChoices):
    """The reason why a snapshot was saved: what replaced the text."""

    TAKEOVER = "takeover", _("takeover")
    MERGE = "merge", _("merge")
    REVISE = "revise", _("revised by the agent")
    REBASE = "rebase", _("rebase")


class DraftSnapshotRow(Row):
    """The content of a draft before other content replaced it (`reason`)."""

    id: UUID
    draft_id: UUID
    revision: int
    written: Annotated[dict[str, Any], DescribedAs("SpecContent")]
    author: ActorRow
    reason: SnapshotReason
    created_at: datetime


class LockedDraftRow(Row):
    """A draft that a person is editing. `chat_id` and `chat_title` are null for those who may not read that chat."""

    draft_id: UUID
    agent_id: UUID
    lock_holder: ActorRow
    lock_expires_at: datetime
    chat_id: UUID | None
    chat_title: str | None


class DraftTrialRow(Row):
    """Whether the content of a draft is applied in its chat, and whether it has answered there."""

    is_applied: bool
    is_tried: bool


class LockWaiterRow(Row):
    """Whether the reader is notified when the lock of a draft ends, and when they requested the draft."""

    wants_notice: bool
    requested_at: datetime | None


class ReplyRow(Row):
    """A run by which a version of an agent answered, in a chat that the reader may read. `excerpt`: of its last text, if any."""

    run_id: UUID
    chat_id: UUID
    chat_title: str
    message_id: UUID | None
    excerpt: str
    state: str
    cost_micro: int
    seconds: float | None
    created_at: datetime
