"""The data of a run: what is said to a model, what comes back, and its steps. No database, no network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID


@dataclass(frozen=True)
class ToolCall:
    """A call as the model wrote it.

    `id` is ours (run, step, index) and given by the loop; a wire leaves it empty. `provider_id` is the model's, which
    may be empty or doubled.
    """

    id: str
    name: str
    arguments: str
    index: int = 0
    provider_id: str = ""


@dataclass(frozen=True)
class Usage:
    """Tokens of one request; `cost_micro` in millionths of a US dollar, null when the price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_micro: int | None = None
    estimated: bool = False


@dataclass(frozen=True)
class Turn:
    """One entry of the conversation as the model sees it (OpenAI's chat shape)."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None


@dataclass(frozen=True)
class ToolSchema:
    """A tool as offered to the model."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """One question to a model."""

    model: str
    turns: Sequence[Turn]
    tools: Sequence[ToolSchema] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """A piece of the stream. For `arguments`, `index` says which call, and `name` comes with the first piece."""

    part: Literal["text", "thinking", "arguments"]
    text: str
    index: int = 0
    name: str | None = None


@dataclass(frozen=True)
class Answer:
    """What a model said, whole. `finish`: `stop`, `tool_calls`, `length`, `content_filter`."""

    text: str
    thinking: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    finish: str
    model: str
    first_token_s: float | None = None
    seconds: float = 0.0
    tries: int = 1


@dataclass(frozen=True)
class Outcome:
    """What came of a tool call. `fault`: the call was malformed and not made, or the tool itself broke (our bug)."""

    call: ToolCall
    status: Literal["ok", "error", "rejected", "interrupted", "timeout", "stopped"]
    text: str
    seconds: float | None = None
    fault: Literal["", "call", "tool"] = ""


@dataclass(frozen=True)
class Batch:
    """Calls settled together: one, or several that only read. `known`: said about them without making them."""

    calls: tuple[ToolCall, ...]
    known: tuple[Outcome, ...] = ()


@dataclass(frozen=True)
class StepId:
    """Where we are: the id of the message that is being made is fixed before its first byte (S2.4)."""

    number: int
    message_id: UUID


# --- what the loop yields, each before its effect or right after it -------------------------------------------------


@dataclass(frozen=True)
class Started:
    """These calls are about to be made."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True)
class Settled:
    """This came of these calls."""

    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Answered:
    """The model answered. Without a call, it is the run's last word."""

    step: StepId
    answer: Answer


@dataclass(frozen=True)
class Ended:
    """The run ends, or rests, otherwise than by an answer."""

    how: Literal["stopped", "failed", "waiting_approval"]
    code: str = ""
    text: str = ""


Step = Started | Settled | Answered | Ended


@dataclass(frozen=True)
class Saved:
    """What the driver says once a step is stored: where we are next, what was said meanwhile, whether to stop."""

    step: StepId
    news: Sequence[Turn] = ()
    stop: bool = False
