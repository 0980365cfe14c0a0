"""The operations of all kinds of runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from agents.models import AgentSpec
from agents.selectors import get_content
from agents.services.allowed_tools import ConfiguredTool
from agents.specs.content import SpecContent
from approvals.selectors import DecidedCall
from approvals.services import ask_for_approvals
from chats.models import Message
from chats.services import RowChange
from common.clock import now
from common.ids import new_id
from common.prepared_query import PreparedQuery
from common.writing import RowUpdate, insert
from context.transcript import Transcript
from llm.messages import ToolCall
from llm.protocol import LLMError
from llm.sent_requests import Section
from runs.errors import LeaseLost
from runs.models import Run, RunState, Step
from runs.prepared_queries import LOCKED_ATTEMPT
from runs.runtime.conversation import Conversation
from runs.runtime.history import StartedCalls
from runs.runtime.ledger import record_llm_call
from runs.runtime.messages import PartialMessage
from runs.runtime.steps import (
    LoopEnded,
    ModelAnswered,
    ModelRetried,
    StepId,
    StepSaved,
    ToolResult,
    ToolsFinished,
    ToolsStarted,
)
from runs.runtime.streaming import StreamSink
from runs.runtime.sub_agents import start_sub_agents
from tools.interface import ToolOutput
from usage.owners import ResolvedModel

EMPTY_ANSWER = LoopEnded("failed", "empty_answer", "The model gave no answer.")


@dataclass(frozen=True)
class PreparedRun:
    """A claimed run with everything that its runner needs. Reading it makes no query."""

    run: Run
    content: SpecContent
    model: ResolvedModel
    transcript: Transcript
    tools: dict[str, ConfiguredTool] = field(default_factory=dict)
    known_results: dict[str, ToolResult] = field(default_factory=dict)
    past_calls: list[ToolCall] = field(default_factory=list)
    started_calls: StartedCalls = field(default_factory=StartedCalls)
    decided_calls: Mapping[str, DecidedCall] = field(default_factory=dict)
    found_tools: frozenset[str] = frozenset()
    """The tools that the model has found or called in earlier attempts (`runs.runtime.offered_tools`)."""
    max_context_tokens: int | None = None
    """The most tokens, by an estimate, of the conversation without the system text; null: no turn is left out."""
    file_ids: tuple[UUID, ...] = ()
    """The files that a sub-agent may read."""
    has_outside_texts: bool = False
    """Whether the system text has pages or texts of others in the memory, or a tool is described outside the workspace."""
    sections: tuple[Section, ...] = ()
    """The parts of the system text, in their order."""

    def build_conversation(self) -> Conversation:
        """Return the conversation at the next step of the run."""
        read, step = self.transcript, StepId(self.run.steps_done + 1, self.run.get_message_id())
        later = list(read.later_turns)
        return Conversation(
            list(read.turns), step, list(read.open_calls), later, self.max_context_tokens, self.sections
        )


class RunKind(ABC):
    """The operations of one kind of run: in a chat, of a sub-agent, one side of a comparison, or a job. Objects have no state.

    `claimed` is the run as it was claimed. Every write is conditional on its attempt and its lease owner, and raises `LeaseLost`
    when another worker has the run (RUN3). Each `record_…` method is one transaction.
    """

    ends_when_orphaned: ClassVar[bool] = True
    """Whether a run fails when its process has found `MAX_FAILURES` times that it owns the run but does not execute it
    (`worker/sweeper.py`). If false, the run is queued again each time."""
    can_wait: ClassVar[bool] = False
    """Whether it can wait for people to decide about calls. Else calls that need a decision are refused."""
    shows_retry_time: ClassVar[bool] = True
    """Whether clients see when the model is asked again."""

    def lock(self, run: Run) -> None:  # noqa: B027
        """Lock the rows that must be locked before the run; none by default."""

    @abstractmethod
    def claim(self, waiting: Run, owner: str) -> Run | None:
        """Start an attempt in the current transaction. Return null when the run was ended instead of started. Raises
        `LeaseLost` when it is not queued any more, and `IntegrityError` when another run of its concurrency key is active."""

    @abstractmethod
    def prepare(self, run: Run) -> PreparedRun:
        """Read what the runner needs. After a crash, the next worker reads it again and continues (RUN1)."""

    @abstractmethod
    def open_stream(self, run: Run) -> StreamSink:
        """Return a new sink for the chunks of the answer."""

    @abstractmethod
    def lock_attempt(self, claimed: Run, *, at_end: bool = False) -> RowUpdate[Run]:
        """Lock the chat, if the run has one; return the run's update. Raises `LeaseLost` and, unless `at_end`, `RunNotAllowed`."""

    @abstractmethod
    def save(self, update: RowUpdate[Run], changes: Sequence[RowChange] = ()) -> None:
        """Write the changes of the chat, then the update of the run. Extend the lease of a running run."""

    @abstractmethod
    def close(self, update: RowUpdate[Run], end: LoopEnded, changes: Sequence[RowChange] = ()) -> None:
        """End the run without an answer, so that its chat or its listeners are notified, after the changes of the chat."""

    def build_partial_messages(self, run: Run, partial: PartialMessage, model: ResolvedModel) -> list[Message]:
        """Return the rows of a message that was not completed; none by default."""
        return []

    @abstractmethod
    def record_tool_results(self, claimed: Run, event: ToolsFinished) -> StepSaved:
        """Store the results of calls. The returned `StepSaved` has the messages that others wrote meanwhile."""

    @abstractmethod
    def record_answer(self, claimed: Run, model: ResolvedModel, event: ModelAnswered) -> StepSaved:
        """Store the model's answer. An answer without calls ends the run."""

    @transaction.atomic
    def record_tool_start(self, claimed: Run, event: ToolsStarted) -> StepSaved:
        """Store calls before they are made, so that a crash during one is known (RUN15). A repeated call keeps its row."""
        run = read_attempt_update(LOCKED_ATTEMPT, claimed).row
        fields: dict[str, Any] = {"number": run.steps_done, "kind": "tool", "state": "started", "attempt": run.attempt}
        fields["effect"] = event.effect
        steps = [Step(run=run, index=call.index, call_id=call.id, name=call.name, **fields) for call in event.calls]
        Step.objects.bulk_create(
            steps, update_conflicts=True, unique_fields=["run", "number", "kind", "index"], update_fields=["attempt"]
        )
        return build_step_saved(run)

    @transaction.atomic
    def record_retry(self, claimed: Run, model: ResolvedModel, event: ModelRetried) -> StepSaved:
        """Store that the model is asked once more for the same message, as a new attempt (RUN11)."""
        update = self.lock_attempt(claimed)
        record_llm_call(update, model, event.error)
        self.save(update.set(attempt=update.row.attempt + 1))
        return build_step_saved(update.row)

    @transaction.atomic
    def record_retry_time(self, claimed: Run, at: datetime) -> None:
        """Store when the model is asked again. A worker that reclaims the run does not ask before that."""
        self.save(self.lock_attempt(claimed).set(retry_at=at))

    @transaction.atomic
    def record_loop_end(
        self,
        claimed: Run,
        model: ResolvedModel,
        end: LoopEnded,
        partial: PartialMessage | None = None,
        error: LLMError | None = None,
    ) -> None:
        """Store that the run is stopped, failed or waits for people or other agents, with the streamed part of an answer (RUN11,
        RUN16)."""
        is_waiting = end.how in ("waiting_approval", "waiting_child")
        update = self.lock_attempt(claimed, at_end=not is_waiting)
        if is_waiting and update.row.stop_requested_at is not None:
            is_waiting, end = False, LoopEnded("stopped")
        rows = self.build_partial_messages(update.row, partial, model) if partial is not None else []
        if error is not None:
            record_llm_call(update, model, error)
        run = update.row
        if not is_waiting:
            self.close(update, end, rows)
        elif end.how == "waiting_child":
            self.save(update, [*rows, *start_sub_agents(update, end.tasks)])
        else:
            asked = ask_for_approvals(run.get_chat(), run.agent, claimed.on_behalf_of, run.id, end.requests)
            for message in asked:
                message.metadata = run.metadata
            update.set(state=RunState.WAITING_APPROVAL, waiting_since=now(), lease_owner="", lease_until=None)
            self.save(update, [*rows, *asked])

    @staticmethod
    def run_in_transaction(claimed: Run, call: ToolCall, work: Callable[[], ToolOutput], seconds: float) -> ToolOutput:
        """Run a tool that uses our database, and store its result, in one transaction."""
        with transaction.atomic():
            # A thread cannot be killed, but PostgreSQL ends its transaction, and so releases its locks.
            limit = f"{round((seconds + 1) * 1000)}ms"
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('statement_timeout', %s, true), "
                    "set_config('idle_in_transaction_session_timeout', %s, true)",
                    [limit, limit],
                )
            output = work()
            result = build_stored_result("ok", output.text, quotes_agents=output.quotes_agents)
            mine = Step.objects.filter(run=claimed, call_id=call.id, state="started", attempt=claimed.attempt)
            if not mine.update(state="done", result=result, ended_at=now()):
                raise LeaseLost("Another worker has stored a result of this call.")
        return output


def build_stored_result(status: str, text: str, *, quotes_agents: bool) -> dict[str, Any]:
    """Return the result of a call as its step stores it."""
    return {"status": status, "text": text} | ({"quotes_agents": True} if quotes_agents else {})


def read_attempt_update(query: PreparedQuery[Run], claimed: Run) -> RowUpdate[Run]:
    """Read the stored run, and return an update of it as `build_attempt_update` does. Raises `LeaseLost`."""
    return build_attempt_update(query.first(claimed.pk, claimed.attempt, claimed.lease_owner), claimed)


def build_attempt_update(run: Run | None, claimed: Run) -> RowUpdate[Run]:
    """Return an update of the stored run that is written only if the same worker still has it. Raises `LeaseLost`."""
    if run is None or (run.attempt, run.lease_owner) != (claimed.attempt, claimed.lease_owner):
        raise LeaseLost(f"Run {claimed.pk} belongs to another worker, or has ended.")
    run.request_recorder = claimed.request_recorder
    return build_run_update(run, attempt=claimed.attempt, lease_owner=claimed.lease_owner, state=RunState.RUNNING)


def build_run_update(run: Run, **only_if: Any) -> RowUpdate[Run]:
    """Return an empty update of a run. Writing it raises `LeaseLost` unless the stored run matches `only_if` (RUN3)."""
    return RowUpdate(run, only_if=only_if, error=LeaseLost)


def start_attempt(update: RowUpdate[Run], owner: str, spec: AgentSpec, stamp: Any) -> RowUpdate[Run]:
    """Set the run to a new attempt of this process. Later attempts keep `started_at` and `message_id`; `claim` keeps the spec."""
    run = update.row
    if run.waiting_since is not None:
        waited = run.waited_seconds + (now() - run.waiting_since).total_seconds()
        update.set(waiting_since=None, waited_seconds=waited)
    return update.set(
        spec=spec,
        stamp=stamp,
        limits=get_content(spec).limits.model_dump(),
        state=RunState.RUNNING,
        attempt=run.attempt + 1,
        lease_owner=owner,
        lease_until=get_lease_end(),
        started_at=run.started_at or now(),
        message_id=run.message_id or new_id(),
    )


def extend_lease(update: RowUpdate[Run]) -> RowUpdate[Run]:
    """Set the new end of the lease, if the run is running."""
    return update.set(lease_until=get_lease_end()) if update.row.state == RunState.RUNNING else update


def finish_run(update: RowUpdate[Run], end: LoopEnded | None = None) -> RowUpdate[Run]:
    """Set the final state of the run, and release its lease. Without `end`, it has answered: it is completed."""
    state = RunState(end.how) if end else RunState.COMPLETED
    code, text = (end.code[:40], end.text[:600]) if end else ("", "")
    return update.set(state=state, ended_at=now(), lease_owner="", lease_until=None, error_code=code, error=text)


def get_lease_end() -> Combinable:
    """Return the end of a lease that begins now, by PostgreSQL's clock."""
    return _build_lease_end(settings.RUN_LEASE)


@lru_cache(maxsize=8)
def _build_lease_end(seconds: float) -> Combinable:
    return Now() + timedelta(seconds=seconds)


def add_llm_step(update: RowUpdate[Run], event: ModelAnswered, model: ResolvedModel) -> None:
    """Insert the step and the ledger entry of an answer; set the usage and the id of the next message on the run."""
    record_llm_call(update, model, event.answer)
    result: dict[str, Any] = {"message_id": str(event.step.message_id), "finish": event.answer.finish}
    if event.answer.provider_fields is not None:
        result["provider_fields"] = asdict(event.answer.provider_fields)
    row = Step(
        run=update.row,
        number=event.step.number,
        kind="llm",
        state="done",
        attempt=update.row.attempt,
        name=model.name[:64],
        result=result,
        ended_at=now(),
    )
    insert([row])
    update.set(steps_done=event.step.number, message_id=new_id())


def build_step_saved(run: Run) -> StepSaved:
    """Return the reply to the loop: the next step, and whether the run is to stop."""
    return StepSaved(StepId(run.steps_done + 1, run.get_message_id()), stop=run.stop_requested_at is not None)
