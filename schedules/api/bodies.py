"""Bodies of the requests about schedules."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from common.request_types import NOT_BLANK, Name, Revision
from common.rest import Body
from schedules.services.changing import MAX_INSTRUCTIONS

Instructions = Annotated[str, Field(min_length=1, max_length=MAX_INSTRUCTIONS, pattern=NOT_BLANK)]
Expression = Annotated[str, Field(min_length=1, max_length=100)]
TimeZone = Annotated[str, Field(min_length=1, max_length=64)]
GraceSeconds = Annotated[int, Field(ge=60, le=7 * 24 * 3600)]


class NewScheduleBody(Body):
    id: UUID
    """A UUID that the client makes. The same request again returns the first schedule."""
    name: Name
    """The name that people see."""
    instructions: Instructions
    """What the agent is asked to do each time."""
    expression: Expression
    """When: five fields of cron, or `@daily` and the like."""
    time_zone: TimeZone
    """The time zone of the expression, such as `Asia/Taipei`."""
    grace_seconds: GraceSeconds = 3600
    """A time that was missed by more seconds than this is not made up for."""


class ScheduleBody(Body):
    """The fields to change; null: as before. The editor who changes a schedule becomes its owner."""

    revision: Revision
    """The revision of the schedule that was read."""
    name: Name | None = None
    """The name that people see."""
    instructions: Instructions | None = None
    """What the agent is asked to do each time."""
    expression: Expression | None = None
    """When: five fields of cron, or `@daily` and the like."""
    time_zone: TimeZone | None = None
    """The time zone of the expression, such as `Asia/Taipei`."""
    grace_seconds: GraceSeconds | None = None
    """A time that was missed by more seconds than this is not made up for."""
    is_enabled: bool | None = None
    """Whether it is on. True also ends its pause."""


class PreviewBody(Body):
    expression: Expression
    """Five fields of cron, or `@daily` and the like."""
    time_zone: TimeZone
    """The time zone of the expression, such as `Asia/Taipei`."""


class RunNowBody(Body):
    id: UUID
    """The id of the system message: a UUID that the client makes. The same request again changes nothing."""
