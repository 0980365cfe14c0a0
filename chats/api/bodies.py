"""What the requests about chats may say."""

from typing import Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from chats.selectors import END
from chats.services.links import MAX_HOURS, MAX_USES
from common.rest import Body
from events.payloads import MESSAGE_TEXT
from events.rows import MessageRow, RoleName, Row, WorkspaceRow


class NewChatBody(Body):
    title: str = Field(default="", max_length=120)
    actor_ids: list[UUID] = Field(default_factory=list, max_length=200, json_schema_extra={"uniqueItems": True})


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


class MessagePageRow(Row):
    """A part of a chat's log, oldest message first. It may hold fewer messages than `limit` when they are long.

    `before` is the cursor of the older page, `after` of the newer one; null where the log ends. `next` is `before` as text.
    """

    results: list[MessageRow]
    before: int | None
    after: int | None
    next: str | None


class MessageBody(Body):
    """`id` is made by the client, a UUID; posting the same again changes nothing. `wake`: `nobody` keeps agents asleep."""

    id: UUID
    text: str = Field(json_schema_extra=MESSAGE_TEXT)
    reply_to: UUID | None = None
    wake: Literal["auto", "nobody"] = "auto"


class NewParticipantBody(Body):
    actor_id: UUID


class WakeBody(Body):
    wake: Literal["mention", "always"]


class ReadBody(Body):
    seq: int = Field(ge=0, le=END)


class NewLinkBody(Body):
    """`max_uses`: how many people it may bring in; null: any number. Left out: one for editors, any number for suggesters."""

    role: RoleName
    expires_in_hours: int = Field(default=168, ge=1, le=MAX_HOURS)
    max_uses: int | None = Field(default=None, ge=1, le=MAX_USES)


class ReadRow(Row):
    """Where the reader's cursor stands."""

    last_read_seq: int


class InvitationRow(Row):
    """What a link shows before it is accepted; `already_participant`: of the chat."""

    workspace_name: str
    chat_title: str
    role: RoleName
    invited_by: str
    already_participant: bool


class JoinedRow(Row):
    """Where a link has led."""

    workspace: WorkspaceRow
    chat_id: UUID
