"""Runs that do a task in a chat: the task is their input (`runs/runtime/tasks.py`)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction

from agents.models import AgentSpec
from agents.selectors import find_answering_spec, get_content
from agents.specs.content import Limits
from chats import services as chats
from chats.models import Chat, Message
from common.writing import RowUpdate, WriteBatch
from context.log_entries import build_entry, build_participant
from context.transcript import ChatContext, LogEntry, build_task_text
from events.rows import TextsOfOthers
from runs.errors import RunNotAllowed
from runs.kinds.base import (
    EMPTY_ANSWER,
    PreparedRun,
    add_llm_step,
    build_attempt_update,
    build_changes_after_end,
    build_run_update,
    build_step_saved,
    extend_lease,
    finish_run,
)
from runs.kinds.chat import ChatRun, ConversationSource, build_closing_changes
from runs.models import Run, RunState, Step
from runs.permissions import lock_chat_of_tasks
from runs.prepared_queries import ATTEMPTS, MESSAGES_OF_RUN, RUNS_TO_CLAIM
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.history import read_started_calls
from runs.runtime.messages import build_answer_messages
from runs.runtime.steps import ModelAnswered, StepSaved
from runs.runtime.tasks import TaskInput, build_result_form
from tools.selectors import parse_policies
from usage.owners import ResolvedModel


@dataclass(frozen=True)
class TaskAnswer:
    """An answer of the model of a task's run that is to be stored."""

    claimed: ClaimedRun
    model: ResolvedModel
    event: ModelAnswered


class TaskRun(ChatRun):
    """A run whose agent reads its task and the messages of this run, and nothing else of the chat.

    An app that gives tasks registers a subclass (`register_kind`) with its `name`, its `label` and a `retry_refusal`, because it
    gives a failed task again by itself. Who has given the task, the files and the limits of the run are in its input."""

    is_participant = False
    has_memory = False
    can_read_chat = False
    reads_older_messages = False
    is_only_run_of_key = True
    is_dispatched_before_commit = False

    def lock_chat(self, run: Run) -> Chat:
        return lock_chat_of_tasks([run])

    def get_group(self, run: Run) -> Hashable:
        """Return the group of a run: runs of one kind, group and chat may be claimed, and their answers stored, together, because
        the same agent or person has given their tasks for the same person. By default, those of one tree."""
        return run.tree_id

    def claim_siblings(self, waiting: Sequence[Run], owner: str) -> list[ClaimedRun]:
        """Start the first attempts of queued runs of one group in the current transaction: the chat is locked once, and one frame
        is published. What `prepare` needs is read once for all. Raises `RunNotAllowed` or `LeaseLost` if one cannot start."""
        chat = lock_chat_of_tasks(waiting)
        runs: list[Any] = RUNS_TO_CLAIM.all([run.pk for run in waiting])
        answering = {agent.id: find_answering_spec(agent, chat.id) for agent in {run.agent for run in runs}}
        updates: list[RowUpdate[Run]] = []
        calls = read_started_calls(ClaimedRun(waiting[0])).of_other_runs
        for run in runs:
            found = answering[run.agent_id]
            if found is None or run.stop_requested_at is not None:
                raise RunNotAllowed("not_startable", "`claim_run` ends this run.")
            run.chat = chat
            update = build_run_update(run, state=RunState.QUEUED, attempt=0)
            spec, stamp = found
            updates.append(self.start(update, owner, spec, stamp.model_dump(mode="json")).set(read_to=chat.version))
        chats.save_changes(chat.id, updates)
        # They are in one chat and work for one person.
        stored = self.build_stored_settings(runs[0], runs[0].model_settings)
        return [
            ClaimedRun(
                run,
                usage_rules=run.usage_rules,
                stored_settings=stored,
                tool_policies=parse_policies(run.tool_policies),
                calls_of_other_runs=calls,
            )
            for run in runs
        ]

    def start(self, update: RowUpdate[Run], owner: str, spec: AgentSpec, stamp: Any) -> RowUpdate[Run]:
        super().start(update, owner, spec, stamp)
        most = TaskInput.from_run(update.row).max_steps
        if most is None:
            return update
        limits = get_content(spec).limits
        return update.set(limits=limits.model_copy(update={"max_steps": min(limits.max_steps, most)}).model_dump())

    def record_answer(self, claimed: ClaimedRun, model: ResolvedModel, event: ModelAnswered) -> StepSaved:
        return self.record_answers([TaskAnswer(claimed, model, event)])[0]

    @transaction.atomic
    def record_answers(self, answers: Sequence[TaskAnswer]) -> list[StepSaved]:
        """Store answers of runs of one group in one chat together: the chat is locked once, and one frame is published.
        Raises `RunNotAllowed` or `LeaseLost` when one of them cannot be stored; then none is."""
        chat = lock_chat_of_tasks([answer.claimed.row for answer in answers])
        stored = {run.pk: run for run in ATTEMPTS.all([answer.claimed.row.pk for answer in answers])}
        batch = WriteBatch()
        changes: list[chats.RowChange] = []
        replies: list[StepSaved] = []
        ended: list[Run] = []
        for answer in answers:
            claimed = answer.claimed
            update = build_attempt_update(stored.get(claimed.row.pk), claimed)
            run = update.row
            run.agent, run.chat = claimed.row.agent, chat
            messages: list[Message] = []
            text: Message | None = None
            if not answer.event.problems:
                messages, text = build_answer_messages(claimed, run, answer.event, answer.model, find_mentions=False)
            add_llm_step(claimed, update, answer.event, answer.model, batch)
            changes += messages
            if answer.event.answer.calls or answer.event.problems:
                changes.append(extend_lease(update))
            else:
                changes += (
                    [finish_run(update)] if text else build_closing_changes(update, EMPTY_ANSWER, claimed=claimed)
                )
                run.answer_message, run.has_outside_texts = text, claimed.has_outside_texts
                ended.append(run)
            replies.append(build_step_saved(run))
        changes += build_changes_after_end(ended, has_answered=True)
        chats.save_changes(chat.id, changes, batch=batch, locked=chat)
        return replies

    def prepare(self, claimed: ClaimedRun) -> PreparedRun:
        run, prepared = claimed.row, super().prepare(claimed)
        content = prepared.content.model_copy(update={"limits": Limits.model_validate(run.limits)})
        task = TaskInput.from_run(run)
        form = build_result_form(task.output_schema) if task.output_schema is not None else None
        repairs_left = form.max_repairs if form is not None else 0
        if form is not None and run.steps_done:
            repairs_left -= Step.objects.filter(run=run, kind="llm", result__has_key="problems").count()
        return replace(
            prepared,
            content=content,
            form=form,
            repairs_left=repairs_left,
            file_ids=tuple(UUID(id) for id in task.file_ids),
            given_texts=None if task.read_texts is None else TextsOfOthers(task.read_texts),
        )

    def read_conversation(
        self,
        run: Run,
        prompt: str,
        instructions: Mapping[str, str],
        tokens: int,
        can_see_images: bool,
        *,
        participants: Sequence[Mapping[str, Any]] | None = None,
    ) -> ConversationSource:
        task = TaskInput.from_run(run)
        entry = LogEntry(run.id, "TEXT_MESSAGE", UUID(task.author_id), {"text": task.build_message()})
        own = MESSAGES_OF_RUN.rows(run.id) if run.steps_done else ()
        # A public agent does not read who has given the task: its prompt is written outside the workspace.
        name = task.author_name if run.agent.workspace_id == run.workspace_id else ""
        is_by_person = task.author_id == str(run.on_behalf_of_id)
        system = build_task_text(prompt, build_participant(run.agent), name, instructions, is_by_person=is_by_person)
        return ConversationSource(system, [entry, *map(build_entry, own)], ChatContext("", "", [], {}), entry.id)
