"""Boards: the tasks of a plan, what each of them follows, and what they brought."""

import json
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from chats.models import Chat, VersionedRow
from common.models import Identified, build_display_name
from events.payloads import ReadTexts
from events.rows import (
    BoardPause,
    BoardReason,
    BoardRow,
    BoardState,
    BoardTaskRow,
    BoardTaskState,
    FailureRule,
    JoinRule,
    PlannedBy,
    TaskResultDetailRow,
    TaskResultRow,
)
from memory.models import READ_TEXTS
from runs.models import Run
from workspaces.models import Workspace

ENDED_BOARD_STATES = (BoardState.COMPLETED, BoardState.FAILED)
ENDED_TASK_STATES = (
    BoardTaskState.SUCCEEDED,
    BoardTaskState.FAILED,
    BoardTaskState.SKIPPED,
    BoardTaskState.CANCELLED,
)
MAX_SHOWN_CHARACTERS = 2_000
"""Characters of a result that clients get with its task. All of it is read with the results of the board."""


class Board(Identified, VersionedRow):
    """The execution of a plan in a chat, whatever has made the plan.

    `task_count`: the number of its tasks, 0 before there is a plan. `supervisor_run`: the run that has made the plan by its
    call `call_id`, and waits for the board. `aggregator`: the agent that puts the answer together in `answer_run`; with a
    supervisor, it is that agent in that run. `message_id`: the message at which it is shown, if it has no supervisor. `epoch`
    rises when the results of what is under way are no longer used: what an earlier epoch has started is late. `limit_micro`:
    what it may cost. `read_texts`: whose texts its `user_input` may contain, besides those of the person for whom it works.
    `answers_ended`: how many runs of the answer a budget has ended. When the board is resumed after that, `answer_run` is a new
    run, also if the board has a supervisor.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="boards"
    )
    chat = models.ForeignKey(
        Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="boards", db_index=False
    )
    planned_by = models.CharField(_("planned by"), max_length=8, choices=PlannedBy.choices)
    state = models.CharField(_("state"), max_length=12, choices=BoardState.choices, default=BoardState.INIT)
    reason_code = models.CharField(_("reason code"), max_length=16, choices=BoardReason.choices, blank=True, default="")
    error = models.CharField(_("error"), max_length=600, blank=True, default="")
    user_input = models.TextField(_("user input"))
    read_texts = models.CharField(_("read texts"), max_length=8, choices=READ_TEXTS, blank=True, default="")
    reasoning = models.TextField(_("reasoning"), blank=True, default="")
    requires_aggregation = models.BooleanField(_("requires aggregation"), default=False)
    task_count = models.PositiveSmallIntegerField(_("tasks"), default=0)
    max_at_once = models.PositiveSmallIntegerField(_("tasks at once"), default=3)
    final_response = models.TextField(_("final response"), blank=True, default="")
    message_id = models.UUIDField(_("message id"), null=True)
    supervisor_run = models.ForeignKey(
        Run, verbose_name=_("supervisor's run"), null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    call_id = models.CharField(_("call id"), max_length=80, blank=True, default="")
    aggregator = models.ForeignKey(
        "actors.Actor", verbose_name=_("answers"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    answer_run = models.ForeignKey(
        Run, verbose_name=_("run of the answer"), null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    forked_from = models.ForeignKey(
        "self", verbose_name=_("repeats"), null=True, on_delete=models.SET_NULL, related_name="forks"
    )
    forked_at = models.PositiveSmallIntegerField(_("repeats from task"), null=True)
    answers_ended = models.PositiveSmallIntegerField(_("answers ended by a budget"), default=0)
    epoch = models.PositiveIntegerField(_("epoch"), default=0)
    on_behalf_of = models.ForeignKey(
        "actors.Actor", verbose_name=_("on behalf of"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    started_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("started by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    pause_reason = models.CharField(_("pause reason"), max_length=8, choices=BoardPause.choices, blank=True, default="")
    paused_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("paused by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    paused_at = models.DateTimeField(_("paused at"), null=True)
    stopped_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("stopped by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    limit_micro = models.BigIntegerField(_("limit micro"), null=True)
    estimate_micro = models.BigIntegerField(_("estimate micro"), null=True)
    cost_micro = models.BigIntegerField(_("cost micro"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    started_at = models.DateTimeField(_("started at"), null=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)

    class Meta:
        verbose_name = _("board")
        verbose_name_plural = _("boards")
        constraints = [
            models.CheckConstraint(condition=Q(state__in=BoardState.values), name="board_state_known"),
            models.CheckConstraint(condition=Q(planned_by__in=PlannedBy.values), name="board_planned_by_known"),
            models.CheckConstraint(
                condition=Q(state__in=["completed", "failed"], ended_at__isnull=False)
                | (~Q(state__in=["completed", "failed"]) & Q(ended_at=None)),
                name="ended_board_has_time",
            ),
            models.CheckConstraint(condition=~Q(user_input=""), name="board_has_input"),
            models.CheckConstraint(
                condition=~Q(state="completed") | ~Q(final_response=""), name="completed_board_has_response"
            ),
            models.CheckConstraint(
                condition=(Q(state="failed") & Q(reason_code__in=BoardReason.values))
                | (~Q(state="failed") & Q(reason_code="")),
                name="failed_board_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["init", "failed"]) | Q(task_count__gte=1), name="planned_board_has_tasks"
            ),
            models.CheckConstraint(
                condition=Q(task_count__lte=1) | Q(requires_aggregation=True), name="several_tasks_are_aggregated"
            ),
            models.CheckConstraint(
                condition=Q(paused_at=None, pause_reason="")
                | Q(paused_at__isnull=False, pause_reason__in=BoardPause.values),
                name="paused_board_has_reason",
            ),
            models.CheckConstraint(
                condition=~Q(planned_by="fork") | Q(forked_at__isnull=False), name="forked_board_has_task"
            ),
            models.CheckConstraint(condition=Q(max_at_once__gte=1), name="board_works_on_one_task"),
            models.UniqueConstraint(
                fields=["supervisor_run"],
                condition=Q(supervisor_run__isnull=False),
                name="one_board_per_supervisor_run",
            ),
            models.UniqueConstraint(
                fields=["answer_run"], condition=Q(answer_run__isnull=False), name="one_board_per_answer_run"
            ),
        ]
        indexes = [
            models.Index(fields=["chat", "-id"], name="boards_of_chat"),
            models.Index(fields=["id"], condition=Q(ended_at=None), name="boards_under_way"),
        ]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'chat')} · …{str(self.id)[-8:]}"

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED_BOARD_STATES

    @property
    def is_paused(self) -> bool:
        return bool(self.pause_reason)

    def to_row(self) -> BoardRow:
        return BoardRow(
            id=self.id,
            chat_id=self.chat_id,
            version=self.version,
            planned_by=PlannedBy(self.planned_by),
            state=BoardState(self.state),
            reason_code=BoardReason(self.reason_code) if self.reason_code else None,
            error=self.error or None,
            user_input=self.user_input,
            reasoning=self.reasoning,
            requires_aggregation=self.requires_aggregation,
            task_count=self.task_count,
            max_at_once=self.max_at_once,
            message_id=self.message_id,
            supervisor_run_id=self.supervisor_run_id,
            call_id=self.call_id or None,
            aggregator_id=self.aggregator_id,
            answer_run_id=self.answer_run_id,
            final_response=self.final_response or None,
            forked_from=self.forked_from_id,
            forked_at=self.forked_at,
            on_behalf_of=self.on_behalf_of_id,
            started_by=self.started_by_id,
            pause_reason=BoardPause(self.pause_reason) if self.pause_reason else None,
            paused_by=self.paused_by_id,
            paused_at=self.paused_at,
            stopped_by=self.stopped_by_id,
            limit_micro=self.limit_micro,
            estimate_micro=self.estimate_micro,
            cost_micro=self.cost_micro,
            created_at=self.created_at,
            started_at=self.started_at,
            ended_at=self.ended_at,
        )


class BoardTask(Identified, VersionedRow):
    """A task of a board. `number` is its address in the board, from 1; `after` has the numbers of the tasks that it follows, as
    `TaskEdge` has.

    `attempt`: the number of its last attempt; `run`: the run of that, since each attempt has one run; `epoch`: that of the board
    when this run was started. `output_schema`: the JSON schema of an object, which the data of its result has to follow; null: the
    result is a text. Its results are read with it: `stored_results` must be loaded for `to_row`. `read_texts`: whose texts its
    description and its parameters may contain, besides those of the person for whom the board works. `reason_code`: why it was
    skipped, has failed or was cancelled.
    """

    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="+")
    board = models.ForeignKey(
        Board, verbose_name=_("board"), on_delete=models.CASCADE, related_name="tasks", db_index=False
    )
    number = models.PositiveSmallIntegerField(_("number"))
    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="+")
    agent_name = models.CharField(_("agent name"), max_length=80)
    description = models.TextField(_("description"))
    replaced_description = models.TextField(_("replaced description"), blank=True, default="")
    parameters = models.JSONField(_("parameters"), default=dict)
    output_schema = models.JSONField(_("output schema"), null=True)
    read_texts = models.CharField(_("read texts"), max_length=8, choices=READ_TEXTS, blank=True, default="")
    file_ids = ArrayField(models.UUIDField(), verbose_name=_("files"), default=list)
    after = ArrayField(models.PositiveSmallIntegerField(), verbose_name=_("after"), default=list)
    join = models.CharField(_("join"), max_length=8, choices=JoinRule.choices, default=JoinRule.ALL)
    on_failure = models.CharField(_("on failure"), max_length=8, choices=FailureRule.choices, default=FailureRule.GO_ON)
    max_attempts = models.PositiveSmallIntegerField(_("attempts at most"), default=2)
    state = models.CharField(_("state"), max_length=12, choices=BoardTaskState.choices, default=BoardTaskState.PENDING)
    reason_code = models.CharField(_("reason code"), max_length=40, blank=True, default="")
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=0)
    epoch = models.PositiveIntegerField(_("epoch"), default=0)
    run = models.ForeignKey(
        Run, verbose_name=_("run"), null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    cost_micro = models.BigIntegerField(_("cost micro"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    started_at = models.DateTimeField(_("started at"), null=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)

    stored_results: "list[TaskResult]"

    class Meta:
        verbose_name = _("task of a board")
        verbose_name_plural = _("tasks of boards")
        constraints = [
            models.UniqueConstraint(fields=["board", "number"], name="one_task_per_number"),
            models.UniqueConstraint(fields=["run"], condition=Q(run__isnull=False), name="one_task_per_run"),
            models.CheckConstraint(condition=Q(number__gte=1), name="task_number_from_one"),
            models.CheckConstraint(condition=~Q(description=""), name="task_has_description"),
            models.CheckConstraint(condition=Q(state__in=BoardTaskState.values), name="task_state_known"),
            models.CheckConstraint(condition=Q(join__in=JoinRule.values), name="task_join_known"),
            models.CheckConstraint(condition=Q(on_failure__in=FailureRule.values), name="task_on_failure_known"),
            models.CheckConstraint(condition=Q(max_attempts__gte=1), name="task_is_tried"),
            models.CheckConstraint(
                condition=~Q(state="running") | Q(attempt__gte=1, run__isnull=False), name="running_task_has_run"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["succeeded", "failed", "skipped", "cancelled"], ended_at__isnull=False)
                | (~Q(state__in=["succeeded", "failed", "skipped", "cancelled"]) & Q(ended_at=None)),
                name="ended_task_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number} · {self.agent_name}"

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED_TASK_STATES

    def to_row(self) -> BoardTaskRow:
        return BoardTaskRow(
            id=self.id,
            chat_id=self.chat_id,
            version=self.version,
            board_id=self.board_id,
            number=self.number,
            agent_id=self.agent_id,
            agent_name=self.agent_name,
            description=self.description,
            replaced_description=self.replaced_description or None,
            parameters=self.parameters,
            file_ids=self.file_ids,
            output_schema=self.output_schema,
            after=self.after,
            join=JoinRule(self.join),
            on_failure=FailureRule(self.on_failure),
            state=BoardTaskState(self.state),
            reason_code=self.reason_code or None,
            attempt=self.attempt,
            max_attempts=self.max_attempts,
            run_id=self.run_id,
            results=[result.to_row() for result in self.stored_results],
            cost_micro=self.cost_micro,
            created_at=self.created_at,
            started_at=self.started_at,
            ended_at=self.ended_at,
        )


class TaskEdge(Identified):
    """One task follows another. It is settled once, when its source ends: taken or, if the source was skipped or cancelled,
    skipped. A taken edge does not say that the source has succeeded (`JoinRule`)."""

    OPEN: ClassVar[str] = ""
    TAKEN: ClassVar[str] = "taken"
    SKIPPED: ClassVar[str] = "skipped"
    STATES: ClassVar = [(OPEN, _("open")), (TAKEN, _("taken")), (SKIPPED, _("skipped"))]

    board = models.ForeignKey(Board, verbose_name=_("board"), on_delete=models.CASCADE, related_name="edges")
    source = models.ForeignKey(
        BoardTask, verbose_name=_("source"), on_delete=models.CASCADE, related_name="edges_out", db_index=False
    )
    target = models.ForeignKey(BoardTask, verbose_name=_("target"), on_delete=models.CASCADE, related_name="edges_in")
    state = models.CharField(_("state"), max_length=8, choices=STATES, blank=True, default=OPEN)

    class Meta:
        verbose_name = _("edge of a board")
        verbose_name_plural = _("edges of boards")
        constraints = [
            models.UniqueConstraint(fields=["source", "target"], name="one_edge_per_pair"),
            models.CheckConstraint(condition=~Q(source=F("target")), name="edge_has_two_ends"),
            models.CheckConstraint(condition=Q(state__in=["", "taken", "skipped"]), name="edge_state_known"),
        ]

    def __str__(self) -> str:
        return build_display_name(self, "source", "target")


class TaskResult(Identified):
    """What an attempt at a task brought. It is only appended: the database refuses updates, and deletions except by the purge of
    a workspace.

    `data` is `{text, files}` or, if `follows_schema`, what the output schema of the task describes. It has at most 64 kB; the
    whole text is in the message `message_id`. `file_ids`: the files that its run has written. `is_late`: it came when
    the attempt had ended already, and changed nothing. `description`: what was asked for. `read_texts`: whose texts it may
    contain, besides those of the person whom the board works for. `execution_time` is in seconds.
    """

    task = models.ForeignKey(
        BoardTask, verbose_name=_("task"), on_delete=models.CASCADE, related_name="results", db_index=False
    )
    attempt = models.PositiveSmallIntegerField(_("attempt"))
    success = models.BooleanField(_("success"))
    data = models.JSONField(_("data"), null=True)
    follows_schema = models.BooleanField(_("follows a schema"), default=False)
    file_ids = ArrayField(models.UUIDField(), verbose_name=_("files"), default=list)
    message_id = models.UUIDField(_("message id"), null=True)
    error = models.TextField(_("error"), null=True)
    error_code = models.CharField(_("error code"), max_length=40, blank=True, default="")
    execution_time = models.FloatField(_("execution time"))
    description = models.TextField(_("description"))
    read_texts = models.CharField(_("read texts"), max_length=8, choices=READ_TEXTS, blank=True, default="")
    run_id = models.UUIDField(_("run id"), null=True)
    reused_from = models.ForeignKey(
        "self", verbose_name=_("reused from"), null=True, on_delete=models.CASCADE, related_name="+"
    )
    is_late = models.BooleanField(_("is late"), default=False)
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    cost_micro = models.BigIntegerField(_("cost micro"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("result of a task")
        verbose_name_plural = _("results of tasks")
        constraints = [
            models.UniqueConstraint(
                fields=["task", "attempt"], condition=Q(is_late=False), name="one_result_per_attempt"
            ),
            models.CheckConstraint(
                condition=Q(success=True, data__isnull=False, error__isnull=True)
                | (Q(success=False, data__isnull=True, error__isnull=False) & ~Q(error="")),
                name="result_has_data_or_error",
            ),
            models.CheckConstraint(condition=Q(execution_time__gte=0), name="execution_time_not_negative"),
        ]
        indexes = [models.Index(fields=["task", "attempt"], name="results_of_task")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'task')} · {self.attempt}"

    @property
    def text(self) -> str:
        """The text of its data, which is JSON if it follows a schema; empty if it has none."""
        if self.follows_schema:
            return json.dumps(self.data, ensure_ascii=False)
        return str((self.data or {}).get("text", ""))

    def to_row(self) -> TaskResultRow:
        text = self.text
        return TaskResultRow(
            attempt=self.attempt,
            success=self.success,
            text=text[:MAX_SHOWN_CHARACTERS],
            is_cut=len(text) > MAX_SHOWN_CHARACTERS,
            follows_schema=self.follows_schema,
            files=self.file_ids,
            message_id=self.message_id,
            error=self.error,
            error_code=self.error_code or None,
            execution_time=self.execution_time,
            run_id=self.run_id,
            is_reused=self.reused_from_id is not None,
            is_late=self.is_late,
            cost_micro=self.cost_micro,
            created_at=self.created_at,
        )

    def to_detail_row(self) -> TaskResultDetailRow:
        """Return the row with all data. Its task must be loaded."""
        read_texts: ReadTexts = self.read_texts  # type: ignore[assignment]
        return TaskResultDetailRow(
            id=self.id,
            task_id=self.task_id,
            number=self.task.number,
            agent_id=self.task.agent_id,
            agent_name=self.task.agent_name,
            attempt=self.attempt,
            success=self.success,
            data=self.data,
            follows_schema=self.follows_schema,
            files=self.file_ids,
            message_id=self.message_id,
            error=self.error,
            error_code=self.error_code or None,
            execution_time=self.execution_time,
            description=self.description,
            run_id=self.run_id,
            reused_from=self.reused_from_id,
            is_late=self.is_late,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_micro=self.cost_micro,
            read_texts=read_texts,
            created_at=self.created_at,
        )
