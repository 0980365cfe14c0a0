"""The frames of the socket, both ways. Declared once; TypeScript gets generated types."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter

from events.row import DescribedAs
from events.rows import AnyRow, ChatActivityRow, Row

# --- from the client ------------------------------------------------------------------------------------------


class Subscribe(Row):
    """`since`: the chat's version that the client already has; null on first load. Ignored for doorbells."""

    type: Literal["subscribe"]
    topic: str = Field(max_length=80)
    since: int | None = Field(default=None, ge=0)


class MarkRead(Row):
    """The sender has read this chat, which they follow, up to `seq`. Nothing is answered."""

    type: Literal["mark_read"]
    topic: str = Field(max_length=80)
    seq: int = Field(ge=0, lt=2**63)


class Unsubscribe(Row):
    type: Literal["unsubscribe"]
    topic: str = Field(max_length=80)


class TypingIn(Row):
    """The sender is writing a message in this chat; the server tells the others, at most once in two seconds."""

    type: Literal["typing"]
    topic: str = Field(max_length=80)


ClientFrame = Annotated[Subscribe | Unsubscribe | TypingIn | MarkRead, Field(discriminator="type")]
client_frame: TypeAdapter[Subscribe | Unsubscribe | TypingIn | MarkRead] = TypeAdapter(ClientFrame)

# --- from the server ------------------------------------------------------------------------------------------


class Changes(Row):
    """The durable frame: rows changed between version `after` and `version` of the topic's chat.

    A client whose version is below `after` has missed something and waits for the hub's repair, or asks again.
    """

    type: Literal["changes"] = "changes"
    topic: str
    after: int
    version: int
    rows: list[AnyRow]


class Partial(Row):
    """What of a message has streamed so far, for somebody who comes in the middle. `row_id` is the durable row that the part
    becomes."""

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


class Subscribed(Row):
    """The answer to `subscribe`. `snapshot` true: forget what you had; false: the rows since what you had.

    `rows` always hold the whole small state (chat, members, live drafts, active runs), and messages: the newest page in a
    snapshot, those changed since otherwise. `has_older`: there are messages before the oldest one in a snapshot.
    """

    type: Literal["subscribed"] = "subscribed"
    topic: str
    version: int
    snapshot: bool
    has_older: bool = False
    rows: list[AnyRow]
    partials: list[Partial] = []
    present: list[UUID] = []


class Delta(Row):
    """A piece of what an agent is saying. `offset`: how many characters (code points) of this part came before.
    `row_id` is the durable row that the part becomes.

    A piece whose `attempt` is higher than what the client shows replaces it; a lower one is dropped. A hole in the
    offsets is not repaired: the durable row that follows is the truth.
    """

    type: Literal["delta"] = "delta"
    topic: str
    message_id: UUID
    row_id: UUID
    run_id: UUID
    agent_id: UUID
    attempt: int
    part: Literal["text", "thinking", "arguments"]
    index: int = 0
    call_id: str | None = None
    name: str | None = None
    offset: int
    text: str


class Typing(Row):
    type: Literal["typing"] = "typing"
    topic: str
    actor_id: UUID


class Presence(Row):
    """Who has this chat open right now."""

    type: Literal["presence"] = "presence"
    topic: str
    present: list[UUID]


class DraftText(Row):
    """Somebody's text as it is being written, with the caret (characters from the start of the prompt)."""

    type: Literal["draft"] = "draft"
    topic: str
    draft_id: UUID
    agent_id: UUID
    revision: int
    lock_holder_id: UUID
    lock_expires_at: datetime
    written: Annotated[dict[str, Any], DescribedAs("SpecContent")]
    caret: int | None = None


ListName = Literal["chats", "agents", "members", "workspace", "model", "me", "suggestions", "notifications", "drafts"]
"""The lists whose changes are announced."""


class ListChanged(Row):
    """A list of a workspace or of a person changed: the client reads it again."""

    type: Literal["list_changed"] = "list_changed"
    topic: str
    list: ListName


class ChatActivity(ChatActivityRow):
    """What is new in one chat for this reader: on their own topic when they have read it, on the workspace's when something
    was said there. The list of chats need not be read again."""

    type: Literal["chat_activity"] = "chat_activity"
    topic: str


class Progress(Row):
    """How far a merge has come, on its workspace's topic: `done` of about `expected` characters are written."""

    type: Literal["progress"] = "progress"
    topic: str
    merge_id: UUID
    done: int
    expected: int


class AgentStates(Row):
    """Which agents of a workspace have begun or ceased to work, on its topic: the agents' `state`, as in their list."""

    type: Literal["agent_states"] = "agent_states"
    topic: str
    working: list[UUID] = []
    idle: list[UUID] = []


class Access(Row):
    """The reader's rights on a topic changed; `allowed` false: the subscription is over."""

    type: Literal["access"] = "access"
    topic: str
    allowed: bool


class Heartbeat(Row):
    """Every 10 s, with the versions of the chats this socket follows."""

    type: Literal["heartbeat"] = "heartbeat"
    versions: dict[str, int]


class ErrorFrame(Row):
    """Something the client sent was refused; `topic` when it was about one."""

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
