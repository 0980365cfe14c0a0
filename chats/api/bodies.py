"""The bodies of requests about chats, and their response rows."""

from typing import Self
from uuid import UUID

from pydantic import Field, model_validator

from chats.selectors import END
from chats.services.links import MAX_HOURS, MAX_USES
from common.paging import PageQuery
from common.rest import Body
from events.payloads import MESSAGE_TEXT, MessageWake
from events.rows import MessageRow, ResponseMode, Role, Row, WorkspaceRow


class NewChatBody(Body):
    title: str = Field(default="", max_length=120)
    actor_ids: list[UUID] = Field(default_factory=list, max_length=200, json_schema_extra={"uniqueItems": True})


class DirectChatBody(Body):
    """`actor_id` is the other one. An editor opens the chat of two agents by `agent_id`, one of them."""

    actor_id: UUID
    agent_id: UUID | None = None


class ChatBody(Body):
    title: str = Field(max_length=120)


class MessagesQuery(Body):
    """`before` and `after`: a cursor of an earlier answer, or a message's `seq`. `around`: a message's id. At most one of
    the three."""

    before: int | None = Field(default=None, ge=0, le=END)
    after: int | None = Field(default=None, ge=0, le=END)
    around: UUID | None = None
    limit: int = Field(default=50, ge=1, le=200)

    @model_validator(mode="after")
    def _has_at_most_one_position(self) -> Self:
        if sum(value is not None for value in (self.before, self.after, self.around)) > 1:
            raise ValueError("Give `before`, `after` or `around`, not several of them.")
        return self


class SearchQuery(PageQuery):
    """`q`: the words to look for; each may be the beginning of one. `chat_id`: only in this chat."""

    q: str = Field(min_length=1, max_length=200)
    chat_id: UUID | None = None
    limit: int = Field(default=20, ge=1, le=50)


class MessagePageRow(Row):
    """A page of a chat's log, oldest message first. It may have fewer messages than `limit` if they are long.

    `before` is the cursor of the older page, `after` of the newer one; null if there is no such page. `next` is `before` as
    text, as the cursor of every other list.
    """

    results: list[MessageRow]
    before: int | None
    after: int | None
    next: str | None


class MessageBody(Body):
    """The client chooses `id`, a UUID, and may send the request again without effect. `wake`: `nobody` wakes no agent."""

    id: UUID
    text: str = Field(json_schema_extra=MESSAGE_TEXT)
    reply_to: UUID | None = None
    wake: MessageWake = "auto"


class NewParticipantBody(Body):
    actor_id: UUID


class ResponseBody(Body):
    response: ResponseMode


class ReadBody(Body):
    seq: int = Field(ge=0, le=END)


class NewLinkBody(Body):
    """`max_uses` is the number of people who can join by the link; null: any number. Default: one for editors, else null."""

    role: Role
    expires_in_hours: int = Field(default=168, ge=1, le=MAX_HOURS)
    max_uses: int | None = Field(default=None, ge=1, le=MAX_USES)


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
