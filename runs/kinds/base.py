"""The operations of a run, and what all kinds of runs have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar

from django.conf import settings
from django.db import connection, transaction
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from agents.models import AgentSpec
from agents.services.allowed_tools import ConfiguredTool
from agents.specs.content import SpecContent
from chats.models import Message
from chats.services import RowChange
from common.clock import now
from common.ids import new_id
from common.prepared_query import PreparedQuery
from common.writing import RowUpdate, insert
from llm.messages import ToolCall
from llm.protocol import LLMError
from runs.errors import LeaseLost
from runs.hot_queries import LOCKED_ATTEMPT
from runs.models import Run, RunState, Step
from runs.runtime.context import Transcript
from runs.runtime.conversation import Conversation
from runs.runtime.ledger import record_failed_llm_call, record_llm_call
from runs.runtime.rows import PartialMessage, ResolvedModel
from runs.runtime.steps import (
    ModelAnswered,
    ModelRetried,
    RunEnded,
    StepId,
    StepSaved,
    ToolResult,
    ToolsFinished,
    ToolsStarted,
)
from runs.runtime.streaming import StreamSink

EMPTY_ANSWER = RunEnded("failed", "empty_answer", "The model gave no answer.")


@dataclass(frozen=True)
class PreparedRun:
    """A claimed run with everything that it works with. Nothing in it needs another query."""

    run: Run
    content: SpecContent
    model: ResolvedModel
    transcript: Transcript
    tools: dict[str, ConfiguredTool]
    known_results: dict[str, ToolResult]
    past_calls: list[ToolCall]
    budget: int | None = None
    """Estimated tokens that the conversation may have; null: no part of it may be left out."""

    def build_conversation(self) -> Conversation:
        """Return the conversation at the next step of the run."""
        read, step = self.transcript, StepId(self.run.steps_done + 1, self.run.get_message_id())
        return Conversation(list(read.turns), step, list(read.open), list(read.later), budget=self.budget)


class RunKind(ABC):
    """The operations that differ between a run in a chat, one side of a comparison and a job. Objects have no state.

    `claimed` is the run as it was claimed. Every write needs the same attempt and owner, and raises `LeaseLost` when another
    worker has the run (RUN3). The `record_…` methods are one transaction each.
    """

    ends_when_orphaned: ClassVar[bool] = True
    """Whether a run that nothing executes is failed after some tries; else it counts its attempts itself."""
    shows_retry_time: ClassVar[bool] = True

    @abstractmethod
    def lock(self, run: Run) -> None:
        """Take the locks that come before the run's own in the order of locks."""

    @abstractmethod
    def claim(self, waiting: Run, owner: str) -> Run | None:
        """Start an attempt in the current transaction; return null when the run has ended instead. Raises `LeaseLost` when it
        is not queued any more, and `IntegrityError` when another run of its concurrency key is active."""

    @abstractmethod
    def prepare(self, run: Run) -> PreparedRun:
        """Read everything that a claimed run works with. After a crash the next owner reads the same again (RUN1)."""

    @abstractmethod
    def open_stream(self, run: Run) -> StreamSink:
        """Return the sink for the chunks of the answer."""

    @abstractmethod
    def lock_attempt(self, claimed: Run, *, at_end: bool = False) -> RowUpdate[Run]:
        """Lock what the run writes to and return the stored run. Raises `LeaseLost` and, unless it ends, `RunNotAllowed`."""

    @abstractmethod
    def save(self, update: RowUpdate[Run], changes: Sequence[RowChange] = ()) -> None:
        """Write the update of the run after the changes of its chat. While the run is at work, extend its lease."""

    @abstractmethod
    def close(self, update: RowUpdate[Run], end: RunEnded, changes: Sequence[RowChange] = ()) -> None:
        """End the run without an answer, visibly to those who wait for it, after the changes of its chat."""

    @abstractmethod
    def build_partial_rows(self, run: Run, partial: PartialMessage, model: ResolvedModel) -> list[Message]:
        """Return the rows of a message that was not completed."""

    @abstractmethod
    def record_tool_results(self, claimed: Run, step: ToolsFinished) -> StepSaved:
        """Store the results of calls. The reply has the messages that were written meanwhile."""

    @abstractmethod
    def record_answer(self, claimed: Run, model: ResolvedModel, step: ModelAnswered) -> StepSaved:
        """Store the model's answer. An answer without calls ends the run."""

    @transaction.atomic
    def record_tool_start(self, claimed: Run, step: ToolsStarted) -> StepSaved:
        """Store calls before they are made, so that a crash in between shows (RUN15)."""
        run = get_attempt(LOCKED_ATTEMPT, claimed).row
        fields: dict[str, Any] = {"number": run.steps_done, "kind": "tool", "state": "started", "attempt": run.attempt}
        steps = [Step(run=run, index=call.index, call_id=call.id, name=call.name, **fields) for call in step.calls]
        Step.objects.bulk_create(
            steps, update_conflicts=True, unique_fields=["run", "number", "kind", "index"], update_fields=["attempt"]
        )
        return build_step_saved(run)

    @transaction.atomic
    def record_retry(self, claimed: Run, model: ResolvedModel, step: ModelRetried) -> StepSaved:
        """Store that the model is asked once more for the same message, as a new attempt (RUN11)."""
        update = self.lock_attempt(claimed)
        record_failed_llm_call(update, step.error, model)
        self.save(update.set(attempt=update.row.attempt + 1))
        return build_step_saved(update.row)

    @transaction.atomic
    def record_retry_time(self, claimed: Run, at: datetime) -> None:
        """Store when the model is asked again. A worker that takes the run over does not ask before that."""
        self.save(self.lock_attempt(claimed).set(retry_at=at))

    @transaction.atomic
    def record_end(
        self,
        claimed: Run,
        model: ResolvedModel,
        end: RunEnded,
        partial: PartialMessage | None = None,
        error: LLMError | None = None,
    ) -> None:
        """Store that the run is stopped, fails or waits, with what was streamed of an answer (RUN11, RUN16)."""
        update = self.lock_attempt(claimed, at_end=True)
        rows = self.build_partial_rows(update.row, partial, model) if partial is not None else []
        if error is not None:
            record_failed_llm_call(update, error, model)
        if end.how == "waiting_approval":
            self.save(update.set(state=RunState.WAITING_APPROVAL, lease_owner="", lease_until=None), rows)
        else:
            self.close(update, end, rows)

    @staticmethod
    def run_in_transaction(claimed: Run, call: ToolCall, work: Callable[[], str], seconds: float) -> str:
        """Run a tool that uses our database, together with the record that it was done: both or neither."""
        with transaction.atomic():
            # PostgreSQL ends a transaction that hangs: a thread cannot be killed, but it holds no lock then.
            limit = f"{round((seconds + 1) * 1000)}ms"
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('statement_timeout', %s, true), "
                    "set_config('idle_in_transaction_session_timeout', %s, true)",
                    [limit, limit],
                )
            text = work()
            mine = Step.objects.filter(run=claimed, call_id=call.id, state="started", attempt=claimed.attempt)
            if not mine.update(state="done", result={"status": "ok", "text": text}, ended_at=now()):
                raise LeaseLost("Another worker has stored a result of this call.")
        return text


# --- changing a run ---------------------------------------------------------------------------------------------


def get_attempt(query: PreparedQuery[Run], claimed: Run) -> RowUpdate[Run]:
    """Return the run as it is stored now, in an update that needs the same worker to have it. Raises `LeaseLost`."""
    run = query.first(claimed.pk, claimed.attempt, claimed.lease_owner)
    if run is None:
        raise LeaseLost(f"Run {claimed.pk} belongs to another worker, or has ended.")
    return build_run_update(run, attempt=claimed.attempt, lease_owner=claimed.lease_owner, state=RunState.RUNNING)


def build_run_update(run: Run, **only_if: Any) -> RowUpdate[Run]:
    """Return an empty update of a run. Writing it raises `LeaseLost` unless the stored run matches `only_if` (RUN3)."""
    return RowUpdate(run, only_if=only_if, error=LeaseLost)


def start_attempt(update: RowUpdate[Run], owner: str, spec: AgentSpec, stamp: Any) -> RowUpdate[Run]:
    """Set the run to a new attempt of this process. Its version, its start and its message's id are those of the first."""
    run = update.row
    return update.set(
        spec=spec,
        stamp=stamp,
        limits=spec.limits,
        state=RunState.RUNNING,
        attempt=run.attempt + 1,
        lease_owner=owner,
        lease_until=get_lease_end(),
        started_at=run.started_at or now(),
        message_id=run.message_id or new_id(),
    )


def extend_lease(update: RowUpdate[Run]) -> RowUpdate[Run]:
    """Extend the lease of a run that is at work."""
    return update.set(lease_until=get_lease_end()) if update.row.state == RunState.RUNNING else update


def finish_run(update: RowUpdate[Run], end: RunEnded | None = None) -> RowUpdate[Run]:
    """Set the run to the state of its end, without a lease; `end` null: it has answered."""
    state = RunState(end.how) if end else RunState.COMPLETED
    code, text = (end.code[:40], end.text[:600]) if end else ("", "")
    return update.set(state=state, ended_at=now(), lease_owner="", lease_until=None, error_code=code, error=text)


def get_lease_end() -> Combinable:
    """Return the end of a lease that starts now, by PostgreSQL's clock."""
    return _build_lease_end(settings.RUN_LEASE)


@lru_cache(maxsize=8)
def _build_lease_end(seconds: float) -> Combinable:
    return Now() + timedelta(seconds=seconds)


def add_llm_step(update: RowUpdate[Run], step: ModelAnswered, model: ResolvedModel) -> None:
    """Store the step and the ledger's row of an answer; set on the run what it took, and the id of the next message."""
    record_llm_call(update, step.answer, model)
    row = Step(
        run=update.row,
        number=step.step.number,
        kind="llm",
        state="done",
        attempt=update.row.attempt,
        name=model.name[:64],
        result={"message_id": str(step.step.message_id), "finish": step.answer.finish},
        ended_at=now(),
    )
    insert([row])
    update.set(steps_done=step.step.number, message_id=new_id())


def build_step_saved(run: Run) -> StepSaved:
    """Return the reply to the loop: the next step, and whether the run is to stop."""
    return StepSaved(StepId(run.steps_done + 1, run.get_message_id()), stop=run.stop_requested_at is not None)


@lru_cache(maxsize=200)
def get_content(spec: AgentSpec) -> SpecContent:
    """Return the content of a spec, which never changes."""
    return spec.content()
