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
    """`id` is made by the client; repeating the request changes nothing. `expression`: five fields of cron, or `@daily` and the
    like. `grace_seconds`: a time that was missed by more is not made up for."""

    id: UUID
    name: Name
    instructions: Instructions
    expression: Expression
    time_zone: TimeZone
    grace_seconds: GraceSeconds = 3600


class ScheduleBody(Body):
    """The fields to change. The editor who changes a schedule becomes its owner; `is_enabled` true also ends its pause."""

    revision: Revision
    name: Name | None = None
    instructions: Instructions | None = None
    expression: Expression | None = None
    time_zone: TimeZone | None = None
    grace_seconds: GraceSeconds | None = None
    is_enabled: bool | None = None


class PreviewBody(Body):
    expression: Expression
    time_zone: TimeZone


class RunNowBody(Body):
    """`id` of the system message is made by the client; repeating the request changes nothing."""

    id: UUID
