"""Runs and their steps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import AgentSpec
from chats.models import Chat, Message, VersionedRow
from common.clock import now
from common.models import Identified, build_display_name
from events.payloads import MemoryScope
from events.rows import RunRow, Stamp
from tools.models import EFFECTS
from workspaces.models import Workspace

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


class RunState(models.TextChoices):
    """The state of a run. The last three are final."""

    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    WAITING_APPROVAL = "waiting_approval", _("Waiting for approval")
    WAITING_CHILD = "waiting_child", _("Waiting for a sub-agent")
    WAITING_BOARD = "waiting_board", _("Waiting for its board")
    COMPLETED = "completed", _("Done")
    FAILED = "failed", _("Failed")
    STOPPED = "stopped", _("Stopped")


ISOLATE_AFTER = 2
"""Crashes after which a run is executed in a process of its own."""
NOT_ENDED = (  # not final
    RunState.QUEUED,
    RunState.RUNNING,
    RunState.WAITING_APPROVAL,
    RunState.WAITING_CHILD,
    RunState.WAITING_BOARD,
)


class RunOrigin(models.TextChoices):
    """Why a run was created."""

    WAKE = "wake", _("wake")
    RETRY = "retry", _("retry")
    OTHER_ANSWER = "other", _("another answer")
    COMPARE = "compare", _("comparison")
    TASK = "task", _("task")
    JOB = "job", _("job")


class KindName(models.TextChoices):
    """The names of the kinds of runs that this app registers. Apps above it register others (`runs/kinds/__init__.py`)."""

    CHAT = "chat", _("reply")
    COMPARISON = "comparison", _("comparison")
    OTHER_ANSWER = "other_answer", _("another answer")
    SUB_AGENT = "sub_agent", _("task of another agent")
    CHAT_SUMMARY = "chat_summary", _("summary of a chat")
    AGENT_PROPOSAL = "agent_proposal", _("proposal of an agent")


KIND_LABELS: "dict[str, StrOrPromise]" = {}
"""The names of all registered kinds, and what the admin pages call them. `register_kind` fills it."""


def list_kind_choices() -> "Sequence[tuple[str, StrOrPromise]]":
    """Return the registered kinds as choices of a field. A new kind needs no migration."""
    return list(KIND_LABELS.items())


def build_concurrency_key(agent_id: UUID, chat_id: UUID, memory_scope: MemoryScope) -> str:
    """Return the key of an agent's runs in a chat. At most one run of a key is running or waits for sub-agents: an agent with one
    memory for all its chats has one key for all of them."""
    return f"{agent_id}" if memory_scope == "agent" else f"{agent_id}:{chat_id}"


class Run(Identified, VersionedRow):
    """The work of an agent on one message in a chat, on a task of another agent, on one side of a comparison, or on a job.

    At most one run of a `concurrency_key` is running or waits for sub-agents. `attempt` is the fencing token of its writes. `spec`
    is set by the first claim or the start of a comparison. `message_id`: the id of the current step's message, set before its first
    chunk. `read_to`: the version of the chat up to which the run has read. `answered_ids`: the messages that address the agent and
    that the run has read. `replies_to_trigger`: the message that woke the agent is not the newest, so the run's texts reply to it.
    `group_seq`: of a run that gives another answer, as of its messages. `agent_hops`: messages of agents in a row that led to the
    run. Before `retry_at`, it is not claimed and asks no model.

    A run that does a task has it as its `input`. `path` has the agents from the first to this one; if a person has given the first
    task, it begins with the person. The messages of the run have its
    `metadata`. It ends at `deadline_at`, or later by the time that it waits for people. The run of a sub-agent also has a `parent`,
    whose call `call_id` gave it its task.
    """

    # A new run is not inserted if its concurrency key has a queued run in the same chat, which will read this message, too.
    ignores_conflicts = True
    # Of a new run: the message that is inserted or edited with it, and that gets its version only then (`assign_version`). The
    # version of a new message is its `seq`.
    trigger: Message | None = None
    # Of a run that is just ending, for the listeners of `runs_ended`: the message that is its answer, and whether its model has
    # read texts from outside besides those of the chat. Null: that is not known.
    answer_message: Message | None = None
    has_outside_texts: bool | None = None

    workspace = models.ForeignKey(Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="runs")
    chat = models.ForeignKey(
        Chat, verbose_name=_("chat"), null=True, on_delete=models.CASCADE, related_name="runs", db_index=False
    )
    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(_("kind"), max_length=24, choices=list_kind_choices, default=KindName.CHAT)
    origin = models.CharField(_("origin"), max_length=12, choices=RunOrigin.choices, default=RunOrigin.WAKE)
    trigger_id = models.UUIDField(_("trigger id"), null=True)
    trigger_seq = models.BigIntegerField(_("trigger seq"), default=0)
    concurrency_key = models.CharField(_("concurrency key"), max_length=90)
    root = models.ForeignKey(
        "self", verbose_name=_("root"), null=True, on_delete=models.CASCADE, related_name="tree", db_index=False
    )
    parent = models.ForeignKey(
        "self", verbose_name=_("parent"), null=True, on_delete=models.CASCADE, related_name="children", db_index=False
    )
    depth = models.PositiveSmallIntegerField(_("depth"), default=0)
    path = ArrayField(models.UUIDField(), verbose_name=_("path"), default=list)
    call_id = models.CharField(_("call id"), max_length=80, blank=True, default="")
    metadata = models.JSONField(_("metadata"), null=True)
    deadline_at = models.DateTimeField(_("deadline at"), null=True)
    agent_hops = models.PositiveSmallIntegerField(_("agent hops"), default=0)
    on_behalf_of = models.ForeignKey(
        "actors.Actor", verbose_name=_("on behalf of"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The author of the message that the run answers. A retry may work for another person.
    triggered_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("triggered by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Who woke the agent: the author of a message (also an agent), the person who did it by hand, or the owner of the schedule.
    woken_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("woken by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    payer = models.ForeignKey(
        Workspace, verbose_name=_("payer"), on_delete=models.CASCADE, related_name="paid_runs", db_index=False
    )

    spec = models.ForeignKey(
        AgentSpec, verbose_name=_("spec"), null=True, on_delete=models.PROTECT, related_name="runs"
    )
    stamp = models.JSONField(_("stamp"), null=True)
    state = models.CharField(_("state"), max_length=20, choices=RunState.choices, default=RunState.QUEUED)
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    crashes = models.PositiveSmallIntegerField(_("crashes"), default=0)
    # The process that was presumed dead when a crash was counted last. If it lives, it withdraws the crash.
    presumed_dead = models.CharField(_("presumed dead"), max_length=80, blank=True, default="")
    lease_owner = models.CharField(_("lease owner"), max_length=80, blank=True, default="")
    lease_until = models.DateTimeField(_("lease until"), null=True)
    retry_at = models.DateTimeField(_("retry at"), null=True)
    # When its task was sent. Null: the next sweep sends one; an isolated run is started by the sweep only, not by a task.
    dispatched_at = models.DateTimeField(_("dispatched at"), null=True)
    stop_requested_at = models.DateTimeField(_("stop requested at"), null=True)
    stopped_by = models.ForeignKey(
        "actors.Actor",
        verbose_name=_("stopped by"),
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )

    steps_done = models.PositiveSmallIntegerField(_("steps done"), default=0)
    message_id = models.UUIDField(_("message id"), null=True)
    read_to = models.BigIntegerField(_("read to"), default=0)
    answered_ids = ArrayField(models.UUIDField(), verbose_name=_("answered ids"), default=list)
    # Messages that were edited or deleted after the running run had read them. It reads them again at its next step. If it answers
    # before, they stay here.
    changed_ids = ArrayField(models.UUIDField(), verbose_name=_("changed ids"), default=list)
    group_seq = models.BigIntegerField(_("group seq"), null=True)
    replies_to_trigger = models.BooleanField(_("replies to trigger"), default=False)
    limits = models.JSONField(_("limits"), default=dict)
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    cost_micro = models.BigIntegerField(_("cost micro"), default=0)
    error_code = models.CharField(_("error code"), max_length=40, blank=True, default="")
    error = models.CharField(_("error"), max_length=600, blank=True, default="")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    started_at = models.DateTimeField(_("started at"), null=True)
    # Since when it waits for people, until it is claimed again, and how long it has waited before.
    waiting_since = models.DateTimeField(_("waiting since"), null=True)
    waited_seconds = models.FloatField(_("waited seconds"), default=0.0)
    ended_at = models.DateTimeField(_("ended at"), null=True)
    # Of a job (`JobInput`) and of a run that does a task (`TaskInput`).
    input = models.JSONField(_("input"), null=True)
    # Of a job.
    answer = models.TextField(_("answer"), blank=True, default="")

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        constraints = [
            models.UniqueConstraint(
                fields=["concurrency_key"],
                condition=Q(state__in=["running", "waiting_child"]),
                name="one_active_run_per_concurrency_key",
            ),
            models.UniqueConstraint(
                # An agent with one memory for all its chats has one key; each of its chats has a queued run.
                fields=["concurrency_key", "chat"],
                condition=Q(state="queued", origin="wake", attempt=0),
                name="one_queued_run_per_key_and_chat",
            ),
            models.UniqueConstraint(
                fields=["concurrency_key", "trigger_id"],
                condition=Q(origin="wake"),
                name="one_run_per_concurrency_key_and_trigger",
            ),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="run_state_known"),
            models.CheckConstraint(
                condition=~Q(state="running") | Q(lease_until__isnull=False), name="running_run_has_lease"
            ),
            models.CheckConstraint(
                # Any other kind is a job or, in a chat, a task that no run has given.
                condition=Q(
                    kind__in=["chat", "comparison", "other_answer"], chat__isnull=False, parent=None, input__isnull=True
                )
                | Q(kind="sub_agent", chat__isnull=False, parent__isnull=False, input__isnull=False)
                | ~Q(kind__in=["", "chat", "comparison", "other_answer", "sub_agent"])
                & Q(parent=None, input__isnull=False),
                name="run_has_columns_of_kind",
            ),
            models.UniqueConstraint(
                fields=["parent", "call_id"], condition=Q(parent__isnull=False), name="one_child_per_call"
            ),
            # A task is given again with another key, such as that of its next attempt.
            models.UniqueConstraint(
                fields=["concurrency_key"], condition=Q(origin="task"), name="one_run_per_key_of_task"
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "lease_until"],
                condition=Q(state__in=["queued", "running", "waiting_child", "waiting_approval", "waiting_board"]),
                name="runs_alive",
            ),
            models.Index(fields=["chat", "-created_at"], name="runs_of_chat"),
            # Partial, because these keys are null in most runs: every claim and step would write them into a full index.
            models.Index(fields=["root"], condition=Q(root__isnull=False), name="runs_of_tree"),
            models.Index(fields=["stopped_by"], condition=Q(stopped_by__isnull=False), name="runs_stopped_by"),
            # Not partial: PostgreSQL could not use a partial index for a prepared statement whose state is a parameter.
            models.Index(fields=["concurrency_key", "state", "id"], name="runs_by_concurrency_key"),
        ]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'agent')} · …{str(self.id)[-8:]}"

    @property
    def tree_id(self) -> UUID:
        """The id of the first run of its tree; it may be this run."""
        return self.root_id or self.id

    @property
    def agent_path(self) -> list[UUID]:
        """`path`, or this agent alone: the path of a run without a task is empty."""
        return self.path or [self.agent_id]

    def compute_seconds_left(self, max_seconds: float) -> float:
        """Return the seconds until its limit of time, which may be negative. The time that it waits for people does not count."""
        left = max_seconds + self.waited_seconds
        if self.started_at is not None:
            left -= (now() - self.started_at).total_seconds()
        if self.deadline_at is not None:
            left = min(left, (self.deadline_at - now()).total_seconds() + self.waited_seconds)
        return left

    @property
    def is_isolated(self) -> bool:
        """Whether only an isolated process executes it, because other processes died while they did (RUN9, ADR 0009)."""
        return self.crashes >= ISOLATE_AFTER

    def get_chat_id(self) -> UUID:
        """Return the id of the chat it works in. Raises `TypeError` for a job."""
        if self.chat_id is None:
            raise TypeError(f"Run {self.pk} is a job: it has no chat.")
        return self.chat_id

    def get_chat(self) -> Chat:
        """Return the chat it works in. Raises `TypeError` for a job."""
        if self.chat is None:
            raise TypeError(f"Run {self.pk} is a job: it has no chat.")
        return self.chat

    def get_spec(self) -> AgentSpec:
        """Return the spec that its first claim has set. Raises `TypeError` before that."""
        if self.spec is None:
            raise TypeError(f"Run {self.pk} has not been claimed.")
        return self.spec

    def get_message_id(self) -> UUID:
        """Return the id of the message that its current step writes. Raises `TypeError` before its first claim."""
        if self.message_id is None:
            raise TypeError(f"Run {self.pk} has not been claimed.")
        return self.message_id

    @property
    def is_stored(self) -> bool:
        """Whether the row was inserted. A new run is not, if its concurrency key had a queued run in the same chat."""
        return not self._state.adding

    def assign_version(self, version: int) -> None:
        self.version = version
        if self.trigger is not None:
            self.trigger_seq = self.trigger.version

    def list_message_ids(self) -> list[UUID]:
        """Return the ids of the messages that a run in a chat answers: the one that started it, and `answered_ids`."""
        return list(dict.fromkeys(id for id in (self.trigger_id, *self.answered_ids) if id is not None))

    def to_row(self) -> RunRow:
        answers_others = any(id != self.trigger_id for id in self.answered_ids)
        return RunRow(
            id=self.id,
            chat_id=self.get_chat_id(),
            version=self.version,
            agent_id=self.agent_id,
            state=self.state,
            attempt=self.attempt,
            trigger_id=self.trigger_id,
            answered_ids=self.answered_ids if answers_others and self.ended_at is None else None,
            group_seq=self.group_seq,
            parent_id=self.parent_id,
            metadata=self.metadata,
            steps=self.steps_done,
            max_steps=self.limits.get("max_steps"),
            on_behalf_of=self.on_behalf_of_id,
            triggered_by=self.triggered_by_id,
            stamp=Stamp.model_validate(self.stamp) if self.stamp else None,
            stopping=self.stop_requested_at is not None and self.ended_at is None,
            error_code=self.error_code or None,
            error=self.error or None,
            retry_at=self.retry_at if self.ended_at is None else None,
            created_at=self.created_at,
            started_at=self.started_at,
            ended_at=self.ended_at,
        )


class Step(Identified):
    """An answer of a model, or a tool call. A call is stored as `started` before it is made, so a crash during it shows (RUN15).

    `effect` is that of the tool at the call, because an agent may lose the tool, or its effect may change, during a run. It is
    empty for an answer of a model.
    """

    run = models.ForeignKey(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="steps", db_index=False)
    number = models.PositiveSmallIntegerField(_("number"))
    index = models.PositiveSmallIntegerField(_("index"), default=0)
    kind = models.CharField(_("kind"), max_length=4, choices=[("llm", _("llm")), ("tool", _("tool"))])
    state = models.CharField(_("state"), max_length=8, choices=[("started", _("started")), ("done", _("done"))])
    attempt = models.PositiveIntegerField(_("attempt"))
    call_id = models.CharField(_("call id"), max_length=80, blank=True, default="")
    name = models.CharField(_("name"), max_length=64, blank=True, default="")
    effect = models.CharField(_("effect"), max_length=5, choices=EFFECTS, blank=True, default="")
    result: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(_("result"), default=dict)
    started_at = models.DateTimeField(_("started at"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)

    class Meta:
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        constraints = [models.UniqueConstraint(fields=["run", "number", "kind", "index"], name="each_step_once")]

    def __str__(self) -> str:
        return f"{self.number}.{self.index} {self.name or self.kind}"
