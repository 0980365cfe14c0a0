"""Read the log and the participants of a chat, from which `context` builds the conversation."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Left

from agents.services.allowed_tools import ConfiguredTool
from approvals.selectors import DecidedCall, find_waiting_calls
from chats.models import Message, MessageRevision
from context.earlier import PREPARE_SHARE, EarlierContext, LogRow, build_earlier_context, compute_tokens
from context.log_entries import (
    LOG_COLUMNS,
    add_images,
    build_entry,
    build_participant,
    get_side,
    is_read_by,
    parse_participant,
)
from context.transcript import INTERRUPTED, WAITING, WORKING, ChatContext, LogEntry, build_turns_of_others
from embeddings.selectors import find_vector_request
from events.payloads import ContextStrategy
from llm.context_window import TOKENS_PER_IMAGE
from llm.messages import ProviderFields, ToolCall, Turn
from runs.models import Run, RunState
from runs.prepared_queries import (
    ACTORS,
    CALLS_OF_RUN,
    IS_USED,
    LOG,
    LOG_TYPES,
    MAX_ROWS,
    NEW_MESSAGES,
    PARTICIPANTS_OF_CHAT,
    PROVIDER_FIELDS,
    STARTED_CALLS,
    TOOL_STEPS,
    list_changed_messages,
    list_log,
)
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.steps import ToolResult
from runs.runtime.waits import find_wait_results
from tools.registry import FIND_TOOLS

BYTES_PER_TOKEN = 12
"""Bytes of text that are read per token; no language needs more."""
COMPARISON_MARGIN = 50
"""The most rows of a log that are left out as answers of comparisons. With fewer entries than `MAX_ROWS` less this, it is whole."""
MAX_BEGINNING = 80
"""Characters by which a model recognises a message that was deleted after it had read it."""
OTHER_BYTES = 500 * MAX_ROWS
"""Bytes of all payloads besides their texts."""


def read_log(run: Run, tokens: int, *, with_images: bool = False, with_later_messages: bool = True) -> list[LogEntry]:
    """Return the newest part of the chat's log, in order, with at least so many tokens, and the message that the run answers.
    `with_images`: the newest images, too. Without `with_later_messages`, it is the log up to that message, and the run's own rows.

    A comparison is read as its question, by the person who asked, and the draft's answer.
    """
    max_bytes = tokens * BYTES_PER_TOKEN + OTHER_BYTES
    if not with_later_messages:
        # Another answer is read in the place of the first one of its group, whose rows this run does not read.
        is_before = (Q(seq__lte=run.trigger_seq) | Q(group_seq__lte=run.trigger_seq)) & IS_USED
        if run.group_seq is not None:
            is_before &= ~Q(run_id__in=list_run_ids_of_group(run.get_chat_id(), run.group_seq))
        is_read = is_before | Q(run_id=run.id)
        newest: Iterable[Sequence[Any]] = list_log(run.agent_id, run.get_chat_id(), max_bytes, tokens, is_read)
    else:
        newest = LOG.rows(run.agent_id, run.get_chat_id(), max_bytes, tokens)
    entries = [build_entry(row) for row in newest if is_read_by(row, run.agent_id)][::-1]
    if run.trigger_id is not None and all(entry.id != run.trigger_id for entry in entries):
        trigger = Message.objects.filter(chat_id=run.get_chat_id(), pk=run.trigger_id, type__in=LOG_TYPES)
        entries = [*map(build_entry, trigger.values_list(*LOG_COLUMNS)), *entries]
    read = [entry for entry in entries if entry.run_id == run.id or get_side(entry) != "production"]
    return add_images(read) if with_images else read


def put_answers_in_place(run: Run, entries: Sequence[LogEntry]) -> list[LogEntry]:
    """Return the entries in the order in which the model reads them: another answer that is in use has the place of the first one.
    What the run itself has written so far stays at the end."""
    if all(entry.group_seq is None for entry in entries):
        return list(entries)

    def get_position(entry: LogEntry) -> float:
        if entry.run_id == run.id and run.group_seq is not None:
            return math.inf
        return entry.seq if entry.group_seq is None else entry.group_seq

    return sorted(entries, key=get_position)


def list_run_ids_of_group(chat_id: UUID, group_seq: int) -> list[UUID]:
    """Return the runs of a group of answers, oldest first, also those that have given no answer."""
    first = Message.objects.filter(chat=chat_id, seq=group_seq).values_list("run_id", flat=True)
    others = Run.objects.filter(chat=chat_id, group_seq=group_seq).order_by("pk").values_list("pk", flat=True)
    return [id for id in (*first, *others) if id is not None]


def find_earlier_context(
    claimed: ClaimedRun, setting: ContextStrategy | Literal["default"], entries: Sequence[LogEntry], budget: int
) -> EarlierContext | None:
    """Return the text about older messages of a chat that does not fit into the budget. Null if the chat takes less than
    `PREPARE_SHARE` of it. If the chat takes more but fits, there is no text, only whether a summary or embeddings are needed.
    `setting`: the strategy of the agent's spec. `entries`: the newest messages."""
    run, vector = claimed.row, claimed.request_vector
    rows = [LogRow(entry.seq, entry.tokens + (TOKENS_PER_IMAGE if entry.image else 0)) for entry in entries]
    size = compute_tokens(rows)
    is_whole = size <= budget and len(entries) < MAX_ROWS - COMPARISON_MARGIN
    if not rows or (is_whole and size <= PREPARE_SHARE * budget):
        return None
    strategy = cast(ContextStrategy, run.get_chat().workspace.context_strategy) if setting == "default" else setting
    if is_whole:
        return EarlierContext(
            budget=budget, needs_summary=strategy == "summarise", needs_embeddings=strategy == "retrieve"
        )
    texts = [entry.payload.get("text", "") for entry in entries if entry.id == run.trigger_id]
    request = "\n".join(texts) or entries[-1].payload.get("text", "")
    earlier = build_earlier_context(
        run.get_chat(), run.agent_id, strategy, rows, request=request, budget=budget, vector=vector
    )
    if strategy != "retrieve" or vector is not None:
        return earlier
    return replace(earlier, vector_request=find_vector_request(run.get_chat_id(), run.on_behalf_of_id, request))


def read_new_turns(run: Run) -> list[Turn]:
    """Return the messages of other authors since the run last read the locked chat, without the answers of comparisons, and what
    became of those that were edited or deleted after it had read them (`changed_ids`)."""
    max_bytes = settings.LLM_MAX_CONTEXT * BYTES_PER_TOKEN + OTHER_BYTES
    new = NEW_MESSAGES.rows(run.get_chat_id(), run.agent_id, max_bytes, settings.LLM_MAX_CONTEXT, run.read_to)
    read = [row for row in reversed(new) if is_read_by(row, run.agent_id)]
    entries = [entry for entry in map(build_entry, read) if get_side(entry) is None]
    if run.changed_ids:
        entries = [*_list_corrections(run, max_bytes), *entries]
    if not entries:
        return []
    return build_turns_of_others(entries, agent_id=run.agent_id, chat=read_chat_context(run, entries))


def _list_corrections(run: Run, max_bytes: int) -> list[LogEntry]:
    """Return an entry for each of the run's `changed_ids`, in which its author says what the message reads now: the newest ones,
    as many as a model reads of new messages."""
    rows = list(list_changed_messages(run, max_bytes, settings.LLM_MAX_CONTEXT))[::-1]
    changed = [build_entry(row) for row in rows]
    deleted = [entry.id for entry in changed if entry.payload.get("is_deleted")]
    last_texts = MessageRevision.objects.filter(message__in=deleted).order_by("message_id", "-replaced_at")
    beginnings = dict(
        last_texts.distinct("message_id").values_list("message_id", Left("text", 4 * MAX_BEGINNING)) if deleted else ()
    )
    entries: list[LogEntry] = []
    for entry in changed:
        is_text = entry.type == "TEXT_MESSAGE"
        if is_text and not entry.payload.get("is_deleted"):
            text = f"[I have corrected my earlier message. It reads now:]\n{entry.payload['text']}"
            entry = replace(entry, payload={**entry.payload, "text": text})
        elif is_text:
            # The model has read this text, and must know which message is meant.
            beginning = " ".join(beginnings.get(entry.id, "").split())[:MAX_BEGINNING]
            text = f"[The message that began with “{beginning}” was deleted. Do not use it.]"
            entry = replace(entry, payload={**entry.payload, "text": text, "is_deleted": False})
        entries.append(entry)
    return entries


def read_chat_context(
    run: Run, entries: Iterable[LogEntry], rows: Iterable[Mapping[str, Any]] | None = None
) -> ChatContext:
    """Return the chat of a run with its participants and the authors of these entries. `rows`: the participants, as JSON, if they
    were read with the run."""
    chat = run.get_chat()
    if rows is None:
        rows = [row[0] for row in PARTICIPANTS_OF_CHAT.rows(chat.pk)]
    participants = [parse_participant(row) for row in rows]
    authors = {participant.id: participant for participant in participants}
    if missing := {entry.author_id for entry in entries} - authors.keys():
        authors |= {actor.id: build_participant(actor) for actor in ACTORS.all(list(missing))}
    return ChatContext(chat.title, chat.workspace.name, participants, authors)


def find_known_results(
    run: Run, calls: Sequence[ToolCall], tools: Mapping[str, ConfiguredTool], decided: Mapping[str, DecidedCall]
) -> dict[str, ToolResult]:
    """Return the results of open calls that are known before the loop starts: stored results, `interrupted` for started calls that
    must not be repeated (RUN15), refusals and answers of people, and the results of what calls have waited for.

    A call of a tool that the run no longer has must not be repeated, nor one that may have written, unless the tool is idempotent.
    """
    steps = {step.call_id: step for step in TOOL_STEPS.all(run.id)}
    known: dict[str, ToolResult] = {}
    for call in calls:
        step, configured = steps.get(call.id), tools.get(call.name)
        repeatable = configured.tool if configured is not None and configured.tool.can_repeat else None
        if step is not None and step.state == "done":
            quotes_agents = step.result.get("quotes_agents", False)
            known[call.id] = ToolResult(call, step.result["status"], step.result["text"], quotes_agents=quotes_agents)
        elif step is not None and (repeatable is None or (step.effect == "write" and not repeatable.is_idempotent)):
            known[call.id] = ToolResult(call, "interrupted", INTERRUPTED)
        elif step is None and call.id in decided and (result := decided[call.id].result):
            known[call.id] = ToolResult(call, *result, quotes_agents=decided[call.id].quotes_agents)
    kinds_by_tool = {name: configured.tool.wait_kind for name, configured in tools.items()}
    return known | find_wait_results(run, calls, known.keys(), kinds_by_tool)


def read_provider_fields(run: Run, entries: Iterable[LogEntry]) -> dict[int, ProviderFields]:
    """Return what providers attached to the answers of this run, by step. Without calls of it among the entries it makes no query.

    That of earlier runs is not read: providers require it until the next message of a person.
    """
    has_calls = any(entry.type == "TOOL_CALL" and entry.run_id == run.id for entry in entries)
    rows = PROVIDER_FIELDS.rows(run.id) if has_calls else ()
    return {number: ProviderFields(**result["provider_fields"]) for number, result in rows}


def find_waiting_calls_of_others(run: Run, entries: Sequence[LogEntry]) -> dict[str, str]:
    """Return the calls of other runs that wait for people or for boards, with what the model reads instead of their results.
    Without open calls of other runs it makes no query."""
    made = [entry for entry in entries if entry.type == "TOOL_CALL" and entry.run_id != run.id]
    calls = {entry.payload["call_id"]: entry.run_id for entry in made}
    for entry in entries:
        if entry.type == "TOOL_RESPONSE":
            calls.pop(entry.payload["tool_call_id"], None)
    if not calls:
        return {}
    waiting = Run.objects.filter(pk__in=set(calls.values()), state=RunState.WAITING_BOARD)
    of_boards = set(waiting.values_list("pk", flat=True))
    waiting_calls = {call_id: WORKING for call_id, run_id in calls.items() if run_id in of_boards}
    return waiting_calls | dict.fromkeys(find_waiting_calls(calls), WAITING)


def list_past_calls(run: Run, open_calls: Iterable[ToolCall]) -> list[ToolCall]:
    """Return the calls of this run that have a result, made or refused, in order."""
    open_ids = {call.id for call in open_calls}
    payloads = [row[0] for row in CALLS_OF_RUN.rows(run.id)]
    calls = [ToolCall(payload["call_id"], payload["name"], payload["arguments"]) for payload in payloads]
    return [call for call in calls if call.id not in open_ids]


@dataclass(frozen=True)
class StartedCalls:
    """The calls that were started: how many by the other runs of the tree, and whether one of this run writes."""

    of_other_runs: int = 0
    has_written: bool = False


def read_started_calls(claimed: ClaimedRun) -> StartedCalls:
    """Return what the run and the other runs of its tree have started. The other runs are counted when this one is claimed.

    It makes one query. It makes none for a run that has done no step, if the run is the first of its tree, so that there are no
    other runs, or if it was claimed with its siblings.
    """
    run, of_other_runs = claimed.row, claimed.calls_of_other_runs
    if not run.steps_done and (run.root_id is None or of_other_runs is not None):
        return StartedCalls(of_other_runs or 0)
    counts = STARTED_CALLS.rows(run.id, run.tree_id)
    of_other_runs, writing = counts[0] if counts else (0, 0)
    return StartedCalls(of_other_runs, has_written=writing > 0)


def read_found_tools(run: Run) -> frozenset[str]:
    """Return the names that the model of this run has called or found by `find_tools`, from its stored calls and results."""
    is_found = Q(type="TOOL_RESPONSE", payload__name=FIND_TOOLS, payload__data__isnull=False)
    rows = Message.objects.filter(Q(type="TOOL_CALL") | is_found, run_id=run.id)
    names: set[str] = set()
    for name, data in rows.values_list("payload__name", "payload__data"):
        names |= {name} | {tool["name"] for tool in (data or {}).get("tools", ())}
    return frozenset(names)
