"""The operations of all kinds of runs."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
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
from common.writing import RowUpdate, WriteBatch
from context.transcript import Transcript
from events.rows import TextsOfOthers
from llm.messages import ToolCall
from llm.protocol import LLMError
from llm.sent_requests import Section
from llm.structured import AnswerForm
from runs.errors import LeaseLost
from runs.hooks import runs_ended
from runs.models import Run, RunState, Step
from runs.prepared_queries import LOCKED_ATTEMPT
from runs.runtime.claimed_run import ClaimedRun
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
from runs.runtime.sub_agents import queue_callers
from runs.runtime.waits import start_waits
from tools.interface import ToolOutput
from usage.owners import ResolvedModel

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

logger = logging.getLogger(__name__)

MAX_STORED_PROBLEMS = 2_000
"""Characters of what was wrong with an answer that are stored with its step."""
EMPTY_ANSWER = LoopEnded("failed", "empty_answer", "The model gave no answer.")


@dataclass(frozen=True)
class PreparedRun:
    """A claimed run with everything that its runner needs. Reading it makes no query."""

    claimed: ClaimedRun
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
    given_texts: TextsOfOthers | None = None
    """Of a run that reads nothing of its chat: whose texts it was given, besides those of its person; null: that is not known."""
    sections: tuple[Section, ...] = ()
    """The parts of the system text, in their order."""
    form: AnswerForm | None = None
    """The schema of the answer; null: the answer is a text."""
    repairs_left: int = 0
    """How often the model may be asked again for an answer that does not follow the schema."""

    @property
    def run(self) -> Run:
        """The run as it was claimed."""
        return self.claimed.row

    def build_conversation(self) -> Conversation:
        """Return the conversation at the next step of the run."""
        read, step = self.transcript, StepId(self.run.steps_done + 1, self.run.get_message_id())
        later = list(read.later_turns)
        return Conversation(
            list(read.turns),
            step,
            list(read.open_calls),
            later,
            self.max_context_tokens,
            self.sections,
            form=self.form,
            repairs_left=self.repairs_left,
        )


class RunKind(ABC):
    """The operations of one kind of run, for example a reply in a chat or a job. Objects have no state.

    `claimed` is the run as it was claimed. Every write is conditional on its attempt and its lease owner, and raises `LeaseLost`
    when another worker has the run (RUN3). Each `record_…` method is one transaction.
    """

    name: ClassVar[str]
    """The value of `Run.kind`."""
    label: "ClassVar[StrOrPromise]"
    """What the admin pages call it."""
    retry_refusal: "ClassVar[StrOrPromise | None]" = None
    """Why a run of this kind cannot be retried, for the person who tries to; null: it can."""
    is_participant: ClassVar[bool] = False
    """Whether its agent takes part in the conversation of its chat: the run moves the agent's read cursor, ends the queued
    runs of messages that it has read, mentions participants, wakes agents, and is part of the agent's history."""
    can_read_chat: ClassVar[bool] = False
    """Whether its tools may read its chat."""
    can_write_files: ClassVar[bool] = False
    """Whether its tools may write files into its chat, although they may not read it."""
    keeps_requests: ClassVar[bool] = False
    """Whether its requests to the model are kept, for those who may read them in its chat."""
    can_answer_in_part: ClassVar[bool] = False
    """Whether an answer is of use that a budget has cut."""
    is_only_run_of_key: ClassVar[bool] = False
    """Whether no other run has its concurrency key."""
    ends_when_orphaned: ClassVar[bool] = True
    """Whether a run fails when its process has found `MAX_FAILURES` times that it owns the run but does not execute it
    (`worker/sweeper.py`). If false, the run is queued again each time."""
    is_dispatched_before_commit: ClassVar[bool] = False
    """Whether a new run is sent to the workers as soon as its row is inserted, because its claim begins with the lock of its chat
    (`claim_posted_run`). Else it is sent on commit."""
    can_wait: ClassVar[bool] = False
    """Whether it can wait for people to decide about calls. Else calls that need a decision are refused."""
    shows_retry_time: ClassVar[bool] = True
    """Whether clients see when the model is asked again."""

    def lock(self, run: Run) -> None:  # noqa: B027
        """Lock the rows that must be locked before the run; none by default."""

    @abstractmethod
    def claim(self, waiting: Run, owner: str) -> ClaimedRun | None:
        """Start an attempt in the current transaction. Return null when the run was ended instead of started. Raises
        `LeaseLost` when it is not queued any more, and `IntegrityError` when another run of its concurrency key is active."""

    def claim_in_locked_chat(self, waiting: Run, owner: str) -> ClaimedRun | None:
        """Start an attempt as `claim` does. The chat is locked, and `waiting` was read by `NEXT_OF_SAME_KEY_TO_CLAIM` since. For
        kinds with `is_dispatched_before_commit`."""
        raise NotImplementedError

    @abstractmethod
    def prepare(self, claimed: ClaimedRun) -> PreparedRun:
        """Read what the runner needs. After a crash, the next worker reads it again and continues (RUN1)."""

    @abstractmethod
    def is_reader(self, run: Run) -> bool:
        """Return whether the person of a run reads all that its model is sent, so that their own model may answer."""

    @abstractmethod
    def open_stream(self, run: Run) -> StreamSink:
        """Return a new sink for the chunks of the answer."""

    @abstractmethod
    def lock_attempt(self, claimed: ClaimedRun, *, at_end: bool = False) -> RowUpdate[Run]:
        """Lock the chat, if the run has one; return the run's update. Raises `LeaseLost` and, unless `at_end`,
        `RunNotAllowed`."""

    @abstractmethod
    def save(self, update: RowUpdate[Run], changes: Sequence[RowChange] = ()) -> None:
        """Write the changes of the chat, then the update of the run. Extend the lease of a running run."""

    @abstractmethod
    def close(
        self,
        update: RowUpdate[Run],
        end: LoopEnded,
        changes: Sequence[RowChange] = (),
        *,
        claimed: ClaimedRun | None,
    ) -> None:
        """End the run without an answer, so that its chat or its listeners are notified, after the changes of the chat.
        `claimed`: null if the run ends without its worker."""

    def build_partial_messages(
        self, claimed: ClaimedRun, run: Run, partial: PartialMessage, model: ResolvedModel
    ) -> list[Message]:
        """Return the rows of a message that was not completed; none by default."""
        return []

    @abstractmethod
    def record_tool_results(self, claimed: ClaimedRun, event: ToolsFinished) -> StepSaved:
        """Store the results of calls. The returned `StepSaved` has the messages that others wrote meanwhile."""

    @abstractmethod
    def record_answer(self, claimed: ClaimedRun, model: ResolvedModel, event: ModelAnswered) -> StepSaved:
        """Store the model's answer. An answer without calls ends the run."""

    @transaction.atomic
    def record_tool_start(self, claimed: ClaimedRun, event: ToolsStarted) -> StepSaved:
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
    def record_retry(self, claimed: ClaimedRun, model: ResolvedModel, event: ModelRetried) -> StepSaved:
        """Store that the model is asked once more for the same message, as a new attempt (RUN11)."""
        update = self.lock_attempt(claimed)
        record_llm_call(update, model, event.error, claimed.request_recorder)
        self.save(update.set(attempt=update.row.attempt + 1))
        return build_step_saved(update.row)

    @transaction.atomic
    def record_retry_time(self, claimed: ClaimedRun, at: datetime) -> None:
        """Store when the model is asked again. A worker that reclaims the run does not ask before that."""
        self.save(self.lock_attempt(claimed).set(retry_at=at))

    @transaction.atomic
    def record_loop_end(
        self,
        claimed: ClaimedRun,
        model: ResolvedModel,
        end: LoopEnded,
        partial: PartialMessage | None = None,
        error: LLMError | None = None,
    ) -> None:
        """Store that the run is stopped, failed or waits, with the streamed part of an answer (RUN11,
        RUN16)."""
        is_waiting = end.how in ("waiting_approval", "waiting_child")
        update = self.lock_attempt(claimed, at_end=not is_waiting)
        if is_waiting and update.row.stop_requested_at is not None:
            is_waiting, end = False, LoopEnded("stopped")
        rows = self.build_partial_messages(claimed, update.row, partial, model) if partial is not None else []
        if error is not None:
            record_llm_call(update, model, error, claimed.request_recorder)
        run = update.row
        if not is_waiting:
            self.close(update, end, rows, claimed=claimed)
        elif end.how == "waiting_child":
            run.has_outside_texts = claimed.has_outside_texts
            self.save(update, [*rows, *start_waits(update, end.waits)])
        else:
            asked = ask_for_approvals(run.get_chat(), run.agent, claimed.row.on_behalf_of, run.id, end.requests)
            for message in asked:
                message.metadata, message.group_seq = run.metadata, run.group_seq
            update.set(state=RunState.WAITING_APPROVAL, waiting_since=now(), lease_owner="", lease_until=None)
            self.save(update, [*rows, *asked])

    @staticmethod
    def run_in_transaction(
        claimed: ClaimedRun, call: ToolCall, work: Callable[[], ToolOutput], seconds: float
    ) -> ToolOutput:
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
            run = claimed.row
            mine = Step.objects.filter(run=run, call_id=call.id, state="started", attempt=run.attempt)
            if not mine.update(state="done", result=result, ended_at=now()):
                raise LeaseLost("Another worker has stored a result of this call.")
        return output


def build_stored_result(status: str, text: str, *, quotes_agents: bool) -> dict[str, Any]:
    """Return the result of a call as its step stores it."""
    return {"status": status, "text": text} | ({"quotes_agents": True} if quotes_agents else {})


def read_attempt_update(query: PreparedQuery[Run], claimed: ClaimedRun) -> RowUpdate[Run]:
    """Read the stored run, and return an update of it as `build_attempt_update` does. Raises `LeaseLost`."""
    row = claimed.row
    return build_attempt_update(query.first(row.pk, row.attempt, row.lease_owner), claimed)


def build_attempt_update(run: Run | None, claimed: ClaimedRun) -> RowUpdate[Run]:
    """Return an update of the stored run that is written only if the same worker still has it. Raises `LeaseLost`."""
    attempt, owner = claimed.row.attempt, claimed.row.lease_owner
    if run is None or (run.attempt, run.lease_owner) != (attempt, owner):
        raise LeaseLost(f"Run {claimed.row.pk} belongs to another worker, or has ended.")
    return build_run_update(run, attempt=attempt, lease_owner=owner, state=RunState.RUNNING)


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


def build_changes_after_end(runs: Sequence[Run], *, has_answered: bool = False) -> list[RowChange]:
    """Return the changes that follow from the end of these runs: those that queue their callers, and those of the listeners of
    `runs_ended`. It is called before the end is written. The chat of the runs is locked.

    Errors of listeners are raised if the runs have answered: an answer is stored with all its effects, or not at all. Else
    they are logged, so that the runs end anyway; the sweeper would start them again and again.
    """
    if not runs:
        return []
    callers = queue_callers(runs)
    if has_answered:
        return [*callers, *runs_ended.call(runs)]
    try:
        with transaction.atomic():
            return [*callers, *runs_ended.call(runs)]
    except (LeaseLost, OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("A listener of the end of the runs %s failed.", [str(run.pk) for run in runs])
        return [*callers]


def get_lease_end() -> Combinable:
    """Return the end of a lease that begins now, by PostgreSQL's clock."""
    return _build_lease_end(settings.RUN_LEASE)


@lru_cache(maxsize=8)
def _build_lease_end(seconds: float) -> Combinable:
    return Now() + timedelta(seconds=seconds)


def add_llm_step(
    claimed: ClaimedRun, update: RowUpdate[Run], event: ModelAnswered, model: ResolvedModel, batch: WriteBatch
) -> None:
    """Add the step and the ledger entry of an answer to `batch`; set the usage and the id of the next message on the run."""
    record_llm_call(update, model, event.answer, claimed.request_recorder, batch=batch)
    result: dict[str, Any] = {"message_id": str(event.step.message_id), "finish": event.answer.finish}
    if event.answer.provider_fields is not None:
        result["provider_fields"] = asdict(event.answer.provider_fields)
    if event.problems:
        result["problems"] = event.problems[:MAX_STORED_PROBLEMS]
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
    batch.insert([row])
    update.set(steps_done=event.step.number, message_id=new_id())


def build_step_saved(run: Run) -> StepSaved:
    """Return the reply to the loop: the next step, and whether the run is to stop."""
    return StepSaved(StepId(run.steps_done + 1, run.get_message_id()), stop=run.stop_requested_at is not None)
