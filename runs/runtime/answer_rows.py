"""What an agent says and does as rows of the log: text, thinking, calls, each under an id fixed before its first byte."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chats import services as chats
from chats.models import Message
from common.clock import now
from events.payloads import MAX_TEXT, Payload, TextPayload, ThinkingPayload, ToolCallPayload, dump_payload
from events.rows import Stamp
from llm.messages import Answer, Piece, Usage
from llm.protocol import Endpoint
from runs.models import Run
from runs.runtime.conversation import get_row_id
from runs.runtime.steps import ModelAnswered


class PartialMessage:
    """What has been said of the message that is being made, for when it never becomes whole."""

    def __init__(self, message_id: UUID, text: str = "") -> None:
        self.message_id = message_id
        self._text = [text]
        self._thinking: list[str] = []

    def add(self, piece: Piece) -> None:
        """Take in a piece of the stream."""
        if piece.part == "text":
            self._text.append(piece.text)
        elif piece.part == "thinking":
            self._thinking.append(piece.text)

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking)


@dataclass(frozen=True)
class ResolvedModel:
    """The endpoint of a run's model, and the model's name there."""

    endpoint: Endpoint
    name: str


def build_answer_rows(
    run: Run, step: ModelAnswered, model: ResolvedModel, *, find_mentions: bool
) -> tuple[list[Message], Message | None]:
    """The rows of an answer, in the order they were said; and the one among them that others may hear, if there is one."""
    answer, message_id = step.answer, step.step.message_id
    stamp = build_stamp(run, model, answer.usage)
    rows = _thinking(run, message_id, answer.thinking)
    text = None
    if answer.text.strip():
        text = _text(run, message_id, answer.text, stamp, incomplete=_was_cut(answer), find_mentions=find_mentions)
        rows.append(text)
    return [*rows, *_calls(run, step, stamp)], text


def build_partial_rows(
    run: Run, partial: PartialMessage, model: ResolvedModel, *, find_mentions: bool
) -> list[Message]:
    """What was shown of a message that never became whole; nothing when it did so in the moment before (RUN11)."""
    if partial.message_id != run.message_id:
        return []
    rows = _thinking(run, partial.message_id, partial.thinking)
    if partial.text.strip():
        rows.append(
            _text(
                run,
                partial.message_id,
                partial.text,
                build_stamp(run, model),
                incomplete=True,
                find_mentions=find_mentions,
            )
        )
    return rows


def _was_cut(answer: Answer) -> bool:
    """Without calls, anything but `stop` means that the model had more to say."""
    return (answer.finish != "stop" and not answer.calls) or len(answer.text) > MAX_TEXT


def _thinking(run: Run, message_id: UUID, thinking: str) -> list[Message]:
    if not thinking.strip():
        return []
    return [_message(run, get_row_id(message_id, "thinking"), "THINKING", ThinkingPayload(text=thinking[:MAX_TEXT]))]


def _text(run: Run, message_id: UUID, text: str, stamp: Stamp, *, incomplete: bool, find_mentions: bool) -> Message:
    text = text[:MAX_TEXT]
    mentions = chats.mentions_in(run.get_chat(), text) if find_mentions else []
    payload = TextPayload(text=text, mentions=mentions, stamp=stamp, incomplete=incomplete, answers=run.trigger_id)
    return _message(run, message_id, "TEXT_MESSAGE", payload)


def _calls(run: Run, step: ModelAnswered, stamp: Stamp) -> list[Message]:
    return [
        _message(
            run, UUID(call.id.removeprefix("call_")), "TOOL_CALL",
            ToolCallPayload(
                call_id=call.id, name=call.name, arguments=call.arguments, step=step.step.number, stamp=stamp
            ),
        )
        for call in step.answer.calls
    ]  # fmt: skip


def _message(run: Run, id: UUID, type_: str, payload: Payload) -> Message:
    return Message(
        id=id, chat_id=run.get_chat_id(), author=run.agent, type=type_, run_id=run.id, created_at=now(),
        payload=dump_payload(type_, payload),
    )  # fmt: skip


def build_stamp(run: Run, model: ResolvedModel, usage: Usage | None = None) -> Stamp:
    """Which text answered, with which model, and what it took."""
    facts: dict[str, Any] = {
        "model": model.name, "provider": model.endpoint.provider, "paid_by": model.endpoint.paid_by
    }  # fmt: skip
    if usage is not None:
        facts |= {
            "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cost_micro": usage.cost_micro
        }  # fmt: skip
    return Stamp.model_validate(run.stamp).model_copy(update=facts)
