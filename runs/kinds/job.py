"""A job: a run without a chat. It reads its input and nothing else, and who started it learns of its end by `job_ended`."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction

from actors.models import Actor, AgentStatus
from chats.services import RowChange
from common.errors import Forbidden, NotFound
from common.prepared_query import PreparedQuery
from common.writing import RowUpdate
from events.rows import Stamp
from llm.adapters.service import SERVICE_NAME, asked_of_service
from llm.endpoints import endpoint_for, merge_service
from llm.messages import Turn
from llm.protocol import LLMError
from runs.errors import LeaseLost, RunNotAllowed
from runs.hooks import job_ended
from runs.kinds.base import (
    FailedState,
    PreparedRun,
    RunKind,
    add_llm_step,
    build_query_of_attempt,
    build_step_saved,
    get_attempt,
    get_content,
)
from runs.kinds.transitions import build_run_update, finish_run, get_lease_end, start_attempt
from runs.models import Run, RunState
from runs.runtime.answer_rows import PartialMessage, ResolvedModel, build_stamp
from runs.runtime.context import Transcript
from runs.runtime.ledger import record_failed_llm_call
from runs.runtime.steps import ModelAnswered, ModelRetried, RunEnded, StepSaved, ToolsFinished
from runs.runtime.streaming import NullSink, ProgressSink, StreamSink
from workspaces.permissions import WorkspaceVerb, get_workspace_for

logger = logging.getLogger(__name__)

_CLAIMED: PreparedQuery[Run] = PreparedQuery(
    lambda run_id: Run.objects.filter(pk=run_id).select_related(
        "agent__current_spec", "on_behalf_of", "workspace", "spec", "stopped_by"
    ),
    UUID,
)
_ATTEMPT = build_query_of_attempt(lambda runs: runs.select_related("agent", "on_behalf_of", "stopped_by"))


@dataclass(frozen=True)
class JobInput:
    """What a job is asked: `text` for an agent, `input` the same as data for a service outside; `expected` is about how many
    characters the answer will have."""

    text: str
    input: dict[str, Any]
    expected: int

    @classmethod
    def of(cls, run: Run) -> "JobInput":
        """Return what this job was asked. Raises `TypeError` for a run in a chat."""
        return cls(**(run.job_input or {}))


class Job(RunKind):
    """A run without a chat. Its end is told before its row is written: listeners lock chats, and a run comes after those."""

    ends_when_orphaned = False
    shows_next_try = False

    def lock(self, run: Run) -> None:
        """Lock nothing: listeners of its end lock chats, and the fence alone decides who writes."""

    def claim(self, waiting: Run, owner: str) -> Run | None:
        run = _CLAIMED.first(waiting.pk)
        if run is None:
            raise LeaseLost(f"Run {waiting.pk} is gone.")
        update = build_run_update(run, state=RunState.QUEUED, attempt=waiting.attempt)
        if run.stop_requested_at is not None:
            self.close(update, RunState.STOPPED, by=run.stopped_by)
            return None
        try:
            check_job_rights(run)
            spec = run.spec or run.agent.current_spec
            if spec is None:
                raise RunNotAllowed("no_version", "The agent has no saved version.")
        except RunNotAllowed as obstacle:
            self.close(update, RunState.FAILED, code=obstacle.code, text=obstacle.text)
            return None
        stamp = run.stamp or Stamp(spec_id=spec.id, version=spec.number).model_dump(mode="json")
        start_attempt(update, owner).set(spec=spec, stamp=stamp, limits=spec.limits).save()
        return run

    def prepare(self, run: Run) -> PreparedRun:
        content, job_input = get_content(run.get_spec()), JobInput.of(run)
        if run.origin == "merge" and (service := merge_service()):
            turns = [Turn("user", asked_of_service(run.id, run.origin, job_input.input))]
            model = ResolvedModel(service, SERVICE_NAME)
        else:
            turns = [Turn("system", content.prompt), Turn("user", job_input.text)]
            model = ResolvedModel(*endpoint_for(run.workspace, content.model))
        return PreparedRun(run, content, model, Transcript(turns), {}, {}, [])

    def open_stream(self, run: Run) -> StreamSink:
        if run.origin != "merge" or run.trigger_id is None:
            return NullSink()
        return ProgressSink(run.workspace_id, merge_id=run.trigger_id, expected=JobInput.of(run).expected)

    def save(self, update: RowUpdate[Run], changes: Sequence[RowChange] = ()) -> None:
        update.save()

    def close(
        self, update: RowUpdate[Run], state: FailedState, *, by: Actor | None = None, code: str = "", text: str = ""
    ) -> None:
        run = finish_run(update, state, code=code, text=text).row
        try:
            with transaction.atomic():
                job_ended(run)
        except (LeaseLost, OperationalError, InterfaceError):
            raise
        except Exception:
            # A listener that breaks each time must not keep the job alive for ever, and the sweeper busy with it.
            logger.exception("A listener of the end of the job %s failed.", run.pk)
        update.save()

    @transaction.atomic
    def record_tool_results(self, claimed: Run, step: ToolsFinished) -> StepSaved:
        """Store nothing of them: a job has no tools, so every call was refused."""
        update = get_attempt(_ATTEMPT, claimed)
        self._extend_lease(update)
        return build_step_saved(update.row)

    @transaction.atomic
    def record_answer(self, claimed: Run, model: ResolvedModel, step: ModelAnswered) -> StepSaved:
        update, answer = get_attempt(_ATTEMPT, claimed), step.answer
        run = update.row
        check_job_rights(run)
        add_llm_step(update, step, model)
        update.set(stamp=build_stamp(run, model, answer.usage).model_dump(mode="json"))
        if answer.calls:
            self._extend_lease(update)
        elif answer.text.strip():
            # What a listener raises is raised here, so that the answer counts wholly or not at all.
            finish_run(update, RunState.COMPLETED).set(answer=answer.text)
            job_ended(run)
            update.save()
        else:
            self.close(update, RunState.FAILED, code="empty_answer", text="The model gave no answer.")
        return build_step_saved(run)

    @transaction.atomic
    def record_retry(self, claimed: Run, model: ResolvedModel, step: ModelRetried) -> StepSaved:
        update = get_attempt(_ATTEMPT, claimed)
        record_failed_llm_call(update, step.error, model)
        self._extend_lease(update.set(attempt=update.row.attempt + 1))
        return build_step_saved(update.row)

    @transaction.atomic
    def record_next_try(self, claimed: Run, at: datetime) -> None:
        self._extend_lease(get_attempt(_ATTEMPT, claimed).set(next_wake_at=at))

    @transaction.atomic
    def record_end(
        self,
        claimed: Run,
        model: ResolvedModel,
        end: RunEnded,
        partial: PartialMessage | None = None,
        error: LLMError | None = None,
    ) -> None:
        """Half an answer is none: `partial` is not kept."""
        update = get_attempt(_ATTEMPT, claimed)
        if error is not None:
            record_failed_llm_call(update, error, model)
        if end.how == "stopped":
            self.close(update, RunState.STOPPED, by=update.row.stopped_by)
        else:
            self.close(update, RunState.FAILED, code=end.code, text=end.text)

    def _extend_lease(self, update: RowUpdate[Run]) -> None:
        update.set(lease_until=get_lease_end()).save()


def check_job_rights(run: Run) -> None:
    """Check that the agent works and its person is a member: when a job starts and when it answers. Raises `RunNotAllowed`."""
    if run.agent.status != AgentStatus.READY or run.agent.taken_down_at is not None:
        raise RunNotAllowed("rights_lost", "An operator has suspended the agent that does this.")
    if run.on_behalf_of is None:
        raise RunNotAllowed("rights_lost", "The person it was asked by is gone.")
    try:
        get_workspace_for(run.on_behalf_of, run.workspace_id, WorkspaceVerb.SEE)
    except (NotFound, Forbidden) as error:
        text = "The person it was asked by is not a member of this workspace any more."
        raise RunNotAllowed("rights_lost", text) from error


JOB = Job()
