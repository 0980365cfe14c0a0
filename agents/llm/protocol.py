"""How a run talks to a model: one protocol for every wire, and the errors a wire may raise."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol

from agents.llm.exchange import Answer, Piece, Request
from common.secrets import Secret

Provider = Literal["demo", "openai", "anthropic", "gemini", "openrouter", "openai_compatible", "merge_service"]


@dataclass(frozen=True)
class Endpoint:
    """Where a model is to be had, and with whose key (`paid_by`)."""

    provider: Provider
    api_base: str | None
    key: Secret
    paid_by: Literal["workspace", "system", "demo"]


@dataclass(frozen=True)
class Timeouts:
    """In seconds: until the first piece, between two pieces, and for the whole request (B10)."""

    first: float = 60.0
    idle: float = 30.0
    total: float = 600.0


@dataclass(frozen=True)
class Trial:
    """What came of trying a model: `message` is empty when it answered; `seconds` until its first piece."""

    ok: bool
    message: str
    seconds: float


class LLMError(Exception):
    """A request that did not end in an answer.

    `code`: `timeout_first`, `timeout_idle`, `timeout_total`, `cut`, `rate_limited`, `server`, `refused` (401/402/403),
    `not_found`, `bad_request`, `unreachable`, `host_refused`, `garbled`. `message` is scrubbed of secrets and can be
    shown. `partial_…` is what had come before; `retryable` says whether asking again can help; `retry_after` in seconds
    when the provider said so; `tries` how often it was asked.
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
        tries: int = 1,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after
        self.partial_text = partial_text
        self.partial_thinking = partial_thinking
        self.tries = tries


class LLM(Protocol):
    """A model that can be asked. Streaming is the only path: pieces come first, the whole `Answer` last.

    Cancelling the task, or closing the generator, closes the connection upstream at once (B16).
    """

    def ask(self, request: Request) -> AsyncGenerator[Piece | Answer, None]:
        """Ask once more. Raises `LLMError`."""
        ...
