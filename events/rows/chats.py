"""The rows of a chat, its participants, drafts and runs."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from events.payloads import Stamp
from events.row import DescribedAs, Row
from events.rows.kinds import RowOfChat
from events.rows.messages import MessageMetadata, MessageRow
from events.rows.people import ActorRow, Role


class ResponseMode(models.TextChoices):
    """Which messages of a chat an agent answers: mentions of it and replies of people to it; also all others of people; or none."""

    MENTIONS = "mentions", _("Mentions")
    ALWAYS = "always", _("Always")
    NEVER = "never", _("Never")


class ThumbValue(models.TextChoices):
    """Whether a person finds an answer good or bad."""

    UP = "up", _("good")
    DOWN = "down", _("bad")


class ThumbReason(models.TextChoices):
    """What was wrong with an answer."""

    WRONG_FACT = "wrong_fact", _("Wrong fact")
    NOT_AS_ASKED = "not_as_asked", _("Didn't do what was asked")
    TOO_LONG = "too_long", _("Too long")


class ThumbRow(Row):
    """The thumb of the reader on an answer. `reason` and `text` say what was wrong; `text` may also say what was good."""

    message_id: UUID
    value: ThumbValue
    reason: ThumbReason | None = None
    text: str = ""
    created_at: datetime


class AgentThumbRow(Row):
    """A thumb on an answer of an agent, for the editors of the agent who may read the chat. `agent_version` or `draft_apply` (the n
    of `r<n>`) is what answered; both are null for an outside program. `excerpt` is the beginning of the answer."""

    id: UUID
    person: ActorRow
    value: ThumbValue
    reason: ThumbReason | None = None
    text: str = ""
    agent_version: int | None = None
    draft_apply: int | None = None
    message_id: UUID
    excerpt: str
    chat_id: UUID
    chat_title: str
    created_at: datetime


class ThumbCountsRow(Row):
    """The thumbs on the answers of an agent in all chats. `unreadable`: those in chats that the reader may not read."""

    up: int
    down: int
    unreadable: int


class ParticipantRow(RowOfChat):
    """An actor in a chat, or one who has left it (`ended`). The role is part of the workspace: `MembershipRow`.

    `last_read_seq`: how far an agent has read the chat; null for people, whose read cursors only they see.
    """

    kind: Literal["participant"] = "participant"
    chat_id: UUID
    actor: ActorRow
    response: ResponseMode = ResponseMode.MENTIONS
    joined_at: datetime
    last_read_seq: int | None = None
    ended: bool = False


class Contributor(Row):
    """An author of text in a draft: of a suggestion, or an agent that revised itself in a run for the person named `in_run_of`.
    `id` is that of the suggestion or of the revision: a person with two suggestions is two contributors. `title` is the note of
    the suggestion."""

    id: UUID
    actor_id: UUID
    name: str
    in_run_of: str | None = None
    title: str = ""


class Segment(Row):
    """Consecutive lines of a prompt and their contributors: none for lines of production, several for merged lines."""

    text: str
    contributors: list[UUID] = []
    conflict: int | None = None


class ConflictChoice(Row):
    """One resolution of a conflict. Without a contributor it is the text of production."""

    contributor: UUID | None = None
    text: str


class MergeConflict(Row):
    """Contradicting edits of contributors. `about` is `prompt`, `model`, `parameters.<name>`, `limits.<name>`, `memory`,
    `context.<name>` or `tools.<name>`. `chosen` is the index of the choice that the draft has; null if it has none of them."""

    about: str
    question: str
    choices: list[ConflictChoice]
    chosen: int | None = None


class Provenance(Row):
    """The origin of the content that a merge, a rebase or an agent wrote into a draft. The segments in order are the prompt that it
    wrote; later edits of people are not in them."""

    origin: Literal["merge", "revise", "rebase"]
    merge_id: UUID | None = None
    contributors: list[Contributor]
    segments: list[Segment]
    conflicts: list[MergeConflict] = []


class VoteCount(Row):
    """The votes in a chat on the comparisons between production and a draft as it was applied for the n-th time (`draft_apply`)."""

    draft_apply: int
    production: int = 0
    equal: int = 0
    draft: int = 0


class DraftOutcome(models.TextChoices):
    """How a draft ended."""

    SAVED = "saved", _("saved")
    DISCARDED = "discarded", _("discarded")
    SUGGESTED = "suggested", _("suggested")


class DraftRow(RowOfChat):
    """The draft of an agent in a chat: the content that is being written, the content that is applied in the chat, and the lock.

    `written` and `applied` are whole specs (`SpecContent` as JSON). `apply_count` is the n of `r<n>`. `requested_by` are the
    people who requested it from the holder of its lock.
    """

    kind: Literal["draft"] = "draft"
    chat_id: UUID
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
    outcome: DraftOutcome | None = None
    provenance: Provenance | None = None
    votes: list[VoteCount] = []
    requested_by: list[UUID] = []


class RunRow(RowOfChat):
    """A run of an agent in a chat. `on_behalf_of` and `triggered_by` may stop it, and so may editors. `retry_at`: when the call
    of the model is retried after an error. The run of a sub-agent has a `parent_id` and the `metadata` of its messages. `steps` of
    at most `max_steps` are done. A run that gives another answer has a `group_seq`, as its messages. `answered_ids`: all messages
    that an active run answers, if it answers others than `trigger_id`."""

    kind: Literal["run"] = "run"
    chat_id: UUID
    agent_id: UUID
    state: Literal[
        "queued", "running", "waiting_approval", "waiting_child", "waiting_board", "completed", "failed", "stopped"
    ]
    attempt: int
    trigger_id: UUID | None = None
    answered_ids: list[UUID] | None = None
    group_seq: int | None = None
    parent_id: UUID | None = None
    metadata: Annotated[dict[str, Any], DescribedAs(MessageMetadata.__name__)] | None = None
    steps: int = 0
    max_steps: int | None = None
    on_behalf_of: UUID | None = None
    triggered_by: UUID | None = None
    stamp: Stamp | None = None
    stopping: bool = False
    error_code: str | None = None
    error: str | None = None
    retry_at: datetime | None = None
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None


class ChatRow(RowOfChat):
    """A chat. Its `version` rises with each change of a row in it.

    `is_direct`: it is the chat of two actors, unique for the pair in its workspace; it has no title, and nobody can join it.
    `is_between_agents`: both are agents; editors of the workspace may read it. `pin_count`: the number of its pinned messages.
    """

    kind: Literal["chat"] = "chat"
    workspace_id: UUID
    title: str
    created_by: UUID | None
    created_at: datetime
    is_direct: bool = False
    is_between_agents: bool = False
    pin_count: int = 0
    ended: bool = False


class ListedChatRow(Row):
    """A chat in the list of chats, with its participants and the reader's unread count. A direct chat also lists who has left it.
    Here the `title` of a chat without one is made of the names of the others in it.

    `hidden_seq`: the reader has hidden the chat from the list until a message with a higher `seq`. `is_muted`: the reader has
    muted it until `muted_until`; null: for good. `is_archived`: the reader has archived it.
    """

    chat: ChatRow
    participants: list[ActorRow]
    unread: int
    mentioned: bool
    last_read_seq: int
    last_message: MessageRow | None = None
    hidden_seq: int | None = None
    is_muted: bool = False
    muted_until: datetime | None = None
    is_archived: bool = False


class ChatActivityRow(Row):
    """The part of a `ListedChatRow` that changes when a message is posted or read. `last_message` has a shortened text."""

    chat_id: UUID
    unread: int
    mentioned: bool
    last_read_seq: int
    last_message: MessageRow | None = None


class LinkRow(Row):
    """An invite link to a workspace and a chat. Its `url` is returned once, when it is created. `max_uses` is the number of people
    who can join by it; null: any number."""

    id: UUID
    chat_id: UUID
    role: Role
    created_by: UUID
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None
    uses: int = 0
    max_uses: int | None = None
    url: str | None = None
