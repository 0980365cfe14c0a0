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
    """A task of a plan."""

    agent_id: UUID
    """The agent that does it."""
    description: Text
    """What the agent is asked to do."""
    parameters: dict[str, Any] = {}
    """Further values for the agent, by name."""
    after: Annotated[list[TaskNumber], Field(max_length=MAX_TASKS)] = []
    """The numbers (from 1) of the tasks of the plan that it follows."""
    join: JoinRule = JoinRule.ALL
    """When it starts after these: once `all` or `any` have succeeded, or all have ended (`settled`)."""
    on_failure: FailureRule = FailureRule.GO_ON
    """What follows if it fails for good: the others go on, or the board fails (`stop`)."""
    max_attempts: Annotated[int, Field(ge=1, le=MAX_ATTEMPTS)] = 2
    """How often it is tried."""
    file_ids: Annotated[list[UUID], Field(max_length=MAX_FILES)] = []
    """The files of the chat that the agent gets."""
    output_schema: dict[str, Any] | None = None
    """The JSON schema of an object, which its result has to follow; null: the result is a text."""


class NewBoardBody(Body):
    id: UUID
    """A UUID that the client makes. The same request again returns the first board."""
    user_input: Text
    """What the board is for."""
    tasks: Annotated[list[PlannedTaskBody], Field(min_length=1, max_length=MAX_TASKS)]
    """The tasks. They are numbered from 1 in this order."""
    reasoning: Annotated[str, Field(max_length=MAX_DESCRIPTION)] = ""
    """Why the plan is as it is, for readers."""
    requires_aggregation: bool = False
    """Whether an agent puts an answer together from the results."""
    aggregator_id: UUID | None = None
    """The agent that puts the answer together; null: that of the last task."""
    max_at_once: Annotated[int, Field(ge=1, le=MAX_TASKS)] = 3
    """How many tasks work at the same time."""
    limit_micro: Annotated[int, Field(ge=0, le=MAX_LIMIT_MICRO)] | None = None
    """What the board may cost, in millionths of a dollar. It is paused once that is used."""
    start: bool = True
    """Whether it starts at once."""


class ResumeBody(Body):
    limit_micro: Annotated[int, Field(ge=0, le=MAX_LIMIT_MICRO)] | None = None
    """What the board may cost in all from now on, in millionths of a dollar; null: as before."""


class RetryBody(Body):
    """What is changed in the task; null: nothing."""

    description: Text | None = None
    """Another description of the task; null: as before."""
    parameters: dict[str, Any] | None = None
    """Other parameters of the task; null: as before."""


class ForkBody(RetryBody):
    id: UUID
    """The id of the new board: a UUID that the client makes. The same request again returns the first board."""
    number: TaskNumber
    """The task from which it is run again."""


class BoardSettingsBody(Body):
    ask_above_micro: Annotated[int, Field(ge=0, le=MAX_LIMIT_MICRO)] | None
    """A board without a supervisor whose estimate is higher, in millionths of a dollar, or whose cost cannot be
    estimated yet, waits for a person before it starts; null: none waits."""
    revision: Revision
    """The revision of the settings that were read."""


class EstimateBody(Body):
    agent_ids: Annotated[list[UUID], Field(min_length=1, max_length=MAX_TASKS)]
    """The agents of the tasks of a plan, one for each task."""


class DecideEqualBody(Body):
    decision: EqualCallsDecision
    """What is decided for all of these calls."""
    note: str = Field(default="", max_length=MAX_NOTE)
    """A text for the agents."""
