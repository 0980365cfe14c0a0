"""The rows of boards and of their tasks, and the sets of values that they have."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from events.payloads import ReadTexts
from events.row import Row
from events.rows.kinds import RowOfChat


class BoardState(models.TextChoices):
    """The state of a board. The last two are final. A board that is paused or that is stopping stays in its state."""

    INIT = "init", _("Planning")
    DECOMPOSED = "decomposed", _("Planned")
    EXECUTING = "executing", _("Working")
    AGGREGATING = "aggregating", _("Putting the answer together")
    COMPLETED = "completed", _("Done")
    FAILED = "failed", _("Failed")


class BoardTaskState(models.TextChoices):
    """The state of a task of a board. The last four are final. `ready`: it waits for its turn. `cancelled`: the board has
    ended, or was answered, before the task had ended. A task whose run waits for a person is running: the run says for whom it
    waits."""

    PENDING = "pending", _("Waiting for other tasks")
    READY = "ready", _("Waiting for its turn")
    RUNNING = "running", _("Working")
    SUCCEEDED = "succeeded", _("Done")
    FAILED = "failed", _("Failed")
    SKIPPED = "skipped", _("Skipped")
    CANCELLED = "cancelled", _("Cancelled")


class PlannedBy(models.TextChoices):
    """What has made the plan of a board."""

    MODEL = "model", _("supervisor")
    PERSON = "person", _("person")
    WORKFLOW = "workflow", _("workflow")
    FORK = "fork", _("earlier board")


class BoardPause(models.TextChoices):
    """Why a board is paused: a person has paused it, it may not cost more, or its estimate is above the amount from which a
    person is asked first."""

    PERSON = "person", _("paused by a person")
    BUDGET = "budget", _("a budget is used up")
    ESTIMATE = "estimate", _("a person is asked before it starts")


class BoardReason(models.TextChoices):
    """Why a board has failed."""

    PLAN_INVALID = "plan_invalid", _("plan not valid")
    STOPPED = "stopped", _("stopped")
    NO_RESULTS = "no_results", _("no task brought a result")
    TASK_FAILED = "task_failed", _("a task failed that all depends on")
    ANSWER_FAILED = "answer_failed", _("the answer failed")


class JoinRule(models.TextChoices):
    """When a task starts that follows others, once all of these have ended: all that were done have succeeded, at least one
    has, or however they ended. A task is skipped if its rule does not hold, or if all that it follows were skipped."""

    ALL = "all", _("all succeeded")
    ANY = "any", _("one succeeded")
    SETTLED = "settled", _("all ended")


class FailureRule(models.TextChoices):
    """What follows when a task has failed for good: the others go on, or the board fails."""

    GO_ON = "go_on", _("go on")
    STOP = "stop", _("fail the board")


class TaskResultRow(Row):
    """What an attempt at a task brought. `text`: the beginning of its data, which is JSON if it `follows_schema`, and `is_cut`
    whether there is more; `files`: the ids of the files that it wrote; `message_id`: the message with its whole text.
    `execution_time` is in seconds, `cost_micro` in millionths of a dollar. `is_reused`: it was brought by an earlier board.
    `is_late`: it came after the task had ended, and changed nothing."""

    attempt: int
    success: bool
    text: str = ""
    is_cut: bool = False
    follows_schema: bool = False
    files: list[UUID] = []
    message_id: UUID | None = None
    error: str | None = None
    error_code: str | None = None
    execution_time: float
    run_id: UUID | None = None
    is_reused: bool = False
    is_late: bool = False
    cost_micro: int = 0
    created_at: datetime


class BoardTaskRow(RowOfChat):
    """A task of a board. `number` is its address, from 1; `after` has the numbers of the tasks that it follows. `attempt` and
    `run_id` are those of its last run; the messages of the run have the id of the task as their `metadata.call_id`.
    `output_schema`: the JSON schema that its result has to follow; null: that is a text. `replaced_description`: the description
    before a person has changed it, in this board or in the one that this board repeats. `file_ids`: the files that it was given.
    `results`: of all attempts, the oldest first. `reason_code` says why it was skipped, failed or was cancelled. `cost_micro`: of
    all its attempts."""

    kind: Literal["board_task"] = "board_task"
    chat_id: UUID
    board_id: UUID
    number: int
    agent_id: UUID
    agent_name: str
    description: str
    replaced_description: str | None = None
    parameters: dict[str, Any]
    file_ids: list[UUID] = []
    output_schema: dict[str, Any] | None = None
    after: list[int]
    join: JoinRule
    on_failure: FailureRule
    state: BoardTaskState
    reason_code: str | None = None
    attempt: int
    max_attempts: int
    run_id: UUID | None = None
    results: list[TaskResultRow]
    cost_micro: int
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None


class BoardRow(RowOfChat):
    """A board: the tasks of one plan, which are rows of their own.

    A board of a supervisor is shown in the reply of its `supervisor_run_id`, at the call `call_id`; any other at the message
    `message_id`, which is null before its start. `aggregator_id`: the agent that puts the answer together, in `answer_run_id`;
    null if none is needed: then `final_response` is the result of the only task. `on_behalf_of`: the person whom its runs work
    for; `started_by`: who has started it. Both may control it, and so may editors. Amounts are in millionths of a dollar;
    `cost_micro`: of its tasks and its answer so far. `estimate_micro` is null if too little is known. `forked_from` is the
    board that it repeats from the task `forked_at` on."""

    kind: Literal["board"] = "board"
    chat_id: UUID
    planned_by: PlannedBy
    state: BoardState
    reason_code: BoardReason | None = None
    error: str | None = None
    user_input: str
    reasoning: str
    requires_aggregation: bool
    task_count: int
    max_at_once: int
    message_id: UUID | None = None
    supervisor_run_id: UUID | None = None
    call_id: str | None = None
    aggregator_id: UUID | None = None
    answer_run_id: UUID | None = None
    final_response: str | None = None
    forked_from: UUID | None = None
    forked_at: int | None = None
    on_behalf_of: UUID | None = None
    started_by: UUID | None = None
    pause_reason: BoardPause | None = None
    paused_by: UUID | None = None
    paused_at: datetime | None = None
    stopped_by: UUID | None = None
    limit_micro: int | None = None
    estimate_micro: int | None = None
    cost_micro: int
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None


class BoardDetailRow(Row):
    """A board with its tasks, in the order of their numbers."""

    board: BoardRow
    tasks: list[BoardTaskRow]


class TaskResultDetailRow(Row):
    """What an attempt at a task brought, with all its `data`: `{text, files}` or, if it `follows_schema`, what the output
    schema of the task describes. `message_id`: the message with its whole text. `description`: what the agent was asked for.
    `reused_from`: the id of the result of an earlier board. `read_texts`: whose texts it may contain, besides those of the
    person whom the board works for."""

    id: UUID
    task_id: UUID
    number: int
    agent_id: UUID
    agent_name: str
    attempt: int
    success: bool
    data: dict[str, Any] | None
    follows_schema: bool
    files: list[UUID]
    message_id: UUID | None
    error: str | None
    error_code: str | None
    execution_time: float
    description: str
    run_id: UUID | None
    reused_from: UUID | None
    is_late: bool
    input_tokens: int
    output_tokens: int
    cost_micro: int
    read_texts: ReadTexts
    created_at: datetime


class BoardSettingsRow(Row):
    """What a workspace has set for boards. `ask_above_micro`: a board without a supervisor whose estimate is higher, in
    millionths of a dollar, or whose cost cannot be estimated yet, waits for a person before it starts; null: none waits."""

    ask_above_micro: int | None
    revision: int


class BoardEstimateRow(Row):
    """What a plan may cost, in millionths of a dollar: the sum of the medians of the last results of its agents. Null if there
    are too few of one agent."""

    estimate_micro: int | None
