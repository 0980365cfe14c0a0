"""Requests to models and their answers, the same for every adapter."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

ChunkPart = Literal["text", "thinking", "arguments"]


@dataclass(frozen=True)
class ToolCall:
    """A call as the model wrote it.

    Adapters leave `id` empty; the loop sets it. `provider_id` is the id that the model sent, which may be empty or repeated.
    """

    id: str
    name: str
    arguments: str
    index: int = 0
    provider_id: str = ""


@dataclass(frozen=True)
class Usage:
    """Tokens of one request; `cost_micro` in millionths of a US dollar, null when the price is not known. `estimated_input`: our
    own estimate of the `input_tokens` that the server reported, from which `TokenFactor` is learnt; null: not computed."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_micro: int | None = None
    estimated: bool = False
    estimated_input: int | None = None


@dataclass(frozen=True)
class Image:
    """An image that the model sees."""

    content_type: str
    data: bytes


@dataclass(frozen=True)
class ProviderFields:
    """What a provider attached to an answer with calls, such as its thinking or signatures. It may require them in later requests.

    `origin`: the server and model that sent them (`build_origin`); no other gets them. `message`: the fields of the answer;
    `calls`: those of each call, among them `id`, the id that the provider gave it.
    """

    origin: str
    message: dict[str, Any] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        """The fields as one text, from which their tokens are estimated."""
        return json.dumps([self.message, self.calls], ensure_ascii=False)


@dataclass(frozen=True)
class Turn:
    """One message of a conversation in OpenAI's chat format. Only a user's message has images; only an assistant's message with
    calls has `provider_fields`.

    `is_trigger`: the run answers this message, so it is never left out. This is not sent to the model.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    is_trigger: bool = False
    images: tuple[Image, ...] = ()
    provider_fields: ProviderFields | None = None


@dataclass(frozen=True)
class ToolSchema:
    """A tool that is offered to the model."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ModelRequest:
    """One request to a model. `tool_choice`: the tool that the model has to call. `wants_json`: the answer has to be JSON, if the
    provider has a mode for that."""

    model: str
    turns: Sequence[Turn]
    tools: Sequence[ToolSchema] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tool_choice: str = ""
    wants_json: bool = False


@dataclass(frozen=True)
class Chunk:
    """A chunk of a streamed answer. For `arguments`, `index` is the number of the call, and its first chunk has the `name`."""

    part: ChunkPart
    text: str
    index: int = 0
    name: str | None = None


@dataclass(frozen=True)
class Answer:
    """The complete answer of a model. `finish`: `stop`, `tool_calls`, `length`, `content_filter`. `cut_at_tokens`: it was cut at so
    many tokens, because budgets had not enough left for a longer answer. `remaining_turns`: how many texts were left in the request
    after it was shortened for being too long; null: it was not. `shows_context_size`: a longer request was refused before it, by an
    error that did not say how much the model reads. `left_out_tools`: why the provider does not accept these tools, by their names;
    the request was sent without them."""

    text: str
    thinking: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    finish: str
    model: str
    first_token_s: float | None = None
    seconds: float = 0.0
    tries: int = 1
    cut_at_tokens: int | None = None
    provider_fields: ProviderFields | None = None
    remaining_turns: int | None = None
    shows_context_size: bool = False
    left_out_tools: Mapping[str, str] = field(default_factory=dict)
