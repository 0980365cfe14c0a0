"""The protocol of a model, which every adapter implements, and the error that adapters raise."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from common.secrets import Secret
from events.payloads import PaidBy, PayerReason
from llm.messages import Answer, Chunk, ModelRequest, Usage


@dataclass(frozen=True)
class Price:
    """The prices of a model, in millionths of a dollar per token, its sizes in tokens, and whether it reads images.

    `is_cost_known` is false for a model that is listed without a price per token, for example one that is billed by the request.
    """

    input: float
    output: float
    cached_input: float
    context: int | None
    max_output: int | None
    can_see_images: bool = False
    is_cost_known: bool = True


@dataclass(frozen=True)
class SetPrice:
    """A price that an editor or an operator has set, in millionths of a dollar per token."""

    input: float
    output: float


@dataclass(frozen=True)
class Endpoint:
    """The server of a model, its key, and who pays. `provider` is a name of `common.providers`, or `merge_service`; `options` are
    the values of the provider's fields; `price` replaces the listed price of the model. `person_id` and `person_name`: whose own
    key it is, for `paid_by` person. `context_size`: the most tokens of a request, as people have set it or the server has shown it.
    """

    provider: str
    api_base: str | None
    key: Secret
    paid_by: PaidBy
    options: Mapping[str, str] = field(default_factory=dict)
    reason: PayerReason | None = field(default=None, compare=False)
    person_id: UUID | None = None
    person_name: str = field(default="", compare=False)
    price: SetPrice | None = None
    context_size: int | None = field(default=None, compare=False)


def build_origin(endpoint: Endpoint, model: str) -> str:
    """Return the name of a model of an endpoint, for `ProviderFields`: the same for every key."""
    return f"{endpoint.provider} {endpoint.api_base or ''} {model}"


@dataclass(frozen=True)
class Timeouts:
    """In seconds: until the first chunk, between two chunks, and for the whole request (RUN10)."""

    first: float = 60.0
    idle: float = 30.0
    total: float = 600.0


@dataclass(frozen=True)
class ModelTestResult:
    """The result of a model test. `code` (of `LLMError`, or `empty_answer`) and `message` are empty when the model answered, except
    that it has the code `no_tools` if it only answers without tools.
    `seconds`: until the first chunk or the error; `total`: until the end. `context_size`: how much the model reads, if its server
    says that."""

    ok: bool
    message: str
    seconds: float
    code: str = ""
    finish: str = ""
    total: float = 0.0
    usage: Usage = field(default_factory=Usage)
    context_size: int | None = None


class LLMError(Exception):
    """A request that failed.

    `code`: `timeout_first`, `timeout_idle`, `timeout_total`, `cut`, `rate_limited`, `server`, `refused` (401/402/403),
    `not_found`, `bad_request`, `no_tools` (the model calls none), `context_too_long`, `unreachable`, `host_refused`, `garbled`,
    `llm_profile_withdrawn` (not sent: the person's own model may not be used any more). `message` contains no secrets and
    can be shown. `partial_text` and `partial_thinking`: the part of the answer that arrived; `usage`: its tokens. `retryable`:
    a retry may help; `retry_after`: seconds, if the provider named them. `tries`: how many requests were made. `context_size`: the
    most tokens that the model reads, if the error says it. `is_starting`: the server loads its model. `is_full`: the requests that
    the server answers at once had no more room in its memory, which says nothing about how long one of them may be.
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
        context_size: int | None = None,
        is_starting: bool = False,
        is_full: bool = False,
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
        self.context_size = context_size
        self.is_starting = is_starting
        self.is_full = is_full


class LLM(Protocol):
    """A model. It yields the chunks of an answer first and the complete `Answer` last.

    Cancelling the task, or closing the generator, closes the connection to the provider at once (RUN16).
    """

    def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        """Send one request. Raises `LLMError`."""
        ...
