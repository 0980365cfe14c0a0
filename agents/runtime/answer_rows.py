"""What an agent says and does as rows of the log: text, thinking, calls, each under an id fixed before its first byte."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from agents.llm.exchange import Answer, Usage
from agents.llm.protocol import Endpoint
from agents.models import Run
from agents.runtime.steps import Answered
from chats import services as chats
from chats.models import Message
from common.clock import now
from events.payloads import MAX_TEXT, Text, Thinking, ToolCall, checked_payload
from events.rows import Stamp


@dataclass
class Partial:
    """What has been said of the message that is being made, for when it never becomes whole."""

    message_id: UUID
    text: str = ""
    thinking: str = ""


@dataclass(frozen=True)
class Means:
    """With what a run thinks: the endpoint, and the model's name there."""

    endpoint: Endpoint
    model: str


def answer_rows(run: Run, step: Answered, means: Means) -> tuple[list[Message], Message | None]:
    """The rows of an answer, in the order they were said; and the one among them that others may hear, if there is one."""
    answer, message_id = step.answer, step.step.message_id
    stamp = stamp_of(run, means, answer.usage)
    rows = _thinking(run, message_id, answer.thinking)
    text = None
    if answer.text.strip():
        text = _text(run, message_id, answer.text, stamp, incomplete=_was_cut(answer))
        rows.append(text)
    return [*rows, *_calls(run, step, stamp)], text


def partial_rows(run: Run, partial: Partial, means: Means) -> list[Message]:
    """What was shown of a message that never became whole; nothing when it did so in the moment before (B11)."""
    if partial.message_id != run.message_id:
        return []
    rows = _thinking(run, partial.message_id, partial.thinking)
    if partial.text.strip():
        rows.append(_text(run, partial.message_id, partial.text, stamp_of(run, means), incomplete=True))
    return rows


def _was_cut(answer: Answer) -> bool:
    """Without calls, anything but `stop` means that the model had more to say."""
    return (answer.finish != "stop" and not answer.calls) or len(answer.text) > MAX_TEXT


def _thinking(run: Run, message_id: UUID, thinking: str) -> list[Message]:
    if not thinking.strip():
        return []
    return [_message(run, uuid5(message_id, "thinking"), "THINKING", Thinking(text=thinking[:MAX_TEXT]))]


def _text(run: Run, message_id: UUID, text: str, stamp: Stamp, *, incomplete: bool) -> Message:
    assert run.chat is not None
    mentions = [] if run.is_compared else chats.mentions_in(run.chat, text)
    payload = Text(text=text[:MAX_TEXT], mentions=mentions, stamp=stamp, incomplete=incomplete)
    return _message(run, message_id, "TEXT_MESSAGE", payload)


def _calls(run: Run, step: Answered, stamp: Stamp) -> list[Message]:
    return [
        _message(
            run, UUID(call.id.removeprefix("call_")), "TOOL_CALL",
            ToolCall(
                call_id=call.id, name=call.name, arguments=call.arguments, step=step.step.number, stamp=stamp
            ),
        )
        for call in step.answer.calls
    ]  # fmt: skip


def _message(run: Run, id: UUID, type_: str, payload: Any) -> Message:
    return Message(
        id=id, chat_id=run.room_id, author=run.agent, type=type_, run_id=run.id, created_at=now(),
        payload=checked_payload(type_, payload.model_dump()),
    )  # fmt: skip


def stamp_of(run: Run, means: Means, usage: Usage | None = None) -> Stamp:
    """Which text answered, with which model, and what it took (S0.6, B2)."""
    facts: dict[str, Any] = {
        "model": means.model, "provider": means.endpoint.provider, "paid_by": means.endpoint.paid_by
    }  # fmt: skip
    if usage is not None:
        facts |= {
            "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cost_micro": usage.cost_micro
        }  # fmt: skip
    return Stamp.model_validate(run.stamp).model_copy(update=facts)
