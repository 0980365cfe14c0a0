"""The interface of a model: one protocol for every adapter, and the errors that an adapter raises."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from common.secrets import Secret
from llm.messages import Answer, Chunk, Request, Usage


@dataclass(frozen=True)
class Endpoint:
    """The address of a model, and who pays for it. `provider` is a name of `common.providers`, or `merge_service`; `options`
    are the values of the provider's fields.
    """

    provider: str
    api_base: str | None
    key: Secret
    paid_by: Literal["workspace", "system", "demo"]
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Timeouts:
    """In seconds: until the first chunk, between two chunks, and for the whole request (RUN10)."""

    first: float = 60.0
    idle: float = 30.0
    total: float = 600.0


@dataclass(frozen=True)
class ModelTestResult:
    """The result of a model test. `code` (as of `LLMError`, or `empty_answer`) and `message` are empty when it answered;
    `seconds` until its first chunk, `total` until its end."""

    ok: bool
    message: str
    seconds: float
    code: str = ""
    finish: str = ""
    total: float = 0.0
    usage: Usage = field(default_factory=Usage)


class LLMError(Exception):
    """A request that did not end in an answer.

    `code`: `timeout_first`, `timeout_idle`, `timeout_total`, `cut`, `rate_limited`, `server`, `refused` (401/402/403),
    `not_found`, `bad_request`, `context_too_long`, `unreachable`, `host_refused`, `garbled`. `message` is free
    of secrets and can be shown. `partial_…` is what arrived before, and `usage` its tokens, when anything arrived;
    `retryable`: another request can help; `retry_after`: seconds, when the provider named them; `tries`: how many requests
    were made.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        partial_text: str = "",
        partial_thinking: str = "",
        usage: Usage | None = None,
        tries: int = 1,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after
        self.partial_text = partial_text
        self.partial_thinking = partial_thinking
        self.usage = usage
        self.tries = tries


class LLM(Protocol):
    """A model. Streaming is the only path: the chunks come first, the complete `Answer` last.

    Cancelling the task, or closing the generator, closes the connection upstream at once (RUN16).
    """

    def ask(self, request: Request) -> AsyncGenerator[Chunk | Answer, None]:
        """Send one request. Raises `LLMError`."""
        ...
