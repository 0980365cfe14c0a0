"""What a provider's refusal means to us: HTTP status and error bodies as `LLMError`s."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from common.secrets import Secret
from llm.protocol import LLMError
from llm.scrubbing import scrubbed

_CODES = {
    400: "bad_request",
    401: "refused",
    402: "refused",
    403: "refused",
    404: "not_found",
    408: "server",
    409: "server",
    413: "bad_request",
    422: "bad_request",
    429: "rate_limited",
}
_RETRYABLE = ("server", "rate_limited")
REDIRECTED = "The model's server sent us elsewhere; redirects are not followed."
_TRANSPORT = frozenset({"aiohttp", "httpx", "httpcore"})
# How providers say that a conversation does not fit into the model.
_TOO_LONG = re.compile(
    r"context.?length|context.?window|context size|maximum context|prompt is too long|input is too long"
    r"|too many (input )?tokens|input token count|reduce the length|exceeds? the (maximum|available|model)",
    re.IGNORECASE,
)
# A 429 that waiting does not cure: there is no money left.
_FINAL = ("insufficient_quota", "billing_hard_limit_reached")


def error_of_status(status: int, headers: Mapping[str, str], body: bytes, key: Secret) -> LLMError:
    """The error for an answer that is not a stream."""
    if 300 <= status < 400:
        return LLMError("host_refused", REDIRECTED)
    said, kind = _said(body)
    code = _code_of(status, f"{kind} {said}")
    return LLMError(
        code,
        scrubbed(f"The model's server answered {status}: {said}", key),
        retryable=code in _RETRYABLE and kind not in _FINAL,
        retry_after=retry_after(headers),
    )


def error_of_frame(error: Any, key: Secret) -> LLMError:
    """The error for an error frame inside a stream."""
    said, kind = _said_by(error)
    status = error.get("code") if isinstance(error, Mapping) else None
    code = "server"
    if isinstance(status, int) or (isinstance(status, str) and status.isdigit()):
        code = _code_of(int(status), f"{kind} {said}") if int(status) in _CODES else "server"
    retryable = code in _RETRYABLE and kind not in _FINAL
    return LLMError(code, scrubbed(f"The model's server broke off: {said}", key), retryable=retryable)


def error_of_exception(error: Exception, key: Secret, *, began: bool) -> LLMError:
    """The error for what a provider's client library raised; `began`: the stream was open already."""
    status = getattr(error, "status_code", None)
    headers = getattr(error, "litellm_response_headers", None) or {}
    text = scrubbed(f"The model's server failed: {error}", key)
    if not isinstance(status, int) or any(_is_of_transport(one) for one in chain(error)):
        return LLMError("cut" if began else "unreachable", text, retryable=True)
    code = _code_of(status, f"{type(error).__name__} {error}")
    return LLMError(code, text, retryable=code in _RETRYABLE, retry_after=retry_after(headers))


def _code_of(status: int, said: str) -> str:
    """Return our code for an HTTP status and what the provider said with it."""
    code = _CODES.get(status, "server" if status >= 500 else "bad_request")
    return "context_too_long" if code == "bad_request" and _TOO_LONG.search(said) else code


def _is_of_transport(error: BaseException) -> bool:
    """Told by where its class lives, so that no client library is imported for it. An answered refusal is none."""
    kind = type(error)
    library = kind.__module__.partition(".")[0]
    return isinstance(error, OSError) or (library in _TRANSPORT and kind.__name__ != "HTTPStatusError")


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from; libraries hide a broken connection under errors of their own."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the provider said, in any of the three ways they say it; None when it did not."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            until = _date(value)
            seconds = (until - datetime.now(UTC)).total_seconds() if until else math.nan
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _date(value: str) -> datetime | None:
    try:
        read = parsedate_to_datetime(value)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _said(body: bytes) -> tuple[str, str]:
    text = body.decode("utf-8", "replace")
    try:
        read = json.loads(text)
    except ValueError:
        return text, ""
    if isinstance(read, list) and read:  # Gemini's OpenAI door wraps its error in a list
        read = read[0]
    return _said_by(read.get("error", read) if isinstance(read, Mapping) else read)


def _said_by(error: Any) -> tuple[str, str]:
    """The provider's sentence, and its machine-readable kind."""
    if not isinstance(error, Mapping):
        return str(error), ""
    text = error.get("message") or error.get("detail") or json.dumps(dict(error), ensure_ascii=False)
    return str(text), str(error.get("code") or error.get("type") or "")
