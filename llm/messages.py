"""The request to a model and its answer, the same for every adapter. No database, no network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class ToolCall:
    """A call as the model wrote it.

    The loop sets `id` (run, step, index); an adapter leaves it empty. `provider_id` is the model's, which may be empty or
    repeated.
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
    """One entry of the conversation as the model sees it (OpenAI's chat format).

    `is_trigger`: it is the message that the run answers, so it is never left out. The model does not see this.
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
    """One request to a model."""

    model: str
    turns: Sequence[Turn]
    tools: Sequence[ToolSchema] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Chunk:
    """A chunk of the stream. For `arguments`, `index` is the number of the call, and its first chunk has the `name`."""

    part: Literal["text", "thinking", "arguments"]
    text: str
    index: int = 0
    name: str | None = None


@dataclass(frozen=True)
class Answer:
    """The complete answer of a model. `finish`: `stop`, `tool_calls`, `length`, `content_filter`."""

    text: str
    thinking: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    finish: str
    model: str
    first_token_s: float | None = None
    seconds: float = 0.0
    tries: int = 1
