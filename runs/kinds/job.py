"""Jobs: runs without a chat, such as a summary or a merge. A job reads only its input."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from actors.models import AgentStatus
from agents.selectors import get_content
from chats.models import Chat
from chats.services import RowChange
from common.errors import Forbidden, NotFound
from common.writing import RowUpdate, WriteBatch
from context.transcript import Transcript
from events.rows import Stamp
from llm.adapters.service import SERVICE_NAME, build_service_request
from llm.endpoints import DEMO_MODEL, get_endpoint
from llm.messages import Turn
from llm.protocol import Endpoint
from llm.structured import AnswerForm
from runs.errors import LeaseLost, RunNotAllowed
from runs.kinds.base import (
    EMPTY_ANSWER,
    PreparedRun,
    RunKind,
    add_llm_step,
    build_changes_after_end,
    build_run_update,
    build_step_saved,
    extend_lease,
    finish_run,
    read_attempt_update,
    start_attempt,
)
from runs.models import KindName, Run, RunState
from runs.permissions import is_reader_of_chat
from runs.prepared_queries import ATTEMPT_OF_JOB
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.ledger import resolve_model_of_run
from runs.runtime.messages import build_stamp
from runs.runtime.steps import LoopEnded, ModelAnswered, StepSaved, ToolsFinished
from runs.runtime.streaming import StreamSink
from usage.owners import ResolvedModel
from usage.rules import build_rules_expression
from workspaces.permissions import WorkspaceVerb, get_workspace_for


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
    """A run without a chat. Each kind of job is a subclass, which the app registers that needs it (`register_kind`).

    The hook of its end is called before its row is written, because listeners lock chats, and chats are locked before runs.
    """

    agent_handle: ClassVar[str]
    """The shipped agent that does it."""
    retry_refusal = _("A summary or a merge is asked for again where it was asked for.")
    ends_when_orphaned = False
    shows_retry_time = False

    def claim(self, waiting: Run, owner: str) -> ClaimedRun | None:
        """Start an attempt of the job. Return null if it was ended: it was stopped, or its agent or person may not do it any
        more. Raises `LeaseLost` if it is not queued any more."""
        needed = ("agent__current_spec", "on_behalf_of", "workspace", "spec", "stopped_by")
        rules = build_rules_expression("payer")  # budgets and prices, which `prepare` and the ledger read
        run: Any = Run.objects.annotate(usage_rules=rules).select_related(*needed).filter(pk=waiting.pk).first()
        if run is None:
            raise LeaseLost(f"Run {waiting.pk} is gone.")
        update = build_run_update(run, state=RunState.QUEUED, attempt=waiting.attempt)
        if run.stop_requested_at is not None:
            self.close(update, LoopEnded("stopped"), claimed=None)
            return None
        try:
            check_job_rights(run)
            spec = run.spec or run.agent.current_spec
            if spec is None:
                raise RunNotAllowed("no_version", "The agent has no saved version.")
        except RunNotAllowed as obstacle:
            self.close(update, LoopEnded("failed", obstacle.code, obstacle.text), claimed=None)
            return None
        stamp = run.stamp or Stamp(spec_id=spec.id, version=spec.number).model_dump(mode="json")
        start_attempt(update, owner, spec, stamp).save()
        return ClaimedRun(run, usage_rules=run.usage_rules)

    def prepare(self, claimed: ClaimedRun) -> PreparedRun:
        run = claimed.row
        content, job_input = get_content(run.get_spec()), JobInput.from_run(run)
        form = None
        if service := self.find_service():
            turns = [Turn("user", build_service_request(run.id, self.name, job_input.input))]
            model = ResolvedModel(service, SERVICE_NAME)
        else:
            turns = [Turn("system", content.prompt), Turn("user", job_input.text)]
            is_reader = partial(self.is_reader, run)
            endpoint = get_endpoint(run.workspace, content.model, run.on_behalf_of, is_reader=is_reader)
            model = resolve_model_of_run(claimed, *endpoint)
            form = self.build_form(job_input) if model.endpoint.provider != DEMO_MODEL else None
        # Each earlier step was an answer that could not be used: a job has no tools.
        repairs_left = form.max_repairs - run.steps_done if form is not None else 0
        return PreparedRun(claimed, content, model, Transcript(turns), form=form, repairs_left=repairs_left)

    def build_form(self, job_input: JobInput) -> AnswerForm | None:
        """Return the schema that the answer of a model has to follow; null: the answer is a text.

        The answer is stored as text. Unless the form says otherwise (`must_fit`), it may be invalid after the last repair. The
        demo model and services get no form."""
        return None

    def format_answer(self, text: str) -> str:
        """Return a valid answer as it is stored."""
        return text

    def find_service(self) -> Endpoint | None:
        """Return the service of the operator that does this job instead of the agent, or null."""
        return None

    def is_reader(self, run: Run) -> bool:
        """The person has the right to read the input of the job (`start_job`)."""
        return run.on_behalf_of_id is not None

    def open_stream(self, run: Run) -> StreamSink:
        return StreamSink()

    def lock_attempt(self, claimed: ClaimedRun, *, at_end: bool = False) -> RowUpdate[Run]:
        # A job has no chat to lock: its update is written only if this worker still has the run.
        return read_attempt_update(ATTEMPT_OF_JOB, claimed)

    def save(self, update: RowUpdate[Run], changes: Sequence[RowChange] = ()) -> None:
        extend_lease(update).save()

    def close(
        self,
        update: RowUpdate[Run],
        end: LoopEnded,
        changes: Sequence[RowChange] = (),
        *,
        claimed: ClaimedRun | None,
    ) -> None:
        build_changes_after_end([finish_run(update, end).row])
        update.save()

    @transaction.atomic
    def record_tool_results(self, claimed: ClaimedRun, event: ToolsFinished) -> StepSaved:
        """Extend the lease. Nothing else is stored: a job has no tools, so every call was refused."""
        update = self.lock_attempt(claimed)
        self.save(update)
        return build_step_saved(update.row)

    @transaction.atomic
    def record_answer(self, claimed: ClaimedRun, model: ResolvedModel, event: ModelAnswered) -> StepSaved:
        update, answer = self.lock_attempt(claimed), event.answer
        run = update.row
        check_job_rights(run)
        batch = WriteBatch()
        add_llm_step(claimed, update, event, model, batch)
        batch.execute()
        update.set(stamp=build_stamp(claimed, run, model, answer).model_dump(mode="json"))
        if answer.calls or event.problems:
            self.save(update)
        elif answer.text.strip():
            finish_run(update).set(answer=self.format_answer(answer.text))
            build_changes_after_end([run], has_answered=True)
            update.save()
        else:
            self.close(update, EMPTY_ANSWER, claimed=claimed)
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


class ChatSummaryJob(Job):
    """The summary of the older messages of a chat, which `trigger_id` names."""

    name = KindName.CHAT_SUMMARY
    label = KindName.CHAT_SUMMARY.label
    agent_handle = "chat-summarizer"

    def is_reader(self, run: Run) -> bool:
        return is_reader_of_chat(run, Chat.objects.filter(pk=cast(UUID, run.trigger_id)).first())


CHAT_SUMMARY = ChatSummaryJob()
