"""An agent at work: runs, their steps, and the ledger of what was asked of models."""

from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from agents.errors import LeaseLost
from agents.models.specs import AgentSpec
from chats.models import Chat, InChat, Message
from common.models import Identified, called
from common.writing import insert, update
from events.rows import RunRow, Stamp
from workspaces.models import Workspace


class RunState(models.TextChoices):
    """Where a run is (guarantees §2.3). The last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    WAITING_CHILD = "waiting_child"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


ALONE_AFTER = 2
"""Deaths of its process after which a run is tried in one of its own."""
FINAL = (RunState.COMPLETED, RunState.FAILED, RunState.STOPPED)
ACTIVE = (RunState.QUEUED, RunState.RUNNING, RunState.WAITING_APPROVAL, RunState.WAITING_CHILD)


class Run(Identified, InChat):
    """One piece of work by an agent. PostgreSQL is the truth about it; `attempt` is the fencing token of its writes.

    `lane` is where at most one run is at work: (agent, chat) by default. `spec` is fixed at the first claim, so that a
    retry, a takeover and the agent's eyes see the text that answered. `message_id` is the id of the message that the
    current step makes, fixed before its first byte (S2.4). `read_to` is the chat's version taken in so far.
    """

    # Only while it is being written: the message that wakes it, whose number is not known earlier; whether a run that
    # waits already makes this one needless; and what must still hold for the write.
    trigger: Message | None = None
    is_joined: bool = False
    _conditions: Mapping[str, Any] = {}

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="runs")
    chat = models.ForeignKey(Chat, null=True, on_delete=models.CASCADE, related_name="runs")
    agent = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="runs")
    origin = models.CharField(max_length=12, default="wake")
    trigger_id = models.UUIDField(null=True)
    trigger_seq = models.BigIntegerField(default=0)
    lane = models.CharField(max_length=90)
    root = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="tree")
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    depth = models.PositiveSmallIntegerField(default=0)
    path = ArrayField(models.UUIDField(), default=list)
    hops = models.PositiveSmallIntegerField(default=0)
    on_behalf_of = models.ForeignKey("actors.Actor", null=True, on_delete=models.SET_NULL, related_name="+")
    payer = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="paid_runs")

    spec = models.ForeignKey(AgentSpec, null=True, on_delete=models.PROTECT, related_name="runs")
    stamp = models.JSONField(null=True)
    state = models.CharField(max_length=20, choices=RunState.choices, default=RunState.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    crashes = models.PositiveSmallIntegerField(default=0)
    lease_owner = models.CharField(max_length=80, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    next_wake_at = models.DateTimeField(null=True)
    hinted_at = models.DateTimeField(null=True)
    stop_requested_at = models.DateTimeField(null=True)
    stopped_by = models.ForeignKey("actors.Actor", null=True, on_delete=models.SET_NULL, related_name="+")

    steps_done = models.PositiveSmallIntegerField(default=0)
    message_id = models.UUIDField(null=True)
    read_to = models.BigIntegerField(default=0)
    limits = models.JSONField(default=dict)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost_micro = models.BigIntegerField(default=0)
    error_code = models.CharField(max_length=40, blank=True, default="")
    error = models.CharField(max_length=600, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # Of a job, which has no chat: what it is asked, and what it answered.
    brief = models.JSONField(null=True)
    answer = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lane"], condition=Q(state__in=["running", "waiting_child"]), name="one_run_at_work_per_lane"
            ),
            models.UniqueConstraint(
                fields=["lane"],
                condition=Q(state="queued", origin="wake", attempt=0),
                name="one_queued_wake_per_lane",
            ),
            models.UniqueConstraint(
                fields=["lane", "trigger_id"], condition=Q(origin="wake"), name="one_wake_per_lane_and_trigger"
            ),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="run_state_known"),
            models.CheckConstraint(
                condition=~Q(state="running") | Q(lease_until__isnull=False), name="a_run_at_work_has_a_lease"
            ),
            models.CheckConstraint(
                condition=Q(chat__isnull=False, brief__isnull=True) | Q(chat=None, brief__isnull=False),
                name="a_run_has_a_chat_or_a_brief",
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "lease_until"],
                condition=Q(state__in=["queued", "running", "waiting_child", "waiting_approval"]),
                name="runs_alive",
            ),
            models.Index(fields=["chat", "-created_at"], name="runs_of_chat"),
        ]

    def __str__(self) -> str:
        return f"{called(self, 'agent')} · …{str(self.id)[-8:]}"

    @property
    def tree_id(self) -> UUID:
        """The root of the tree that is stopped together: itself, when it has no root."""
        return self.root_id or self.id

    @property
    def is_suspect(self) -> bool:
        """Whether so many processes died while they carried it that the next is to carry nothing else (B9, ADR 0009)."""
        return self.crashes >= ALONE_AFTER

    @property
    def is_compared(self) -> bool:
        """Whether its answer is one side of a comparison: it hears nobody, and nobody is woken by it (ADR 0012)."""
        return bool(self.stamp and self.stamp.get("compared"))

    @property
    def room_id(self) -> UUID:
        """The chat it works in; for code that is about runs in chats only."""
        assert self.chat_id is not None, "this run has no chat"
        return self.chat_id

    def only_if(self, **conditions: Any) -> Self:
        """Write only while this holds; otherwise `write` raises `LeaseLost`, and the whole transaction goes back (B3)."""
        self._conditions = conditions
        return self

    def write(self) -> bool:
        """Store it; false for a new wake that found one waiting in its lane: that one will read this message, too.

        The row was read with the chat held, so that what is not set here is as it is in the database.
        """
        if self._state.adding:
            return self._insert()
        touched: frozenset[str] = getattr(self, "_touched", frozenset())
        if not update(self, {"version", *touched}, only_if=self._conditions):
            raise LeaseLost(f"Run {self.pk} is not ours any more.")
        self._touched, self._conditions = frozenset(), {}
        return True

    def _insert(self) -> bool:
        if self.trigger is not None:
            self.trigger_seq = self.trigger.seq
        self.is_joined = not insert([self], ignore_conflicts=True)
        return not self.is_joined

    def row(self) -> RunRow:
        return RunRow(
            id=self.id, chat_id=self.room_id, version=self.version, agent_id=self.agent_id, state=self.state,
            attempt=self.attempt, trigger_id=self.trigger_id, on_behalf_of=self.on_behalf_of_id,
            stamp=Stamp.model_validate(self.stamp) if self.stamp else None,
            stopping=self.stop_requested_at is not None and self.ended_at is None,
            error_code=self.error_code or None, error=self.error or None,
            created_at=self.created_at, started_at=self.started_at, ended_at=self.ended_at,
        )  # fmt: skip


class Step(Identified):
    """One step of a run: an answer of a model, or one tool call. `started` is stored before the effect, so that a
    crash in between shows (B15)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveSmallIntegerField()
    index = models.PositiveSmallIntegerField(default=0)
    kind = models.CharField(max_length=4, choices=[("llm", "llm"), ("tool", "tool")])
    state = models.CharField(max_length=8, choices=[("started", "started"), ("done", "done")])
    attempt = models.PositiveIntegerField()
    call_id = models.CharField(max_length=80, blank=True, default="")
    name = models.CharField(max_length=64, blank=True, default="")
    result: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "number", "kind", "index"], name="each_step_once"),
        ]

    def __str__(self) -> str:
        return f"{self.number}.{self.index} {self.name or self.kind}"


class LLMCall(Identified):
    """The ledger: each request to a model, who asked on whose behalf, what it took and who paid (B2)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="llm_calls")
    step_number = models.PositiveSmallIntegerField()
    attempt = models.PositiveIntegerField()
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="llm_calls")
    agent = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="+")
    spec = models.ForeignKey(AgentSpec, null=True, on_delete=models.SET_NULL, related_name="+")
    on_behalf_of = models.ForeignKey("actors.Actor", null=True, on_delete=models.SET_NULL, related_name="+")
    provider = models.CharField(max_length=24)
    model = models.CharField(max_length=200)
    paid_by = models.CharField(max_length=12)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    tokens_estimated = models.BooleanField(default=False)
    cost_micro = models.BigIntegerField(null=True)
    tries = models.PositiveSmallIntegerField(default=1)
    first_token_ms = models.PositiveIntegerField(null=True)
    total_ms = models.PositiveIntegerField(null=True)
    finish = models.CharField(max_length=20, blank=True, default="")
    error_code = models.CharField(max_length=40, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["workspace", "-created_at"], name="ledger_by_workspace")]

    def __str__(self) -> str:
        return f"{called(self, 'run')} · {self.model}"
