"""The bodies of requests about chats, and their response rows."""

from datetime import date
from typing import Literal, Self
from uuid import UUID

from pydantic import AwareDatetime, Field, model_validator

from actors.models import Kind
from chats.models import MAX_THUMB_TEXT
from chats.selectors import END
from chats.services.links import MAX_HOURS, MAX_USES
from common.paging import PageQuery
from common.rest import Body
from events.payloads import MESSAGE_TEXT, MessageWake
from events.rows import MessageRow, ResponseMode, Role, Row, ThumbReason, ThumbValue, WorkspaceRow


class NewChatBody(Body):
    title: str = Field(default="", max_length=120)
    """Empty: the chat is named after the others in it."""
    actor_ids: list[UUID] = Field(default_factory=list, max_length=200, json_schema_extra={"uniqueItems": True})
    """The people and agents of the chat besides the reader."""


class DirectChatBody(Body):
    actor_id: UUID
    """The other one."""
    agent_id: UUID | None = None
    """An editor opens the chat of two agents: one is `actor_id`, the other this one."""


class ChatBody(Body):
    title: str = Field(max_length=120)
    """Empty: the chat is named after the others in it."""


class MessagesQuery(Body):
    """At most one of `before`, `after` and `around`."""

    before: int | None = Field(default=None, ge=0, le=END)
    """The page before this: `before` of an earlier answer, or the `seq` of a message."""
    after: int | None = Field(default=None, ge=0, le=END)
    """The page after this: `after` of an earlier answer, or the `seq` of a message."""
    around: UUID | None = None
    """The page around the message with this id."""
    limit: int = Field(default=50, ge=1, le=200)
    """The most messages of the page. It may have fewer if they are long."""

    @model_validator(mode="after")
    def _has_at_most_one_position(self) -> Self:
        if sum(value is not None for value in (self.before, self.after, self.around)) > 1:
            raise ValueError("Give `before`, `after` or `around`, not several of them.")
        return self


class SearchQuery(PageQuery):
    q: str = Field(min_length=1, max_length=200)
    """The words to look for; each may be the beginning of one."""
    chat_id: UUID | None = None
    """Only in this chat."""
    author_id: UUID | None = None
    """Only what this person or agent has written."""
    kind: Kind | None = None
    """Only what people or what agents have written."""
    starts_on: date | None = None
    """The first day, in the time zone of the workspace."""
    ends_on: date | None = None
    """The last day, in the time zone of the workspace."""
    has_file: bool = False
    """Only files, which are found by their names."""
    order: Literal["newest", "best"] = "newest"
    """The newest first; or the best match first, of the newest 500."""
    limit: int = Field(default=20, ge=1, le=50)


class MessagePageRow(Row):
    """A page of a chat's log, oldest message first. It may have fewer messages than `limit` if they are long.

    `before` is the cursor of the older page, `after` of the newer one; null if there is no such page. `other_answers`: messages
    after the page that belong to other answers in the place of answers of this page.
    """

    results: list[MessageRow]
    other_answers: list[MessageRow]
    before: int | None
    after: int | None


class MessageBody(Body):
    id: UUID
    """The id of the message: a UUID that the client makes. The same request again returns the first message."""
    text: str = Field(json_schema_extra=MESSAGE_TEXT)
    """Markdown. `@handle` addresses an agent of the chat."""
    reply_to: UUID | None = None
    """The id of the message that it replies to."""
    wake: MessageWake = "auto"
    """`nobody` wakes no agent, whatever the text says."""


class EditBody(Body):
    text: str = Field(json_schema_extra=MESSAGE_TEXT)
    """The new text, as Markdown."""
    edited_at: AwareDatetime | None
    """`edited_at` of the message as it was read. If it was edited since, the request is refused with 409."""
    wake_ids: list[UUID] = Field(default_factory=list, max_length=200, json_schema_extra={"uniqueItems": True})
    """The agents that the edit wakes, among those that the earlier text did not mention. By default, an edit wakes nobody."""


class DeletionQuery(Body):
    stop_runs: bool = False
    """Whether the runs that have begun to answer the message are stopped, if the reader may stop them."""


class ThumbBody(Body):
    value: ThumbValue
    """`up`: the answer is good; `down`: it is bad."""
    reason: ThumbReason | None = None
    """What was wrong with a bad answer; null: it is not said."""
    text: str = Field(default="", max_length=MAX_THUMB_TEXT)
    """What was good or wrong. The editors of the agent read it who may read the chat."""


class NewParticipantBody(Body):
    actor_id: UUID
    """A member or an agent of the workspace, or a public agent."""


class ResponseBody(Body):
    response: ResponseMode
    """`mentions`: what mentions the agent or replies to it; `always`: all messages of people; `never`: none."""


class MuteBody(Body):
    until: AwareDatetime | None = None
    """When the chat is muted no more; null: it is muted for good."""


class ReadBody(Body):
    seq: int = Field(ge=0, le=END)
    """The `seq` of the last message that was read. An earlier one changes nothing."""


class NewLinkBody(Body):
    role: Role
    """The role of people who join the workspace by the link."""
    expires_in_hours: int = Field(default=168, ge=1, le=MAX_HOURS)
    """Hours until the link is no longer valid."""
    max_uses: int | None = Field(default=None, ge=1, le=MAX_USES)
    """The number of people who can join by the link; null: any number. Default: one for editors, else null."""


class ReadRow(Row):
    """The reader's cursor."""

    last_read_seq: int


class InvitationRow(Row):
    """An invite link, for people who have not accepted it yet."""

    workspace_name: str
    chat_title: str
    role: Role
    invited_by: str
    already_participant: bool


class JoinedRow(Row):
    """The workspace and the chat that a link was accepted for."""

    workspace: WorkspaceRow
    chat_id: UUID
