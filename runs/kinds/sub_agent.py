"""The run of a sub-agent: it does a task that another agent has given it, in the same chat (`runs/runtime/sub_agents.py`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from agents.models import AgentSpec
from agents.selectors import find_answering_spec, get_content
from agents.specs.content import Limits
from chats import services as chats
from common.writing import RowUpdate
from context.log_entries import build_entry, build_participant
from context.transcript import ChatContext, LogEntry, build_sub_agent_text
from llm.endpoints import StoredSettings
from runs.errors import RunNotAllowed
from runs.kinds.base import (
    EMPTY_ANSWER,
    PreparedRun,
    add_llm_step,
    build_attempt_update,
    build_run_update,
    build_step_saved,
    extend_lease,
    finish_run,
)
from runs.kinds.chat import ChatRun, ConversationSource, build_closing_changes
from runs.models import Run, RunState
from runs.permissions import is_reader_of_run, lock_chat_of_run
from runs.prepared_queries import ATTEMPTS, MESSAGES_OF_RUN, RUNS_TO_CLAIM
from runs.runtime.history import read_started_calls
from runs.runtime.messages import build_answer_messages
from runs.runtime.steps import ModelAnswered, StepSaved
from runs.runtime.sub_agents import Task, queue_callers
from usage.owners import ResolvedModel


@dataclass(frozen=True)
class SubAgentAnswer:
    """An answer of a sub-agent's model that is to be stored. `claimed`: the run as it was claimed."""

    claimed: Run
    model: ResolvedModel
    event: ModelAnswered


class SubAgentRun(ChatRun):
    """A run whose agent reads its task and the messages of this run, and nothing else of the chat."""

    is_participant = False
    reads_older_messages = False

    def start(self, update: RowUpdate[Run], owner: str, spec: AgentSpec, stamp: Any) -> RowUpdate[Run]:
        super().start(update, owner, spec, stamp)
        most = Task.from_run(update.row).max_steps
        if most is None:
            return update
        limits = get_content(spec).limits
        return update.set(limits=limits.model_copy(update={"max_steps": min(limits.max_steps, most)}).model_dump())

    def claim_siblings(self, waiting: Sequence[Run], owner: str) -> list[Run]:
        """Start the first attempts of queued runs of one caller in the current transaction: the chat is locked once, and one frame
        is published. What `prepare` needs is read once for all. Raises `RunNotAllowed` or `LeaseLost` if one cannot start."""
        chat = lock_chat_of_run(*waiting)
        runs = RUNS_TO_CLAIM.all([run.pk for run in waiting])
        answering = {agent.id: find_answering_spec(agent, chat.id) for agent in {run.agent for run in runs}}
        updates: list[RowUpdate[Run]] = []
        stored = StoredSettings(chat.workspace, waiting[0].on_behalf_of, partial(is_reader_of_run, waiting[0]))
        calls = read_started_calls(waiting[0]).of_other_runs
        for run in runs:
            found = answering[run.agent_id]
            if found is None or run.stop_requested_at is not None:
                raise RunNotAllowed("not_startable", "`claim_run` ends this run.")
            run.chat, run.stored_settings, run.calls_of_other_runs = chat, stored, calls
            update = build_run_update(run, state=RunState.QUEUED, attempt=0)
            spec, stamp = found
            updates.append(self.start(update, owner, spec, stamp.model_dump(mode="json")).set(read_to=chat.version))
        chats.save_changes(chat.id, updates)
        return runs

    def record_answer(self, claimed: Run, model: ResolvedModel, event: ModelAnswered) -> StepSaved:
        return self.record_answers([SubAgentAnswer(claimed, model, event)])[0]

    @transaction.atomic
    def record_answers(self, answers: Sequence[SubAgentAnswer]) -> list[StepSaved]:
        """Store answers of sub-agents of one tree in one chat together: the chat is locked once, and one frame is published.
        Raises `RunNotAllowed` or `LeaseLost` when one of them cannot be stored; then none is."""
        chat = lock_chat_of_run(*[answer.claimed for answer in answers])
        stored = {run.pk: run for run in ATTEMPTS.all([answer.claimed.pk for answer in answers])}
        changes: list[chats.RowChange] = []
        replies: list[StepSaved] = []
        ended: list[Run] = []
        for answer in answers:
            update = build_attempt_update(stored.get(answer.claimed.pk), answer.claimed)
            run = update.row
            run.agent, run.chat = answer.claimed.agent, chat
            messages, text = build_answer_messages(run, answer.event, answer.model, find_mentions=False)
            add_llm_step(update, answer.event, answer.model)
            changes += messages
            if answer.event.answer.calls:
                changes.append(extend_lease(update))
            else:
                ended.append(run)
                changes += [finish_run(update)] if text else build_closing_changes(update, EMPTY_ANSWER)
            replies.append(build_step_saved(run))
        chats.save_changes(chat.id, [*changes, *queue_callers(ended)])
        return replies

    def prepare(self, run: Run) -> PreparedRun:
        prepared = super().prepare(run)
        content = prepared.content.model_copy(update={"limits": Limits.model_validate(run.limits)})
        return replace(prepared, content=content, file_ids=tuple(UUID(id) for id in Task.from_run(run).file_ids))

    def read_conversation(
        self, run: Run, prompt: str, instructions: Mapping[str, str], tokens: int, can_see_images: bool
    ) -> ConversationSource:
        caller_agent_id = run.path[-2]
        task = LogEntry(run.id, "TEXT_MESSAGE", caller_agent_id, {"text": Task.from_run(run).build_message()})
        own = MESSAGES_OF_RUN.rows(run.id) if run.steps_done else ()
        # A public agent does not read the name of its caller: its prompt is written outside the workspace.
        is_of_workspace = run.agent.workspace_id == run.workspace_id
        name = getattr(run, "caller_name", "") if is_of_workspace else ""  # an annotation of the query of a claim
        system = build_sub_agent_text(prompt, build_participant(run.agent), name, instructions)
        return ConversationSource(system, [task, *map(build_entry, own)], ChatContext("", "", [], {}), task.id)


SUB_AGENT = SubAgentRun()
