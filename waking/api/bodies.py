"""Bodies and rows of the requests about waking."""

from uuid import UUID

from pydantic import Field

from common.rest import Body
from events.rows import Row
from waking.services.wake import Effect, RefusalReason, Unreadable

MAX_PREVIEWED_FILES = 20

MAX_PREVIEWED_TEXT = 20_000
"""Characters of a text whose wakes are previewed: more than a person types. A preview is made often and costs CPU by its length."""


class WakesBody(Body):
    text: str = Field(max_length=MAX_PREVIEWED_TEXT)
    """The text as it would be posted."""
    reply_to: UUID | None = None
    """The id of the message that it replies to."""
    file_ids: list[UUID] = Field(default=[], max_length=MAX_PREVIEWED_FILES)
    """The files that would be posted with it."""


class WakesRow(Row):
    """The effect of a message on one agent of the chat. `unreadable`: what it cannot read of the files of the message.
    `team_size`: how many agents it may give tasks to, if it is a supervisor and the message wakes it. `estimate_micro`: what its
    last boards cost, in millionths of a dollar; null if there are too few."""

    agent_id: UUID
    effect: Effect
    reason: RefusalReason | None = None
    unreadable: list[Unreadable]
    team_size: int
    estimate_micro: int | None


class WakeBody(Body):
    id: UUID
    """The id of the system message: a UUID that the client makes. The same request again changes nothing."""
