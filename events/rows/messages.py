"""The rows of messages: one class for each type of message, and their union."""

from datetime import datetime
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from pydantic import Field
from typing_extensions import TypeAliasType

from events.payloads import (
    ApprovalAskedPayload,
    ApprovalDecidedPayload,
    ComparisonPayload,
    FilePayload,
    SystemMessageType,
    SystemPayload,
    TextPayload,
    ThinkingPayload,
    ToolCallPayload,
    ToolResponsePayload,
)
from events.row import DescribedAs, Row
from events.rows.avatars import Avatar
from events.rows.kinds import RowOfChat


class SubAgentMetadata(Row):
    """Which sub-agent wrote a message. `name` is its handle; `path` has the handles from the agent that was asked first to this
    one, and `depth` is the number of agents above it."""

    kind: Literal["sub"] = "sub"
    name: str
    displayName: str
    depth: int
    path: list[str]


class MessageMetadata(Row):
    """The metadata of what a sub-agent writes: the agent, and the call of a tool that gave it its task."""

    agent: SubAgentMetadata
    call_id: str
    avatar: Avatar | None = None


class Reaction(Row):
    """An emoji at a message, and who reacted with it, in the order in which they did."""

    emoji: str
    actor_ids: list[UUID]


class AnswerThumbs(Row):
    """The people who find an answer of an agent good (`up`) or bad (`down`). Only its author and the editors of the agent read what
    somebody has written with a thumb."""

    up: list[UUID] = []
    down: list[UUID] = []


# `dump_payload` validated the payload before it was stored. Rows do not validate it again, because that would take time for
# each row that is sent.
class BaseMessageRow(RowOfChat):
    """The fields of all types of messages. A reply of an agent is the rows with one `run_id`. Only messages of sub-agents have
    `metadata`. A message is pinned if it has a `pinned_at`. Only answers of agents have `thumbs`; null: nobody has given one.

    Another answer of an agent has as its `group_seq` the `seq` of the first row of the first answer. Of the answers of a group,
    agents read the one whose rows are not `is_unused`."""

    kind: Literal["message"] = "message"
    chat_id: UUID
    seq: int
    author_id: UUID | None
    reply_to: UUID | None = None
    run_id: UUID | None = None
    metadata: Annotated[dict[str, Any], DescribedAs(MessageMetadata.__name__)] | None = None
    created_at: datetime
    edited_at: datetime | None = None
    deleted_at: datetime | None = None
    pinned_at: datetime | None = None
    pinned_by: UUID | None = None
    reactions: list[Reaction] | None = None
    thumbs: Annotated[dict[str, Any], DescribedAs(AnswerThumbs.__name__)] | None = None
    group_seq: int | None = None
    is_unused: bool = False


class MessageRevisionRow(Row):
    """An earlier text of a message, from `written_at` until somebody replaced it by an edit, or deleted the message."""

    id: UUID
    message_id: UUID
    text: str
    written_at: datetime
    replaced_at: datetime
    replaced_by: UUID | None


class TextMessageRow(BaseMessageRow):
    type: Literal["TEXT_MESSAGE"]
    payload: Annotated[dict[str, Any], DescribedAs(TextPayload.__name__)]


class FileMessageRow(BaseMessageRow):
    type: Literal["FILE_MESSAGE"]
    payload: Annotated[dict[str, Any], DescribedAs(FilePayload.__name__)]


class ThinkingRow(BaseMessageRow):
    type: Literal["THINKING"]
    payload: Annotated[dict[str, Any], DescribedAs(ThinkingPayload.__name__)]


class ToolCallRow(BaseMessageRow):
    type: Literal["TOOL_CALL"]
    payload: Annotated[dict[str, Any], DescribedAs(ToolCallPayload.__name__)]


class ToolResponseRow(BaseMessageRow):
    type: Literal["TOOL_RESPONSE"]
    payload: Annotated[dict[str, Any], DescribedAs(ToolResponsePayload.__name__)]


class ComparisonRow(BaseMessageRow):
    type: Literal["COMPARISON"]
    payload: Annotated[dict[str, Any], DescribedAs(ComparisonPayload.__name__)]


class ApprovalAskedRow(BaseMessageRow):
    type: Literal["APPROVAL_ASKED"]
    payload: Annotated[dict[str, Any], DescribedAs(ApprovalAskedPayload.__name__)]


class ApprovalDecidedRow(BaseMessageRow):
    type: Literal["APPROVAL_DECIDED"]
    payload: Annotated[dict[str, Any], DescribedAs(ApprovalDecidedPayload.__name__)]


class SystemMessageRow(BaseMessageRow):
    type: SystemMessageType
    payload: Annotated[dict[str, Any], DescribedAs(SystemPayload.__name__)]


_AnyMessageRow = (
    TextMessageRow
    | FileMessageRow
    | ThinkingRow
    | ToolCallRow
    | ToolResponseRow
    | ComparisonRow
    | ApprovalAskedRow
    | ApprovalDecidedRow
    | SystemMessageRow
)
MessageRow = TypeAliasType("MessageRow", Annotated[_AnyMessageRow, Field(discriminator="type")])

MESSAGE_ROWS: dict[str, type[_AnyMessageRow]] = {
    type_: row for row in get_args(_AnyMessageRow) for type_ in get_args(row.model_fields["type"].annotation)
}
"""The row class of each type of message."""
