"""A job: a run without a chat, such as a summary or a merge. It reads only its input, and calls the hook `job_ended`."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from actors.models import AgentStatus
from agents.selectors import get_content
from chats.services import RowChange
from common.errors import Forbidden, NotFound
from common.writing import RowUpdate
from context.transcript import Transcript
from events.rows import Stamp
from llm.adapters.service import SERVICE_NAME, build_service_request
from llm.endpoints import get_endpoint, get_merge_service
from llm.messages import Turn
from runs.errors import LeaseLost, RunNotAllowed
from runs.hooks import job_ended
from runs.kinds.base import (
    EMPTY_ANSWER,
    PreparedRun,
    RunKind,
    add_llm_step,
    build_run_update,
    build_step_saved,
    extend_lease,
    finish_run,
    read_attempt_update,
    start_attempt,
)
from runs.models import Run, RunState
from runs.permissions import is_reader_of_run
from runs.prepared_queries import ATTEMPT_OF_JOB
from runs.runtime.ledger import resolve_model_of_run
from runs.runtime.messages import build_stamp
from runs.runtime.steps import LoopEnded, ModelAnswered, StepSaved, ToolsFinished
from runs.runtime.streaming import ProgressSink, StreamSink
from usage.owners import ResolvedModel
from usage.rules import build_rules_expression
from workspaces.permissions import WorkspaceVerb, get_workspace_for

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class JobInput:
    """The input of a job. `text`: for an agent; `input`: the same data for a service; `expected`: characters of the answer."""

    text: str
    input: dict[str, Any]
    expected: int

    @classmethod
    def from_run(cls, run: Run) -> "JobInput":
        """Return the input of this job. Raises `TypeError` for a run in a chat."""
        return cls(**(run.input or {}))


class Job(RunKind):
    """A run without a chat. The hook of its end is called before its row is written, because listeners lock chats, and chats
    are locked before runs."""

    ends_when_orphaned = False
    shows_retry_time = False

    def claim(self, waiting: Run, owner: str) -> Run | None:
        """Start an attempt of the job. Return null if it was ended: it was stopped, or its agent or person may not do it any more.
        Raises `LeaseLost` if it is not queued any more."""
        needed = ("agent__current_spec", "on_behalf_of", "workspace", "spec", "stopped_by")
        rules = build_rules_expression("payer")  # budgets and prices, which `prepare` and the ledger read
        run = Run.objects.annotate(usage_rules=rules).select_related(*needed).filter(pk=waiting.pk).first()
        if run is None:
            raise LeaseLost(f"Run {waiting.pk} is gone.")
        update = build_run_update(run, state=RunState.QUEUED, attempt=waiting.attempt)
        if run.stop_requested_at is not None:
            self.close(update, LoopEnded("stopped"))
            return None
        try:
            check_job_rights(run)
            spec = run.spec or run.agent.current_spec
            if spec is None:
                raise RunNotAllowed("no_version", "The agent has no saved version.")
        except RunNotAllowed as obstacle:
            self.close(update, LoopEnded("failed", obstacle.code, obstacle.text))
            return None
        stamp = run.stamp or Stamp(spec_id=spec.id, version=spec.number).model_dump(mode="json")
        start_attempt(update, owner, spec, stamp).save()
        return run

    def prepare(self, run: Run) -> PreparedRun:
        content, job_input = get_content(run.get_spec()), JobInput.from_run(run)
        if run.origin == "merge" and (service := get_merge_service()):
            turns = [Turn("user", build_service_request(run.id, run.origin, job_input.input))]
            model = ResolvedModel(service, SERVICE_NAME)
        else:
            turns = [Turn("system", content.prompt), Turn("user", job_input.text)]
            is_reader = partial(is_reader_of_run, run)
            endpoint = get_endpoint(run.workspace, content.model, run.on_behalf_of, is_reader=is_reader)
            model = resolve_model_of_run(run, *endpoint)
        return PreparedRun(run, content, model, Transcript(turns))

    def open_stream(self, run: Run) -> StreamSink:
        if run.origin != "merge" or run.trigger_id is None:
            return StreamSink()
        return ProgressSink(run.workspace_id, merge_id=run.trigger_id, expected=JobInput.from_run(run).expected)

    def lock_attempt(self, claimed: Run, *, at_end: bool = False) -> RowUpdate[Run]:
        # A job has no chat to lock: its update is written only if this worker still has the run.
        return read_attempt_update(ATTEMPT_OF_JOB, claimed)

    def save(self, update: RowUpdate[Run], changes: Sequence[RowChange] = ()) -> None:
        extend_lease(update).save()

    def close(self, update: RowUpdate[Run], end: LoopEnded, changes: Sequence[RowChange] = ()) -> None:
        run = finish_run(update, end).row
        try:
            with transaction.atomic():
                job_ended.call(run)
        except (LeaseLost, OperationalError, InterfaceError):
            raise
        except Exception:
            # End the job anyway: else the sweeper would start it again and again.
            logger.exception("A listener of the end of the job %s failed.", run.pk)
        update.save()

    @transaction.atomic
    def record_tool_results(self, claimed: Run, event: ToolsFinished) -> StepSaved:
        """Extend the lease. Nothing else is stored: a job has no tools, so every call was refused."""
        update = self.lock_attempt(claimed)
        self.save(update)
        return build_step_saved(update.row)

    @transaction.atomic
    def record_answer(self, claimed: Run, model: ResolvedModel, event: ModelAnswered) -> StepSaved:
        update, answer = self.lock_attempt(claimed), event.answer
        run = update.row
        check_job_rights(run)
        add_llm_step(update, event, model)
        update.set(stamp=build_stamp(run, model, answer).model_dump(mode="json"))
        if answer.calls:
            self.save(update)
        elif answer.text.strip():
            # Errors of listeners are not caught: the answer is stored with all its effects, or not at all.
            finish_run(update).set(answer=answer.text)
            job_ended.call(run)
            update.save()
        else:
            self.close(update, EMPTY_ANSWER)
        return build_step_saved(run)


def check_job_rights(run: Run) -> None:
    """Check that the agent is ready, and that the person whom the job works for is a member. Raises `RunNotAllowed`."""
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
