"""What the requests about chats may say."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from common.rest import Body
from events.rows import Row, WorkspaceRow

Role = Literal["editor", "suggester"]


class NewChatBody(Body):
    title: str = Field(default="", max_length=120)
    member_ids: list[UUID] = Field(default_factory=list, max_length=200)


class ChatBody(Body):
    title: str = Field(max_length=120)


class MessagesQuery(Body):
    """`before`: the cursor of an earlier answer, or a message's `seq`."""

    before: int | None = Field(default=None, ge=0)
    limit: int = Field(default=50, ge=1, le=200)


class MessageBody(Body):
    """`id` is made by the client, a UUID; posting the same again changes nothing. `wake`: `nobody` keeps agents asleep."""

    id: UUID
    text: str
    reply_to: UUID | None = None
    wake: Literal["auto", "nobody"] = "auto"


class NewMemberBody(Body):
    actor_id: UUID


class WakeBody(Body):
    wake: Literal["mention", "always"]


class ReadBody(Body):
    seq: int = Field(ge=0)


class NewLinkBody(Body):
    role: Role
    expires_in_hours: int = 168


class ReadRow(Row):
    """Where the reader's cursor stands."""

    last_read_seq: int


class InvitationRow(Row):
    """What a link shows before it is accepted; `already_member`: of the chat."""

    workspace_name: str
    chat_title: str
    role: Role
    invited_by: str
    already_member: bool


class JoinedRow(Row):
    """Where a link has led."""

    workspace: WorkspaceRow
    chat_id: UUID
