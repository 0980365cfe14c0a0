"""The frames of the WebSocket, from and to the client. TypeScript types are generated from them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter

from events.row import DescribedAs
from events.rows import AnyRow, ChatActivityRow, Row

# --- from the client ------------------------------------------------------------------------------------------


class Subscribe(Row):
    """`since`: the chat's version that the client already has; null on first load. Ignored for topics other than chats."""

    type: Literal["subscribe"]
    topic: str = Field(max_length=80)
    since: int | None = Field(default=None, ge=0)


class MarkRead(Row):
    """Move the sender's read cursor in this chat to `seq`. The sender must be subscribed to it. The server does not answer."""

    type: Literal["mark_read"]
    topic: str = Field(max_length=80)
    seq: int = Field(ge=0, lt=2**63)


class Unsubscribe(Row):
    type: Literal["unsubscribe"]
    topic: str = Field(max_length=80)


class TypingIn(Row):
    """The sender is writing a message in this chat. The server sends `Typing` to all its subscribers, at most every two seconds."""

    type: Literal["typing"]
    topic: str = Field(max_length=80)


ClientFrame = Annotated[Subscribe | Unsubscribe | TypingIn | MarkRead, Field(discriminator="type")]
client_frame: TypeAdapter[Subscribe | Unsubscribe | TypingIn | MarkRead] = TypeAdapter(ClientFrame)

# --- from the server ------------------------------------------------------------------------------------------


class Changes(Row):
    """The durable frame: rows changed between version `after` and `version` of the topic's chat.

    A client whose version is below `after` has missed a frame. It waits for the hub to send the rows, or subscribes again.
    """

    type: Literal["changes"] = "changes"
    topic: str
    after: int
    version: int
    rows: list[AnyRow]


class StreamedPart(Row):
    """The fields that `Partial` and `Delta` share."""

    message_id: UUID
    row_id: UUID
    run_id: UUID
    agent_id: UUID
    attempt: int
    part: Literal["text", "thinking", "arguments"]
    index: int = 0
    call_id: str | None = None
    name: str | None = None
    text: str


class Partial(StreamedPart):
    """The text so far of a part of a streamed message, for a client that subscribes during the stream. `row_id` is the
    id of the durable row that follows."""


class Subscribed(Row):
    """The answer to `subscribe`. `snapshot` true: the rows replace those of the client; false: they are the changes since
    the client's version.

    `rows` always include the chat, its participants, current drafts and active runs. They also include messages: the newest page in
    a snapshot, else the changed ones, then also with drafts and runs that have ended since. `has_older`: there are messages before
    the oldest one of a snapshot. `present`: the people who have the chat open.
    """

    type: Literal["subscribed"] = "subscribed"
    topic: str
    version: int
    snapshot: bool
    has_older: bool = False
    rows: list[AnyRow]
    partials: list[Partial] = []
    present: list[UUID] = []


class Delta(StreamedPart):
    """The next text of a part of a streamed message. `offset`: how many characters (code points) of the part came before.
    `row_id` is the id of the durable row that follows.

    A frame with a higher `attempt` than the shown text replaces the text; one with a lower `attempt` is ignored. A gap in the
    offsets is not filled: the durable row replaces the text.
    """

    type: Literal["delta"] = "delta"
    topic: str
    offset: int


class Typing(Row):
    type: Literal["typing"] = "typing"
    topic: str
    actor_id: UUID


class Presence(Row):
    """The people who have this chat open. A transient frame."""

    type: Literal["presence"] = "presence"
    topic: str
    present: list[UUID]


class DraftText(Row):
    """A draft's text while a person writes it, with the caret (characters from the start of the prompt)."""

    type: Literal["draft"] = "draft"
    topic: str
    draft_id: UUID
    agent_id: UUID
    revision: int
    lock_holder_id: UUID
    lock_expires_at: datetime
    written: Annotated[dict[str, Any], DescribedAs("SpecContent")]
    caret: int | None = None


ListName = Literal[
    "chats",
    "agents",
    "members",
    "workspace",
    "model",
    "me",
    "suggestions",
    "notifications",
    "drafts",
    "files",
    "tools",
    "budgets",
    "memory",
    "summaries",
    "context",
    "schedules",
]
"""The lists that `ListChanged` can name."""


class ListChanged(Row):
    """A list of a workspace or of a person changed. The client reads it again."""

    type: Literal["list_changed"] = "list_changed"
    topic: str
    list: ListName


class ChatActivity(ChatActivityRow):
    """The unread count and last message of a chat for this reader. It is sent on the reader's topic after they have read the chat,
    and on the workspace's topic to each participant after a message was posted, so that clients do not read the list of chats
    again."""

    type: Literal["chat_activity"] = "chat_activity"
    topic: str


class Progress(Row):
    """The progress of a merge, on the workspace's topic: the number of characters that are written, and an estimate of all."""

    type: Literal["progress"] = "progress"
    topic: str
    merge_id: UUID
    done: int
    expected: int


class AgentStates(Row):
    """The agents of a workspace whose state changed: those that are now working, waiting for people, or idle (`AgentState`). It is
    sent on the workspace's topic."""

    type: Literal["agent_states"] = "agent_states"
    topic: str
    working: list[UUID] = []
    waiting: list[UUID] = []
    idle: list[UUID] = []


class Access(Row):
    """The reader's right to a topic changed. `allowed` is false: the server has ended the subscription."""

    type: Literal["access"] = "access"
    topic: str
    allowed: bool


class Heartbeat(Row):
    """Sent every 10 s, with the versions of the chats that the socket is subscribed to."""

    type: Literal["heartbeat"] = "heartbeat"
    versions: dict[str, int]


class ErrorFrame(Row):
    """A frame of the client was refused. `topic` is the topic of that frame, if it had one."""

    type: Literal["error"] = "error"
    topic: str | None = None
    code: str
    message: str


ServerFrame = Annotated[
    Changes
    | Subscribed
    | Delta
    | Typing
    | Presence
    | DraftText
    | ListChanged
    | ChatActivity
    | Progress
    | AgentStates
    | Access
    | Heartbeat
    | ErrorFrame,
    Field(discriminator="type"),
]
server_frame: TypeAdapter[Any] = TypeAdapter(ServerFrame)
