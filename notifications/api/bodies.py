"""The bodies and queries of requests about notifications, and the rows that only their answers have."""

from uuid import UUID

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from common.paging import PageQuery
from common.rest import Body
from events.rows import Row


class NotificationsQuery(PageQuery):
    """`unread`: list only those that are unread."""

    unread: bool = False


IDS_AND_UP_TO: JsonDict = {
    "properties": {"ids": {"type": "array"}, "up_to": {"type": "string"}},
    "required": ["ids", "up_to"],
}
"""The schema of a body with both `ids` and `up_to`, which is refused."""


class MarkReadBody(Body):
    """Which notifications the reader has read: those with these `ids`, or all up to and including `up_to`; without both, all."""

    model_config = ConfigDict(json_schema_extra={"not": IDS_AND_UP_TO})

    ids: list[UUID] | None = Field(default=None, max_length=200)
    up_to: UUID | None = None

    @model_validator(mode="after")
    def _check_one_selection(self) -> "MarkReadBody":
        if self.ids is not None and self.up_to is not None:
            raise ValueError("Give either `ids` or `up_to`.")
        return self


class UnreadRow(Row):
    """The number of unread notifications, counted up to 100, and the chats in which something waits for the reader."""

    unread: int
    waiting_chat_ids: list[UUID]
