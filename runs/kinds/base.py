"""What every kind of run has to offer, and what all of them do alike."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar, Literal
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from actors.models import Actor
from agents.models import AgentSpec
from agents.specs.content import SpecContent
from chats.services import RowChange
from common.clock import now
from common.ids import new_id
from common.prepared_query import PreparedQuery
from common.writing import RowUpdate, insert
from llm.messages import ToolCall
from llm.protocol import LLMError
from runs.errors import LeaseLost
from runs.kinds.transitions import build_run_update
from runs.models import Run, RunState, Step
from runs.runtime.answer_rows import PartialMessage, ResolvedModel
from runs.runtime.context import Transcript
from runs.runtime.conversation import Conversation
from runs.runtime.ledger import add_usage, record_llm_call
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
from runs.runtime.toolbox import ConfiguredTool

FailedState = Literal[RunState.STOPPED, RunState.FAILED]


@dataclass(frozen=True)
class PreparedRun:
    """A claimed run with all that it works with. Nothing in it asks the database again."""

    run: Run
    content: SpecContent
    model: ResolvedModel
    transcript: Transcript
    tools: dict[str, ConfiguredTool]
    known_results: dict[str, ToolResult]
    past_calls: list[ToolCall]
    budget: int | None = None
    """Estimated tokens that the conversation may have; null: nothing of it may be left out."""

    def build_conversation(self) -> Conversation:
        """Build the conversation at the point where the run stands."""
        read, step = self.transcript, StepId(self.run.steps_done + 1, self.run.get_message_id())
        return Conversation(list(read.turns), step, list(read.open), list(read.later), budget=self.budget)

    def get_parameters(self) -> dict[str, Any]:
        """Return the parameters of the model that the spec sets."""
        return self.content.parameters.model_dump(exclude_none=True)


def build_query_of_attempt(shape: Callable[[QuerySet[Run]], QuerySet[Run]]) -> PreparedQuery[Run]:
    """Build the query for a running run by its id, attempt and owner."""

    def build(id: UUID, attempt: int, owner: str) -> QuerySet[Run]:
        return shape(Run.objects.filter(pk=id, attempt=attempt, lease_owner=owner, state=RunState.RUNNING))

    return PreparedQuery(build, UUID, int, str)


_LOCKED = build_query_of_attempt(lambda runs: runs.select_for_update(no_key=True))


def get_attempt(query: PreparedQuery[Run], claimed: Run) -> RowUpdate[Run]:
    """Return the run as it is stored now, in an update that needs the same worker to have it. Raises `LeaseLost`."""
    run = query.first(claimed.pk, claimed.attempt, claimed.lease_owner)
    if run is None:
        raise LeaseLost(f"Run {claimed.pk} belongs to another worker, or has ended.")
    return build_run_update(run, attempt=claimed.attempt, lease_owner=claimed.lease_owner, state=RunState.RUNNING)


class RunKind(ABC):
    """The operations that differ between a run in a chat, one side of a comparison and a job. Objects have no state.

    `claimed` is the run as it was claimed. Every write is fenced by its attempt and owner and raises `LeaseLost` when
    another worker has the run (RUN3). The `record_…` methods are one transaction each.
    """

    ends_when_orphaned: ClassVar[bool] = True
    """Whether a run that nothing executes is failed after some tries; else it counts its attempts itself."""
    shows_next_try: ClassVar[bool] = True

    @abstractmethod
    def lock(self, run: Run) -> None:
        """Take the locks that come before the run's own in the order of locks."""

    @abstractmethod
    def claim(self, waiting: Run, owner: str) -> Run | None:
        """Start an attempt in the current transaction; null when the run has ended instead. Raises `LeaseLost` when it is
        not queued any more, and `IntegrityError` when another run of its concurrency key is active."""

    @abstractmethod
    def prepare(self, run: Run) -> PreparedRun:
        """Read all that a claimed run works with. Taking over after a crash is the same reading again (RUN1)."""

    @abstractmethod
    def open_stream(self, run: Run) -> StreamSink:
        """Return what passes the chunks of the answer on while it is made."""

    @abstractmethod
    def save(self, update: RowUpdate[Run], changes: Sequence[RowChange] = ()) -> None:
        """Write the update of the run, and the changes of its chat that belong to it."""

    @abstractmethod
    def close(
        self, update: RowUpdate[Run], state: FailedState, *, by: Actor | None = None, code: str = "", text: str = ""
    ) -> None:
        """End the run without an answer, visibly to those who wait for it."""

    @abstractmethod
    def record_tool_results(self, claimed: Run, step: ToolsFinished) -> StepSaved:
        """Store the results of calls; the answer carries the messages that came meanwhile."""

    @abstractmethod
    def record_answer(self, claimed: Run, model: ResolvedModel, step: ModelAnswered) -> StepSaved:
        """Store the model's answer; without calls, it ends the run. Raises `RunNotAllowed` when rights were withdrawn."""

    @abstractmethod
    def record_retry(self, claimed: Run, model: ResolvedModel, step: ModelRetried) -> StepSaved:
        """Store that the model is asked once more for the same message, as a new attempt (RUN11)."""

    @abstractmethod
    def record_next_try(self, claimed: Run, at: datetime) -> None:
        """Store when the model is asked again; who takes the run over does not ask before that."""

    @abstractmethod
    def record_end(
        self,
        claimed: Run,
        model: ResolvedModel,
        end: RunEnded,
        partial: PartialMessage | None = None,
        error: LLMError | None = None,
    ) -> None:
        """Store that the run is stopped, fails or waits, with what was streamed so far."""

    @transaction.atomic
    def record_tool_start(self, claimed: Run, step: ToolsStarted) -> StepSaved:
        """Store calls before they are made, so that a crash in between shows (RUN15)."""
        run = get_attempt(_LOCKED, claimed).row
        fields: dict[str, Any] = {"number": run.steps_done, "kind": "tool", "state": "started", "attempt": run.attempt}
        steps = [Step(run=run, index=call.index, call_id=call.id, name=call.name, **fields) for call in step.calls]
        Step.objects.bulk_create(
            steps, update_conflicts=True, unique_fields=["run", "number", "kind", "index"], update_fields=["attempt"]
        )
        return build_step_saved(run)

    @staticmethod
    def run_in_transaction(claimed: Run, call: ToolCall, work: Callable[[], str], seconds: float) -> str:
        """Run a tool that touches our database, together with the record that it was done: both or neither."""
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
                raise LeaseLost("Another worker has settled this call.")
        return text


def add_llm_step(update: RowUpdate[Run], step: ModelAnswered, model: ResolvedModel) -> None:
    """Store the step and the ledger's row of an answer; set on the run what it took, and the id of the next message."""
    run, answer = update.row, step.answer
    result = {"message_id": str(step.step.message_id), "finish": answer.finish}
    insert(
        [
            Step(
                run=run,
                number=step.step.number,
                kind="llm",
                state="done",
                attempt=run.attempt,
                name=model.name[:64],
                result=result,
                ended_at=now(),
            )
        ]
    )
    record_llm_call(run, step.step.number, answer, model)
    update.set(steps_done=step.step.number, message_id=new_id())
    add_usage(update, answer.usage)


def build_step_saved(run: Run) -> StepSaved:
    """Build the reply to the loop: the next step, and whether the run is to stop."""
    return StepSaved(StepId(run.steps_done + 1, run.get_message_id()), stop=run.stop_requested_at is not None)


@lru_cache(maxsize=200)
def get_content(spec: AgentSpec) -> SpecContent:
    """Return the content of a spec. A spec never changes, so it is read once."""
    return spec.content()
