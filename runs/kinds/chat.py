"""A run in a chat: what it reads and writes is the chat's log, and everybody there reads along.

The chat is locked first, so that what is read (new messages, open calls) and what is written are one moment of the chat.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery

from actors.models import Actor
from agents.models import AgentSpec, Draft
from agents.services.allowed_tools import list_allowed_tools
from chats import services as chats
from chats.hooks import message_posted
from chats.models import Chat, ChatActor, Message, VersionedRow
from common.clock import now
from common.prepared_query import PreparedQuery
from common.writing import RowUpdate
from events.rows import Stamp
from llm.context_window import get_context_budget, get_model_size
from llm.endpoints import endpoint_for
from llm.messages import Turn
from llm.protocol import LLMError
from runs.errors import LeaseLost, RunNotAllowed
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
from runs.kinds.transitions import (
    build_closing_changes,
    build_result_row,
    build_run_update,
    finish_run,
    get_lease_end,
    start_attempt,
)
from runs.models import Run, RunState, Step
from runs.permissions import lock_chat_of_run
from runs.runtime.answer_rows import PartialMessage, ResolvedModel, build_answer_rows, build_partial_rows
from runs.runtime.context import LogEntry, build_system_text, build_transcript
from runs.runtime.history import (
    build_participant,
    find_known_results,
    list_past_calls,
    read_chat_context,
    read_log,
    read_new_turns,
)
from runs.runtime.ledger import record_failed_llm_call
from runs.runtime.steps import ModelAnswered, ModelRetried, RunEnded, StepSaved, ToolResult, ToolsFinished
from runs.runtime.streaming import ChatSink, StreamSink
from runs.runtime.toolbox import configure_tools

NO_VERSION = RunNotAllowed("no_version", "The agent has no saved version.")


def _build_claimed(run_id: UUID) -> QuerySet[Run]:
    """A run with its agent, the text in production, its person, and `seen`: how far its agent has read the chat."""
    participants = ChatActor.objects.filter(chat=OuterRef("chat"), actor=OuterRef("agent"))
    run = Run.objects.filter(pk=run_id).select_related("agent__current_spec", "on_behalf_of")
    return run.annotate(seen=Subquery(participants.values("last_read_seq")[:1]))


def _build_applied(chat_id: UUID, agent_id: UUID) -> QuerySet[Draft]:
    drafts = Draft.objects.filter(chat_id=chat_id, agent_id=agent_id, ended_at=None, applied__isnull=False)
    return drafts.select_related("applied__author")


def _build_answered(concurrency_key: str, chat_id: UUID, read_to: int) -> QuerySet[Run]:
    wakes = Run.objects.filter(concurrency_key=concurrency_key, origin="wake", state=RunState.QUEUED, attempt=0)
    return wakes.filter(chat_id=chat_id, trigger_seq__lte=read_to)


_CLAIMED = PreparedQuery(_build_claimed, UUID)
_APPLIED = PreparedQuery(_build_applied, UUID, UUID)
_ANSWERED_WAKES = PreparedQuery(_build_answered, str, UUID, int)
_ATTEMPT = build_query_of_attempt(lambda runs: runs)
_ATTEMPT_WITH_ALL = build_query_of_attempt(lambda runs: runs.select_related("agent", "chat__workspace", "stopped_by"))


class ChatRun(RunKind):
    """A run in a chat, woken by a message or repeated by a person."""

    finds_mentions = True
    uses_writing_tools = True

    def lock(self, run: Run) -> None:
        chats.lock_chat(run.get_chat_id())

    # --- starting -----------------------------------------------------------------------------------------------

    def claim(self, waiting: Run, owner: str) -> Run | None:
        obstacle: RunNotAllowed | None = None
        try:
            chat = lock_chat_of_run(waiting)
        except RunNotAllowed as error:
            # The chat alone: a lock on its workspace would come after it, where removing a member takes it before.
            locked = Chat.objects.select_for_update(of=("self",), no_key=True)
            chat, obstacle = locked.select_related("workspace").get(pk=waiting.get_chat_id()), error
        run: Any = _CLAIMED.first(waiting.pk)
        if run is None:
            raise LeaseLost(f"Run {waiting.pk} is gone.")
        update: RowUpdate[Run] = build_run_update(run, state=RunState.QUEUED, attempt=waiting.attempt)
        run.chat = chat
        spec, stamp = (run.spec, run.stamp) if run.spec_id else find_spec(run)
        if run.stop_requested_at is not None:
            self.close(update, RunState.STOPPED, by=run.stopped_by)
        elif run.origin == "wake" and not run.attempt and (run.seen or 0) >= run.trigger_seq:
            # An earlier run has read this message and has answered it.
            chats.save_changes(chat.id, [update.set(state=RunState.COMPLETED, ended_at=now())])
        elif obstacle is not None or spec is None:
            obstacle = obstacle or NO_VERSION
            self.close(update, RunState.FAILED, code=obstacle.code, text=obstacle.text)
        else:
            # The first claim fixes the text that answers; later ones find it fixed.
            start_attempt(update, owner).set(spec=spec, stamp=stamp, limits=spec.limits, read_to=chat.version)
            chats.save_changes(chat.id, [update, *self._acknowledge_messages(run)])
            claimed: Run = run
            return claimed
        return None

    def _acknowledge_messages(self, run: Run) -> list[RowUpdate[Run]]:
        """Move the agent's read cursor to `read_to`, and end the queued wakes that this run answers.

        The chat is locked: a message is either read by now, or finds no wake left to join.
        """
        chats.read_up_to(run.get_chat_id(), run.agent_id, run.read_to)
        wakes = _ANSWERED_WAKES.all(run.concurrency_key, run.get_chat_id(), run.read_to)
        ended = [wake for wake in wakes if wake.pk != run.pk]
        return [
            build_run_update(wake, state=RunState.QUEUED).set(state=RunState.COMPLETED, ended_at=now())
            for wake in ended
        ]

    def prepare(self, run: Run) -> PreparedRun:
        chat, spec = run.get_chat(), run.get_spec()
        content = get_content(spec)
        allowed = list_allowed_tools(run.agent, spec, content)
        tools = configure_tools(allowed, only_reading=not self.uses_writing_tools)
        endpoint, model = endpoint_for(chat.workspace, content.model)
        entries = self._read_log(run, get_model_size(endpoint, model))
        context, agent = read_chat_context(run, entries), build_participant(run.agent)
        instructions = {name: tool.instructions for name, tool in tools.items()}
        system = build_system_text(content.prompt, agent, context, instructions)
        schemas = [tool.schema for tool in tools.values()]
        budget = get_context_budget(endpoint, model, content.parameters.max_tokens, system, schemas)
        transcript = build_transcript(
            entries,
            system=system,
            agent_id=agent.id,
            run_id=run.id,
            chat=context,
            budget=budget,
            trigger_id=run.trigger_id,
        )
        known = find_known_results(run, transcript.open) if transcript.open else {}
        past = list_past_calls(run, transcript.open) if run.steps_done else []
        return PreparedRun(run, content, ResolvedModel(endpoint, model), transcript, tools, known, past, budget)

    def _read_log(self, run: Run, tokens: int) -> list[LogEntry]:
        return read_log(run, tokens)

    def open_stream(self, run: Run) -> StreamSink:
        return ChatSink(run)

    # --- writing ------------------------------------------------------------------------------------------------

    def save(self, update: RowUpdate[Run], changes: Sequence[chats.RowChange] = ()) -> None:
        others = [change for change in changes if change is not update]
        chats.save_changes(update.row.get_chat_id(), [*others, update])

    def close(
        self, update: RowUpdate[Run], state: FailedState, *, by: Actor | None = None, code: str = "", text: str = ""
    ) -> None:
        run = update.row
        changes = build_closing_changes(update, state, agent=run.agent, by=by, code=code, text=text)
        chats.save_changes(run.get_chat_id(), changes)

    def _lock_attempt(self, claimed: Run) -> RowUpdate[Run]:
        """Lock the chat and return the run as it is now. Raises `LeaseLost`, `RunNotAllowed`."""
        chat = lock_chat_of_run(claimed)
        update = get_attempt(_ATTEMPT, claimed)
        update.row.agent, update.row.chat = claimed.agent, chat
        return update

    def _save_attempt(self, update: RowUpdate[Run], changes: Sequence[chats.RowChange] = ()) -> None:
        """Write the run and changes of its chat; as long as it is at work, this extends its lease."""
        if update.row.state == RunState.RUNNING:
            update.set(lease_until=get_lease_end())
        self.save(update, changes)

    @transaction.atomic
    def record_tool_results(self, claimed: Run, step: ToolsFinished) -> StepSaved:
        update = self._lock_attempt(claimed)
        run = update.row
        rows = [_store_result(run, result) for result in step.results]
        new_turns = self._read_new_turns(run)
        update.set(read_to=run.get_chat().version)
        self._save_attempt(update, [*rows, *self._acknowledge_messages(run)])
        return replace(build_step_saved(run), new_turns=new_turns)

    def _read_new_turns(self, run: Run) -> Sequence[Turn]:
        return read_new_turns(run)

    @transaction.atomic
    def record_answer(self, claimed: Run, model: ResolvedModel, step: ModelAnswered) -> StepSaved:
        update = self._lock_attempt(claimed)
        run = update.row
        rows, message = build_answer_rows(run, step, model, find_mentions=self.finds_mentions)
        add_llm_step(update, step, model)
        woken = self._call_hook(run, message) if message else []
        closing: list[chats.RowChange] = []
        if not step.answer.calls and message is None:
            # Without a text nobody would see that there was an answer.
            closing = build_closing_changes(
                update, RunState.FAILED, agent=run.agent, code="empty_answer", text="The model gave no answer."
            )
        elif not step.answer.calls:
            finish_run(update, RunState.COMPLETED)
        self._save_attempt(update, [*rows, *woken, *closing])
        return build_step_saved(run)

    def _call_hook(self, run: Run, message: Message) -> Sequence[VersionedRow]:
        return message_posted(run.get_chat(), message)

    @transaction.atomic
    def record_retry(self, claimed: Run, model: ResolvedModel, step: ModelRetried) -> StepSaved:
        update = self._lock_attempt(claimed)
        record_failed_llm_call(update, step.error, model)
        self._save_attempt(update.set(attempt=update.row.attempt + 1))
        return build_step_saved(update.row)

    @transaction.atomic
    def record_next_try(self, claimed: Run, at: datetime) -> None:
        update = self._lock_attempt(claimed)
        self._save_attempt(update.set(next_wake_at=at))

    @transaction.atomic
    def record_end(
        self,
        claimed: Run,
        model: ResolvedModel,
        end: RunEnded,
        partial: PartialMessage | None = None,
        error: LLMError | None = None,
    ) -> None:
        """What was streamed is kept as incomplete, and open calls get a result (RUN11, RUN16)."""
        self.lock(claimed)
        update = get_attempt(_ATTEMPT_WITH_ALL, claimed)
        run = update.row
        changes: list[chats.RowChange] = []
        if partial is not None:
            changes += build_partial_rows(run, partial, model, find_mentions=self.finds_mentions)
        if error is not None:
            record_failed_llm_call(update, error, model)
        if end.how == "waiting_approval":
            update.set(state=RunState.WAITING_APPROVAL, lease_owner="", lease_until=None)
        elif end.how == "stopped":
            changes += build_closing_changes(update, RunState.STOPPED, agent=run.agent, by=run.stopped_by)
        else:
            changes += build_closing_changes(update, RunState.FAILED, agent=run.agent, code=end.code, text=end.text)
        self._save_attempt(update, changes)


def find_spec(run: Run) -> tuple[AgentSpec | None, dict[str, Any] | None]:
    """Return what answers here, the text applied in this chat or else the production version, and its stamp as JSON."""
    draft = _APPLIED.first(run.get_chat_id(), run.agent_id)
    if draft is not None and draft.applied is not None:
        spec = draft.applied
        stamp = Stamp(spec_id=spec.id, draft_apply=draft.apply_count, draft_by=spec.author.name)
    elif run.agent.current_spec is not None:
        spec = run.agent.current_spec
        stamp = Stamp(spec_id=spec.id, version=spec.number)
    else:
        return None, None
    return spec, stamp.model_dump(mode="json")


def _store_result(run: Run, result: ToolResult) -> Message:
    """Store a call's result in its step and build its message. A tool that was given up, and yet ended, has the last word."""
    stored, data = {"status": result.status, "text": result.text}, result.data
    steps = Step.objects.filter(run=run, call_id=result.call.id)
    if not steps.filter(state="started").update(state="done", result=stored, ended_at=now()):
        last_word = steps.values_list("result", flat=True).first()
        if last_word and last_word != stored:
            stored, data = last_word, None
    return build_result_row(
        run, call_id=result.call.id, name=result.call.name, seconds=result.seconds, data=data, **stored
    )  # fmt: skip


CHAT = ChatRun()
