"""Runs in a chat. A transaction that writes messages locks the chat first: none is written between its reads and its writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.models import AgentSpec
from agents.selectors import find_answering_spec, get_content
from agents.services.allowed_tools import get_run_tools, has_descriptions_from_outside
from approvals.selectors import find_decided_calls
from approvals.services import close_approvals
from chats import services as chats
from chats.agent_tools import React
from chats.hooks import message_posted
from chats.models import Chat, ChatActor, Message
from common.clock import now
from common.json_rows import build_object
from common.writing import RowUpdate, WriteBatch
from context.log_entries import add_file_texts, build_participant
from context.services import record_strategy, request_summary_on_commit
from context.transcript import ChatContext, LogEntry, build_system_text, build_transcript, count_texts
from embeddings.services import send_embedding_task_on_commit
from events.payloads import ContextStrategy, MemoryScope, SystemMessageType
from events.rows import Policy
from files.agent_tools import READ_FILE
from files.pages import READ_PAGES, build_pages_text
from llm.context_window import find_context_limit, get_context_budget
from llm.endpoints import LLM_PROFILE_CODES, StoredSettings, find_usable_model, get_endpoint
from llm.prices import can_see_images
from llm.sent_requests import Section
from memory.selectors import ReadMemory, may_still_use
from memory.services import record_history_entry, use_memory
from runs.errors import LeaseLost, RunNotAllowed
from runs.hooks import run_failed
from runs.kinds import get_kind
from runs.kinds.base import (
    EMPTY_ANSWER,
    PreparedRun,
    RunKind,
    add_llm_step,
    build_changes_after_end,
    build_run_update,
    build_step_saved,
    build_stored_result,
    extend_lease,
    finish_run,
    read_attempt_update,
    start_attempt,
)
from runs.models import KindName, Run, RunOrigin, RunState
from runs.permissions import AGENT_TAKEN_DOWN, get_chat_of_run, is_reader_of_chat, lock_chat_of_run
from runs.prepared_queries import ANSWERED_QUEUED_RUNS, ATTEMPT, ATTEMPT_TO_END, LOCKED_STEPS, RUN_TO_CLAIM
from runs.runtime.answered_messages import add_answered_messages, wake_program
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.history import (
    find_earlier_context,
    find_known_results,
    find_waiting_calls_of_others,
    list_past_calls,
    list_run_ids_of_group,
    put_answers_in_place,
    read_chat_context,
    read_found_tools,
    read_log,
    read_new_turns,
    read_provider_fields,
    read_started_calls,
)
from runs.runtime.ledger import resolve_model_of_run
from runs.runtime.messages import (
    PartialMessage,
    build_answer_messages,
    build_partial_messages,
    build_result_message,
    build_results_of_open_calls,
)
from runs.runtime.offered_tools import add_find_tools, build_tool_schemas, list_offered_tools
from runs.runtime.steps import LoopEnded, ModelAnswered, ModelRetried, StepSaved, ToolsFinished
from runs.runtime.streaming import ChatSink, StreamSink
from tools.registry import FIND_TOOLS
from tools.selectors import parse_policies
from usage.owners import ResolvedModel

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True)
class ConversationSource:
    """The system text of a run and the rows of its chat that its model reads. `trigger_id`: the message that it answers."""

    system: str
    entries: list[LogEntry]
    chat: ChatContext
    trigger_id: UUID | None


class ChatRun(RunKind):
    """A reply in a chat, started by a message or by a retry."""

    name: ClassVar[str] = KindName.CHAT
    label: "ClassVar[StrOrPromise]" = KindName.CHAT.label
    can_wait = True
    is_participant = True
    can_read_chat = True
    keeps_requests = True
    can_answer_in_part = True
    is_dispatched_before_commit = True
    only_reading: ClassVar[bool] = False
    """Whether it has only tools that read."""
    reads_older_messages: ClassVar[bool] = True
    """Whether its model reads about the messages of a long chat that it does not read in full."""
    reads_later_messages: ClassVar[bool] = True
    """Whether its model reads the messages after the one that it answers, besides its own."""
    has_memory: ClassVar[bool] = True
    """Whether its model reads the memory of its agent."""

    def lock(self, run: Run) -> None:
        chats.lock_chat(run.get_chat_id())

    def lock_chat(self, run: Run) -> Chat:
        """Lock the chat of a run and return it. Raises `RunNotAllowed` unless the run may post there now."""
        return lock_chat_of_run(run)

    def claim(self, waiting: Run, owner: str) -> ClaimedRun | None:
        obstacle: RunNotAllowed | None = None
        try:
            chat = self.lock_chat(waiting)
        except RunNotAllowed as error:
            # Do not lock the workspace: when a member is removed, it is locked before the chats.
            locked = Chat.objects.select_for_update(of=("self",), no_key=True)
            chat, obstacle = locked.select_related("workspace").get(pk=waiting.get_chat_id()), error
        run = RUN_TO_CLAIM.first(waiting.pk)
        if run is None:
            raise LeaseLost(f"Run {waiting.pk} is gone.")
        return self._start_or_end(run, chat, obstacle, owner, attempt=waiting.attempt)

    def claim_in_locked_chat(self, waiting: Any, owner: str) -> ClaimedRun | None:
        obstacle: RunNotAllowed | None = None
        chat = waiting.get_chat()
        if not waiting.may_post:
            try:
                chat = get_chat_of_run(waiting)
            except RunNotAllowed as error:
                obstacle = error
        claimed = self._start_or_end(waiting, chat, obstacle, owner, attempt=waiting.attempt)
        if claimed is not None:
            claimed.participants = waiting.participants
        return claimed

    def _start_or_end(
        self, run: Any, chat: Chat, obstacle: RunNotAllowed | None, owner: str, *, attempt: int
    ) -> ClaimedRun | None:
        """Start a run that `RUN_TO_CLAIM` has read, or end it. `attempt`: the one before. The chat is locked."""
        update: RowUpdate[Run] = build_run_update(run, state=RunState.QUEUED, attempt=attempt)
        run.chat = chat
        participant = build_object(ChatActor, run.participant) if run.participant else None
        seen = participant.last_read_seq if participant else 0
        newest = run.agent.current_spec
        # `run.spec` would make another query for a spec that was read as the newest one.
        spec = newest if newest is not None and newest.pk == run.spec_id else run.spec
        stamp = run.stamp
        if spec is None and (found := find_answering_spec(run.agent, chat.id, may_have_draft=run.has_applied_draft)):
            spec, stamp = found[0], found[1].model_dump(mode="json")
        if run.stop_requested_at is not None:
            self.close(update, LoopEnded("stopped"), claimed=None)
        elif run.origin == RunOrigin.WAKE and not run.attempt and seen >= run.trigger_seq:
            # An earlier run has read and answered this message.
            self.save(update, _finish_without_answer([update]))
        elif run.agent.runs_outside and self.is_participant and not run.attempt and obstacle is None:
            wake_program(run, seen)
            self.save(update, _finish_without_answer([update]))
        elif obstacle is not None or spec is None:
            obstacle = obstacle or RunNotAllowed("no_version", "The agent has no saved version.")
            self.close(update, LoopEnded("failed", obstacle.code, obstacle.text), claimed=None)
        else:
            self.start(update, owner, spec, stamp).set(read_to=chat.version)
            if run.changed_ids:
                update.set(changed_ids=[])  # the conversation is built from the messages as they are now
            if self.is_participant:
                add_answered_messages(update, seen)
            read = self.acknowledge_messages(run, participant=participant, has_queued_runs=run.has_other_queued_runs)
            chats.save_changes(chat.id, [update, *read], batch=WriteBatch(), locked=chat)
            return ClaimedRun(
                run,
                usage_rules=run.usage_rules,
                has_notes=run.has_notes,
                stored_settings=self.build_stored_settings(run, run.model_settings),
                tool_policies=parse_policies(run.tool_policies),
            )
        return None

    def build_stored_settings(self, run: Run, rows: Mapping[str, Any] | None = None) -> StoredSettings:
        """Return what decides which model answers. `rows`: what the claim has read of it."""
        return StoredSettings(run.get_chat().workspace, run.on_behalf_of, partial(self.is_reader, run), rows=rows)

    def start(self, update: RowUpdate[Run], owner: str, spec: AgentSpec, stamp: Any) -> RowUpdate[Run]:
        """Set the run to a new attempt of this process."""
        return start_attempt(update, owner, spec, stamp)

    def acknowledge_messages(
        self, run: Run, *, participant: ChatActor | None = None, has_queued_runs: bool = True
    ) -> list[chats.RowChange]:
        """Move the agent's read cursor to `read_to`, and end the queued runs of the messages that were read: this run answers
        them. The chat is locked: a message posted while one of these is queued starts no run, and would be lost (ADR 0003).
        `participant`: the agent's row, if it was read since the chat was locked. `has_queued_runs`: false if it is known that there
        are none."""
        if not self.is_participant:
            return []
        cursor: RowUpdate[ChatActor]
        if participant is None:
            cursor = chats.ReadCursorUpdate(run.get_chat_id(), run.agent, run.read_to)
        else:
            participant.actor = run.agent
            cursor = RowUpdate(participant).set(last_read_seq=max(participant.last_read_seq, run.read_to))
        key, chat_id = run.concurrency_key, run.get_chat_id()
        queued = ANSWERED_QUEUED_RUNS.all(key, chat_id, run.read_to) if has_queued_runs else []
        updates = [build_run_update(other, state=RunState.QUEUED) for other in queued if other.pk != run.pk]
        return [cursor, *updates, *_finish_without_answer(updates)]

    def prepare(self, claimed: ClaimedRun) -> PreparedRun:
        run = claimed.row
        spec = run.get_spec()
        content, replaced_model = get_content(spec), ""
        workspace, person = run.get_chat().workspace, run.on_behalf_of
        stored = claimed.stored_settings or self.build_stored_settings(run)
        if run.agent.is_public:
            # The publisher may use a model that this workspace does not have.
            model = find_usable_model(workspace, content.model, person, stored=stored)
            if model != content.model:
                content, replaced_model = content.model_copy(update={"model": model}), content.model
        tools = add_find_tools(
            get_run_tools(
                run.agent,
                spec,
                content,
                run.workspace_id,
                policies=claimed.tool_policies,
                only_reading=self.only_reading,
                with_team=self.is_participant,
            )
        )
        found = read_found_tools(run) if FIND_TOOLS in tools and run.steps_done else frozenset()
        resolved = resolve_model_of_run(claimed, *get_endpoint(workspace, content.model, person, stored=stored))
        resolved = replace(resolved, replaced=replaced_model)
        endpoint, model = resolved.endpoint, resolved.name
        can_see = can_see_images(endpoint, model)
        # The instructions of tools that the model finds by `find_tools` are in the schemas of these tools.
        instructions = {tool.tool.name: tool.instructions for tool in list_offered_tools(tools, ())}
        limit, limit_by = find_context_limit(endpoint, model, workspace.context_max_tokens, content.context.max_tokens)
        read = self.read_conversation(
            run, content.prompt, instructions, limit, can_see, participants=claimed.participants
        )
        reader = tools.get(READ_FILE)
        if reader is not None and reader.policy == Policy.AUTO:
            read = replace(read, entries=add_file_texts(read.entries, limit))
        pages_tool, entries = tools.get(READ_PAGES), read.entries
        pages = build_pages_text(run.agent.workspace_id, pages_tool.config, limit) if pages_tool else ""
        memory = self.read_memory(claimed, content.memory, read, limit, strategy=content.context.strategy)
        system = "\n\n".join(part for part in (read.system, pages, memory.text) if part)
        schemas = build_tool_schemas(tools, found)
        max_answer, token_factor = content.parameters.max_tokens, resolved.token_factor
        budget = get_context_budget(endpoint, model, max_answer, system, schemas, limit, token_factor)
        if self.reads_older_messages:
            claimed.earlier_context = find_earlier_context(claimed, content.context.strategy, entries, budget)
        if claimed.earlier_context is not None and claimed.earlier_context.text:
            system = f"{system}\n\n{claimed.earlier_context.text}"
            budget = get_context_budget(endpoint, model, max_answer, system, schemas, limit, token_factor)
            entries = claimed.earlier_context.list_kept_entries(entries, read.trigger_id, run.id)
        transcript = build_transcript(
            put_answers_in_place(run, entries),
            system=system,
            agent_id=run.agent_id,
            run_id=run.id,
            chat=read.chat,
            budget=budget,
            trigger_id=read.trigger_id,
            can_see_images=can_see,
            waiting_calls=find_waiting_calls_of_others(run, entries),
            provider_fields=read_provider_fields(run, entries),
        )
        has_outside_texts = bool(pages) or memory.has_texts_of_others  # these may repeat texts from outside
        has_outside_texts |= has_descriptions_from_outside(tools, run.workspace_id)
        has_outside_texts |= any(entry.file_text is not None for entry in entries)
        claimed.has_outside_texts = has_outside_texts
        sections = [Section("prompt", content.prompt.strip()), Section("pages", pages.strip())]
        sections.append(Section("memory", memory.text, memory.chat_ids))
        if claimed.earlier_context is not None:
            # Counted in the transcript, because not all kept messages may fit into the budget.
            claimed.earlier_context = claimed.earlier_context.with_size(
                turns=count_texts(transcript), limit=limit, limit_by=limit_by
            )
            sections += claimed.earlier_context.sections
        decided = find_decided_calls(run.id) if transcript.open_calls else {}
        known = find_known_results(run, transcript.open_calls, tools, decided) if transcript.open_calls else {}
        past = list_past_calls(run, transcript.open_calls) if run.steps_done else []
        return PreparedRun(
            claimed,
            content,
            resolved,
            transcript,
            tools,
            known_results=known,
            past_calls=past,
            started_calls=read_started_calls(claimed),
            decided_calls=decided,
            found_tools=found,
            max_context_tokens=budget,
            sections=tuple(sections),
        )

    def read_memory(
        self,
        claimed: ClaimedRun,
        memory_scope: MemoryScope,
        read: "ConversationSource",
        model_size: int,
        *,
        strategy: ContextStrategy | Literal["default"] = "default",
    ) -> ReadMemory:
        """Return what the run reads of its agent's memory. An agent without notes that remembers each chat needs no query."""
        run = claimed.row
        is_first = run.attempt < 2  # a later attempt replaces what an earlier one has stored
        if not self.has_memory or (memory_scope == "chat" and is_first and not claimed.has_notes):
            return ReadMemory()
        request = next((entry.payload.get("text", "") for entry in read.entries if entry.id == run.trigger_id), "")
        claimed.memory = use_memory(
            run.agent,
            run.get_chat(),
            person=run.on_behalf_of,
            run_id=run.id,
            memory_scope=memory_scope,
            request=request,
            model_size=model_size,
            strategy=cast(ContextStrategy, run.get_chat().workspace.context_strategy)
            if strategy == "default"
            else strategy,
        )
        return claimed.memory

    def read_conversation(
        self,
        run: Run,
        prompt: str,
        instructions: Mapping[str, str],
        tokens: int,
        can_see_images: bool,
        *,
        participants: Sequence[Mapping[str, Any]] | None = None,
    ) -> "ConversationSource":
        """Return what the model reads: at least so many `tokens` of the log, and the images that it can see. `participants`: those
        of the chat, as the claim has read them."""
        entries = read_log(run, tokens, with_images=can_see_images, with_later_messages=self.reads_later_messages)
        chat = read_chat_context(run, entries, participants)
        parent = build_participant(run.agent.parent) if run.agent.parent else None
        system = build_system_text(
            prompt, build_participant(run.agent), chat, instructions, role=run.agent.role, parent=parent
        )
        return ConversationSource(system, entries, chat, run.trigger_id)

    def is_reader(self, run: Run) -> bool:
        return is_reader_of_chat(run, run.chat)

    def open_stream(self, run: Run) -> StreamSink:
        return ChatSink(run)

    def lock_attempt(self, claimed: ClaimedRun, *, at_end: bool = False) -> RowUpdate[Run]:
        if at_end:
            self.lock(claimed.row)
            update = read_attempt_update(ATTEMPT_TO_END, claimed)
        else:
            chat = self.lock_chat(claimed.row)
            update = read_attempt_update(ATTEMPT, claimed)
            update.row.agent, update.row.chat = claimed.row.agent, chat
        return update

    def save(self, update: RowUpdate[Run], changes: Sequence[chats.RowChange] = ()) -> None:
        chats.save_changes(update.row.get_chat_id(), [*changes, extend_lease(update)])

    def close(
        self,
        update: RowUpdate[Run],
        end: LoopEnded,
        changes: Sequence[chats.RowChange] = (),
        *,
        claimed: ClaimedRun | None,
    ) -> None:
        by = update.row.stopped_by if end.how == "stopped" else None
        closing = build_closing_changes(update, end, claimed=claimed, by=by)
        chats.save_changes(update.row.get_chat_id(), [*changes, *closing, *build_changes_after_end([update.row])])

    def build_partial_messages(
        self, claimed: ClaimedRun, run: Run, partial: PartialMessage, model: ResolvedModel
    ) -> list[Message]:
        return build_partial_messages(claimed, run, partial, model, find_mentions=self.is_participant)

    def replace_other_answers(self, run: Run, changes: list[chats.RowChange]) -> list[chats.RowChange]:
        """Return the changes of an answer that is complete. A run that gives another answer adds those that put it into use
        instead of the others of its group."""
        return changes

    @transaction.atomic
    def record_tool_results(self, claimed: ClaimedRun, event: ToolsFinished) -> StepSaved:
        update = self.lock_attempt(claimed)
        run = update.row
        rows: list[Message] = []
        steps = {step.call_id: step for step in LOCKED_STEPS.all(run.id, [result.call.id for result in event.results])}
        for result in event.results:
            stored = build_stored_result(result.status, result.text, quotes_agents=result.quotes_agents)
            data, step = result.data, steps.get(result.call.id)
            if step is not None and step.state == "started":
                RowUpdate(step).set(state="done", result=stored, ended_at=now()).save()
            elif step is not None and step.result != stored:
                # Keep a result that is stored already: `run_in_transaction` stores one.
                stored, data = step.result, None
            call_id, name, seconds = result.call.id, result.call.name, result.seconds
            rows.append(build_result_message(run, call_id=call_id, name=name, seconds=seconds, data=data, **stored))
        new_turns = read_new_turns(run) if self.is_participant else []
        since = run.read_to
        update.set(read_to=run.get_chat().version)
        if new_turns:
            add_answered_messages(update, since)
        if run.changed_ids and self.is_participant:
            update.set(changed_ids=[])
        self.save(update, [*rows, *self.acknowledge_messages(run)])
        return _withdraw_memory(claimed, replace(build_step_saved(run), new_turns=new_turns))

    @transaction.atomic
    def record_retry(self, claimed: ClaimedRun, model: ResolvedModel, event: ModelRetried) -> StepSaved:
        return _withdraw_memory(claimed, super().record_retry(claimed, model, event))

    @transaction.atomic
    def record_answer(self, claimed: ClaimedRun, model: ResolvedModel, event: ModelAnswered) -> StepSaved:
        update = self.lock_attempt(claimed)
        run = update.row
        rows, message = build_answer_messages(claimed, run, event, model, find_mentions=self.is_participant)
        batch = WriteBatch()
        add_llm_step(claimed, update, event, model, batch)
        rows_of_wakes = message_posted.call(run.get_chat(), message) if message and self.is_participant else []
        if not event.answer.calls and message is None and not (self.is_participant and _has_reacted(run)):
            # An answer without a text and without calls would be invisible. A reaction is one, but replaces no other answer.
            batch.execute()
            self.close(update, EMPTY_ANSWER, rows, claimed=claimed)
        else:
            changes: list[chats.RowChange] = [*rows, *rows_of_wakes]
            if not event.answer.calls:
                finish_run(update)
                run.answer_message, run.has_outside_texts = message, claimed.has_outside_texts
                changes = self.replace_other_answers(run, changes)
                changes = [*record_context(claimed, run), *changes, *build_changes_after_end([run], has_answered=True)]
            chat = run.get_chat()
            chats.save_changes(chat.id, [*changes, extend_lease(update)], batch=batch, locked=chat)
            if not event.answer.calls:
                record_history(run, claimed.row.get_spec(), "completed", claimed)
        return build_step_saved(run)


def _has_reacted(run: Run) -> bool:
    """Return whether a run has reacted to a message: then that is its answer if it writes no text."""
    results = Message.objects.filter(run_id=run.pk, type="TOOL_RESPONSE")
    return results.filter(payload__name=React.name, payload__status="ok").exists()


def _withdraw_memory(claimed: ClaimedRun, saved: StepSaved) -> StepSaved:
    """Return `saved`. If somebody has joined who may not read the memory of the run, or if that was cleared or forgotten, set the
    memory of `claimed` to null, and return a copy with `withdrawn_text`, which the loop removes. The chat is locked."""
    run, memory = claimed.row, claimed.memory
    if memory is None or not memory.text:
        return saved
    if may_still_use(run.agent, run.get_chat(), person=run.on_behalf_of, memory=memory):
        return saved
    claimed.memory = None
    return replace(saved, withdrawn_text=memory.text)


class ComparisonRun(ChatRun):
    """One side of a comparison: it changes nothing but the comparison (ADR 0012)."""

    name = KindName.COMPARISON
    label = KindName.COMPARISON.label
    can_wait = False
    is_participant = False
    only_reading = True
    reads_later_messages = False
    has_memory = False


class OtherAnswerRun(ChatRun):
    """Another answer to the message that a run has answered. It reads the log up to the messages that this run has answered,
    without the answers of its group, and wakes nobody. It has all tools of the agent, but plans no board. When it is complete,
    it is in use instead of the others."""

    name = KindName.OTHER_ANSWER
    label = KindName.OTHER_ANSWER.label
    is_participant = False
    reads_later_messages = False

    def replace_other_answers(self, run: Run, changes: list[chats.RowChange]) -> list[chats.RowChange]:
        # An answer that was chosen while this one was being written stays in use: whoever chose it had not seen this one.
        ids = list_run_ids_of_group(run.get_chat_id(), cast(int, run.group_seq))
        lines = Message.objects.filter(
            chat=run.chat_id,
            type="ANSWER_CHOSEN",
            payload__run_id__in=list(map(str, ids)),
            created_at__gt=run.created_at,
        )
        chosen = lines.order_by("-seq").values_list("payload__run_id", flat=True).first()
        for change in changes:
            if isinstance(change, Message) and change.run_id == run.id:
                change.is_unused = chosen is not None
        return [*changes, *build_use_updates(UUID(chosen) if chosen else run.id, ids)]


def build_use_updates(run_id: UUID, run_ids: Sequence[UUID]) -> list[chats.RowChange]:
    """Return the updates of stored messages that put the answer of `run_id` into use instead of the others of its group.
    `run_ids`: the runs of the group. A file that an answer has posted is in use if the answer is."""
    rows = Message.objects.filter(run_id__in=run_ids).order_by("seq")
    return [
        RowUpdate(row).set(is_unused=row.run_id != run_id) for row in rows if row.is_unused == (row.run_id == run_id)
    ]


def _finish_without_answer(updates: Sequence[RowUpdate[Run]]) -> list[chats.RowChange]:
    """Set queued runs to completed whose messages another run or an outside program answers. Return the changes that follow."""
    for update in updates:
        update.set(state=RunState.COMPLETED, ended_at=now(), answered_ids=[])
    return build_changes_after_end([update.row for update in updates])


def record_history(run: Run, spec: AgentSpec | None, outcome: str, claimed: ClaimedRun | None) -> None:
    """Store an entry about a run that is ending, with what it has read and done, if its agent has a memory over all its chats.
    A run that gives another answer has an entry only if it is completed."""
    is_other_answer = run.kind == KindName.OTHER_ANSWER
    if spec is None or get_content(spec).memory != "agent" or run.agent.is_public:
        return
    if not (get_kind(run).is_participant or (is_other_answer and outcome == RunState.COMPLETED)):
        return
    has_outside_texts = claimed.has_outside_texts if claimed is not None else None
    if has_outside_texts is None:
        # The run ends without its worker, for example while it waits. It may have read any text.
        has_outside_texts = run.attempt > 0
    record_history_entry(
        run.agent,
        run.get_chat(),
        run_id=run.id,
        person_id=run.on_behalf_of_id,
        first_seq=run.trigger_seq,
        last_seq=run.trigger_seq if is_other_answer else run.read_to,
        outcome=outcome,
        has_outside_texts=has_outside_texts,
    )


def build_closing_changes(
    update: RowUpdate[Run], end: LoopEnded, *, claimed: ClaimedRun | None, by: Actor | None = None
) -> list[chats.RowChange]:
    """Return the changes that end a run without an answer: results of open calls, a system message, the run itself.

    It also closes the run's approvals and stores its history. A run that was stopped by the takedown of its agent fails instead.
    `claimed`: null if the run ends without its worker.
    """
    run = update.row
    if end.how == "stopped" and by is None and run.agent.taken_down_at is not None:
        end = LoopEnded("failed", *AGENT_TAKEN_DOWN)
    closed = close_approvals(run.id) if run.state == RunState.WAITING_APPROVAL else []
    finish_run(update, end)
    record_history(run, run.spec, run.state, claimed)
    type_: SystemMessageType = "RUN_STOPPED" if end.how == "stopped" else "RUN_FAILED"
    payer = run.on_behalf_of if end.code in LLM_PROFILE_CODES else None
    message = chats.build_system_message(
        run.get_chat_id(),
        type_,
        actor=by,
        target=run.agent,
        run_id=run.id,
        message_id=run.trigger_id,
        code=end.code or None,
        note=end.text[:600],
        payer_name=payer.name if payer else "",
        budget=end.budget,
    )
    message.metadata, message.group_seq = run.metadata, run.group_seq
    if type_ == "RUN_FAILED" and get_kind(run).is_participant:
        run_failed.call(run, message)
    return [*closed, *build_results_of_open_calls(run), message, update]


def record_context(claimed: ClaimedRun, run: Run) -> list[Message]:
    """At the end of a run in a long chat, request a summary and embeddings if they are needed. If the agent reads the chat by
    another strategy than before, store it, and return the message that says so."""
    earlier = claimed.earlier_context
    if earlier is None or run.ended_at is None:
        return []
    if earlier.needs_summary:
        request_summary_on_commit(run.get_chat_id(), run.on_behalf_of_id, earlier.budget)
    if earlier.needs_embeddings:
        send_embedding_task_on_commit(run.get_chat_id(), run.on_behalf_of_id)
    if not earlier.is_new or earlier.facts is None:
        return []
    return [record_strategy(run.get_chat_id(), run.agent, earlier.facts.strategy, run_id=run.id)]


CHAT = ChatRun()
COMPARISON = ComparisonRun()
OTHER_ANSWER = OtherAnswerRun()
