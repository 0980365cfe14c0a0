"""Bodies of the requests about boards."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from boards.plan import MAX_ATTEMPTS, MAX_DESCRIPTION, MAX_FILES, MAX_TASKS
from boards.services.deciding import EqualCallsDecision
from common.request_types import NOT_BLANK, Revision
from common.rest import Body
from events.payloads import MAX_NOTE
from events.rows import FailureRule, JoinRule

MAX_LIMIT_MICRO = 1_000_000_000_000

Text = Annotated[str, Field(min_length=1, max_length=MAX_DESCRIPTION, pattern=NOT_BLANK)]
TaskNumber = Annotated[int, Field(ge=1, le=MAX_TASKS)]


class PlannedTaskBody(Body):
    """A task of a plan. `after`: the numbers (from 1) of the tasks of the plan that it follows. `max_attempts`: how often it
    is tried. `join` says when it starts after these, and `on_failure` what follows if it fails for good. `output_schema`: the JSON
    schema of an object, which its result has to follow; null: the result is a text."""

    agent_id: UUID
    description: Text
    parameters: dict[str, Any] = {}
    after: Annotated[list[TaskNumber], Field(max_length=MAX_TASKS)] = []
    join: JoinRule = JoinRule.ALL
    on_failure: FailureRule = FailureRule.GO_ON
    max_attempts: Annotated[int, Field(ge=1, le=MAX_ATTEMPTS)] = 2
    file_ids: Annotated[list[UUID], Field(max_length=MAX_FILES)] = []
    output_schema: dict[str, Any] | None = None


class NewBoardBody(Body):
    """`id` is made by the client; repeating the request changes nothing. `user_input`: what the board is for. `aggregator_id`:
    the agent that puts the answer together, by default that of the last task. `limit_micro`: what the board may cost, in
    millionths of a dollar; it is paused once that is used. `start`: whether it starts at once."""

    id: UUID
    user_input: Text
    tasks: Annotated[list[PlannedTaskBody], Field(min_length=1, max_length=MAX_TASKS)]
    reasoning: Annotated[str, Field(max_length=MAX_DESCRIPTION)] = ""
    requires_aggregation: bool = False
    aggregator_id: UUID | None = None
    max_at_once: Annotated[int, Field(ge=1, le=MAX_TASKS)] = 3
    limit_micro: Annotated[int, Field(ge=0, le=MAX_LIMIT_MICRO)] | None = None
    start: bool = True


class ResumeBody(Body):
    """`limit_micro`: what the board may cost in all from now on, in millionths of a dollar; null: as before."""

    limit_micro: Annotated[int, Field(ge=0, le=MAX_LIMIT_MICRO)] | None = None


class RetryBody(Body):
    """What is changed in the task; null: nothing."""

    description: Text | None = None
    parameters: dict[str, Any] | None = None


class ForkBody(RetryBody):
    """`id` of the new board is made by the client; repeating the request changes nothing. `number`: the task from which it is run
    again."""

    id: UUID
    number: TaskNumber


class BoardSettingsBody(Body):
    """`ask_above_micro`: a board without a supervisor whose estimate is higher, in millionths of a dollar, or whose cost cannot be
    estimated yet, waits for a person before it starts; null: none waits."""

    ask_above_micro: Annotated[int, Field(ge=0, le=MAX_LIMIT_MICRO)] | None
    revision: Revision


class EstimateBody(Body):
    """The agents of the tasks of a plan, one for each task."""

    agent_ids: Annotated[list[UUID], Field(min_length=1, max_length=MAX_TASKS)]


class DecideEqualBody(Body):
    """`note`: a text for the agents."""

    decision: EqualCallsDecision
    note: str = Field(default="", max_length=MAX_NOTE)
