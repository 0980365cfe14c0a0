"""Build the messages that a run adds to the chat's log: texts, thinking, tool calls and their results."""

from uuid import UUID, uuid5

from chats import services as chats
from chats.models import Message
from common.clock import now
from events.payloads import (
    MAX_TEXT,
    ContextFacts,
    LeftOutTool,
    Payload,
    TextPayload,
    ThinkingPayload,
    ToolCallPayload,
    ToolData,
    ToolResponsePayload,
    UsedMemory,
    dump_payload,
)
from events.rows import Stamp
from llm.messages import Answer, Chunk
from runs.models import Run, RunState, Step
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.conversation import get_row_id
from runs.runtime.steps import ModelAnswered, ToolResult
from usage.owners import ResolvedModel

UNFINISHED_CALL = {
    RunState.STOPPED: {"status": "stopped", "text": "The work was stopped before this call came to an end."},
    RunState.FAILED: {"status": "interrupted", "text": "The work broke off before this call came to an end."},
}


class PartialMessage:
    """The part of a message that was streamed so far; it is stored if the message is never completed."""

    def __init__(self, message_id: UUID, text: str = "") -> None:
        self.message_id = message_id
        self._text = [text]
        self._thinking: list[str] = []

    def add(self, chunk: Chunk) -> None:
        if chunk.part == "text":
            self._text.append(chunk.text)
        elif chunk.part == "thinking":
            self._thinking.append(chunk.text)

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking)


def build_answer_messages(
    claimed: ClaimedRun, run: Run, event: ModelAnswered, model: ResolvedModel, *, find_mentions: bool
) -> tuple[list[Message], Message | None]:
    """Return the rows of an answer in their order, and the text message among them, or null. `run`: as it is stored now."""
    answer, message_id = event.answer, event.step.message_id
    stamp = build_stamp(claimed, run, model, answer)
    rows = _build_thinking(run, message_id, answer.thinking)
    message = None
    if answer.text.strip():
        # Without calls, any reason but `stop` means that the model did not finish.
        is_cut = (answer.finish != "stop" and not answer.calls) or len(answer.text) > MAX_TEXT
        message = _build_text(
            claimed, run, message_id, answer.text, stamp, incomplete=is_cut, find_mentions=find_mentions
        )
        if not answer.calls:
            _mark_if_earlier_text(run, message)
        rows.append(message)
    for call in answer.calls:
        payload = ToolCallPayload(
            call_id=call.id, name=call.name, arguments=call.arguments, step=event.step.number, stamp=stamp
        )
        rows.append(_build_message(run, UUID(call.id.removeprefix("call_")), "TOOL_CALL", payload))
    return rows, message


def build_partial_messages(
    claimed: ClaimedRun, run: Run, partial: PartialMessage, model: ResolvedModel, *, find_mentions: bool
) -> list[Message]:
    """Return the rows of a message that was not completed; none if the run has begun its next message."""
    if partial.message_id != run.message_id:
        return []
    rows = _build_thinking(run, partial.message_id, partial.thinking)
    if partial.text.strip():
        stamp = build_stamp(claimed, run, model)
        text = _build_text(
            claimed, run, partial.message_id, partial.text, stamp, incomplete=True, find_mentions=find_mentions
        )
        rows.append(text)
    return rows


def build_result_message(
    run: Run,
    *,
    call_id: str,
    name: str,
    status: str,
    text: str,
    seconds: float | None = None,
    data: ToolData | None = None,
    quotes_agents: bool = False,
) -> Message:
    """Return the message of a call's result. Its id is derived from that of the call, so that there is only one."""
    fields = {"tool_call_id": call_id, "name": name, "status": status, "text": text, "seconds": seconds, "data": data}
    response = ToolResponsePayload.model_validate(fields | {"quotes_agents": True if quotes_agents else None})
    return _build_message(run, uuid5(UUID(call_id.removeprefix("call_")), "result"), "TOOL_RESPONSE", response)


def build_results_of_open_calls(run: Run) -> list[Message]:
    """Return a result for each call without one, of a run that was stopped or failed: that of its step, or `UNFINISHED_CALL`."""
    rows = Message.objects.filter(run_id=run.id, type__in=["TOOL_CALL", "TOOL_RESPONSE"]).order_by("seq")
    payloads = list(rows.values_list("type", "payload"))
    finished = {payload["tool_call_id"] for type_, payload in payloads if type_ == "TOOL_RESPONSE"}
    calls = [ToolCallPayload.model_validate(payload) for type_, payload in payloads if type_ == "TOOL_CALL"]
    unfinished = UNFINISHED_CALL[RunState(run.state)]
    done = dict(Step.objects.filter(run=run, kind="tool", state="done").values_list("call_id", "result"))
    return [
        build_result_message(run, call_id=call.call_id, name=call.name, **(done.get(call.call_id) or unfinished))
        for call in calls
        if call.call_id not in finished
    ]


def build_stamp(claimed: ClaimedRun, run: Run, model: ResolvedModel, answer: Answer | None = None) -> Stamp:
    """Return the stamp of an answer: the version, the model, who pays and why, and the usage."""
    endpoint = model.endpoint
    fields: dict[str, object] = {
        "model": model.name,
        "provider": endpoint.provider,
        "paid_by": endpoint.paid_by,
        "payer_id": endpoint.person_id,
        "payer_name": endpoint.person_name or None,
        "payer_reason": endpoint.reason,
        "replaced_model": model.replaced or None,
        "context": claimed.earlier_context.facts if claimed.earlier_context else None,
    }
    if answer is not None:
        usage = answer.usage
        fields |= {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        fields |= {"cost_micro": usage.cost_micro, "cut_at_tokens": answer.cut_at_tokens}
        if answer.left_out_tools:
            fields["left_out_tools"] = [
                LeftOutTool(name=name, reason=why) for name, why in answer.left_out_tools.items()
            ]
        if answer.remaining_turns is not None:
            size = {"turns": answer.remaining_turns, "is_shortened": True}
            facts = claimed.earlier_context.facts if claimed.earlier_context else None
            facts = facts or ContextFacts(strategy="truncate", turns=0)
            fields["context"] = facts.model_copy(update=size)
    return Stamp.model_validate(run.stamp).model_copy(update=fields)


def _build_thinking(run: Run, message_id: UUID, text: str) -> list[Message]:
    payload = ThinkingPayload(text=text[:MAX_TEXT])
    return [_build_message(run, get_row_id(message_id, "thinking"), "THINKING", payload)] if text.strip() else []


def _build_text(
    claimed: ClaimedRun, run: Run, id: UUID, text: str, stamp: Stamp, *, incomplete: bool, find_mentions: bool
) -> Message:
    text = text[:MAX_TEXT]
    mentions = chats.find_mentions(run.get_chat(), text) if find_mentions else []
    read = claimed.memory
    memory = UsedMemory(notes=len(read.notes), entries=len(read.entries)) if read else None
    is_reply = run.replies_to_trigger or len(run.answered_ids) > 1
    payload = TextPayload(
        text=text,
        mentions=mentions,
        stamp=stamp,
        incomplete=incomplete,
        answers=run.trigger_id,
        memory=memory if memory and (memory.notes or memory.entries) else None,
        answered_ids=run.answered_ids if len(run.answered_ids) > 1 else None,
    )
    message = _build_message(run, id, "TEXT_MESSAGE", payload)
    message.reply_to_id = run.trigger_id if is_reply else None
    return message


def build_passed_on_answer(run: Run, text: str, result: ToolResult, *, incomplete: bool) -> tuple[Message, Message]:
    """Return the rows of a run that waits and answers, without its model, with what its open call has brought: the result of
    the call, and the text. `incomplete`: the text was not finished. The agent and the chat of the run must be loaded."""
    row = build_result_message(
        run, call_id=result.call.id, name=result.call.name, status=result.status, text=result.text, quotes_agents=True
    )
    stamp = Stamp.model_validate(run.stamp)
    message = _build_text(
        ClaimedRun(run), run, run.get_message_id(), text, stamp, incomplete=incomplete, find_mentions=True
    )
    _mark_if_earlier_text(run, message)
    return row, message


def _mark_if_earlier_text(run: Run, message: Message) -> None:
    """Let an answer say that a message which it answers was changed after the run has read it."""
    if not set(run.changed_ids).isdisjoint(run.list_message_ids()):
        message.payload["answers_earlier_text"] = True


def _build_message(run: Run, id: UUID, type_: str, payload: Payload) -> Message:
    return Message(
        id=id,
        chat_id=run.get_chat_id(),
        author=run.agent,
        type=type_,
        run_id=run.id,
        metadata=run.metadata,
        group_seq=run.group_seq,
        is_unused=run.group_seq is not None,  # until the answer is complete
        created_at=now(),
        payload=dump_payload(type_, payload),
    )
