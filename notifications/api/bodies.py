"""What goes in and out here besides the rows of `events.rows`."""

from uuid import UUID

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from common.paging import PageQuery
from common.rest import Body
from events.rows import Row


class NotificationsQuery(PageQuery):
    """`unread`: only those that were not read yet."""

    unread: bool = False


BOTH: JsonDict = {
    "properties": {"ids": {"type": "array"}, "up_to": {"type": "string"}}, "required": ["ids", "up_to"],
}  # fmt: skip
"""What the schema refuses."""


class SeenBody(Body):
    """Which ones were read: `ids`, or all up to and with `up_to`; neither: all."""

    model_config = ConfigDict(json_schema_extra={"not": BOTH})

    ids: list[UUID] | None = Field(default=None, max_length=200)
    up_to: UUID | None = None

    @model_validator(mode="after")
    def one_way(self) -> "SeenBody":
        if self.ids is not None and self.up_to is not None:
            raise ValueError("either `ids` or `up_to`")
        return self


class UnreadRow(Row):
    """How many were not read yet; it is counted up to 100."""

    unread: int
