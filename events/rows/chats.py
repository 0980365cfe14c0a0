"""The rows of a chat, its participants, drafts and runs."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from events.payloads import Stamp
from events.row import DescribedAs, Row
from events.rows.messages import MessageRow
from events.rows.people import ActorRow, RoleName


class ParticipantRow(Row):
    """An actor in a chat, or one who has left it (`ended`). The role is part of the workspace: `MembershipRow`."""

    kind: Literal["participant"] = "participant"
    id: UUID
    chat_id: UUID
    version: int
    actor: ActorRow
    wake: Literal["mention", "always"] = "mention"
    joined_at: datetime
    ended: bool = False


class Contributor(Row):
    """Whose words went into a draft that was not typed: a suggestion's author, or an agent that revised itself, in a run for
    the person of the name `in_run_of`. `title` is what its author says of a suggestion."""

    id: UUID
    actor_id: UUID
    name: str
    in_run_of: str | None = None
    title: str = ""


class Segment(Row):
    """Consecutive lines of a prompt and their contributors. No contributor: the lines of production. Several: merged."""

    text: str
    contributors: list[UUID] = []
    conflict: int | None = None


class Choice(Row):
    """One way to settle a conflict; no contributor: what production says."""

    contributor: UUID | None = None
    text: str


class Conflict(Row):
    """Where contributors want different things. `about` is `prompt`, `model`, `parameters.<name>`, `limits.<name>`, `memory` or
    `tools.<name>`. `chosen` is what stands in the draft: an index into `choices`; null when it is something else."""

    about: str
    question: str
    choices: list[Choice]
    chosen: int | None = None


class Provenance(Row):
    """Where the words of a draft came from, as it was made: the segments in order are its prompt."""

    origin: Literal["merge", "revise", "rebase"]
    merge_id: UUID | None = None
    contributors: list[Contributor]
    segments: list[Segment]
    conflicts: list[Conflict] = []


class VoteCount(Row):
    """How the room voted when one apply of a draft was compared with production (RUN7)."""

    draft_apply: int
    production: int = 0
    equal: int = 0
    draft: int = 0


class DraftRow(Row):
    """The draft of one agent in one chat: what is being written, what is applied here, who holds it.

    `written` and `applied` are whole specs (`SpecContent` as JSON). `apply_count` is the n of `r<n>`. `requested_by` are the
    people who requested it from the holder of its lock.
    """

    kind: Literal["draft"] = "draft"
    id: UUID
    chat_id: UUID
    version: int
    agent_id: UUID
    status: Literal["drafting", "applied", "ended"]
    written: Annotated[dict[str, Any], DescribedAs("SpecContent")]
    applied: Annotated[dict[str, Any], DescribedAs("SpecContent")] | None = None
    applied_spec_id: UUID | None = None
    applied_by: UUID | None = None
    apply_count: int = 0
    revision: int
    base_version: int
    lock_holder_id: UUID | None = None
    lock_expires_at: datetime | None = None
    created_by: UUID
    updated_by: UUID
    updated_at: datetime
    outcome: Literal["saved", "discarded", "suggested"] | None = None
    provenance: Provenance | None = None
    votes: list[VoteCount] = []
    requested_by: list[UUID] = []


class RunRow(Row):
    """An agent at work in a chat. `on_behalf_of` and `triggered_by` may stop it, and so may editors. `next_try_at`: when the
    model, which could not answer, is asked again."""

    kind: Literal["run"] = "run"
    id: UUID
    chat_id: UUID
    version: int
    agent_id: UUID
    state: Literal["queued", "running", "waiting_approval", "waiting_child", "completed", "failed", "stopped"]
    attempt: int
    trigger_id: UUID | None = None
    on_behalf_of: UUID | None = None
    triggered_by: UUID | None = None
    stamp: Stamp | None = None
    stopping: bool = False
    error_code: str | None = None
    error: str | None = None
    next_try_at: datetime | None = None
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


AnyRow = Annotated[MessageRow | ParticipantRow | DraftRow | RunRow | ChatRow, Field(discriminator="kind")]


class ChatSummaryRow(Row):
    """A chat in the sidebar, with its participants and the reader's unread count."""

    chat: ChatRow
    participants: list[ActorRow]
    unread: int
    mentioned: bool
    last_read_seq: int
    last_message: MessageRow | None = None


class ChatActivityRow(Row):
    """The part of a chat's summary that changes when a message is posted or read. `last_message` has the beginning of the text."""

    chat_id: UUID
    unread: int
    mentioned: bool
    last_read_seq: int
    last_message: MessageRow | None = None


class LinkRow(Row):
    """A link that brings people into a workspace and a chat. Its `url` is shown once, when it is made. `max_uses` null:
    it brings in any number of people until it expires."""

    id: UUID
    chat_id: UUID
    role: RoleName
    created_by: UUID
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None
    uses: int = 0
    max_uses: int | None = None
    url: str | None = None
