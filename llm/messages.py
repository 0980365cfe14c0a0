"""What is said to a model and what comes back, whatever the wire. No database, no network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


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
    """One entry of the conversation as the model sees it (OpenAI's chat shape).

    `is_trigger`: it is the message that the run answers, so it is never left out. The model does not see that.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    is_trigger: bool = False


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
class Chunk:
    """A chunk of the stream. For `arguments`, `index` says which call, and `name` comes with the first chunk."""

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
