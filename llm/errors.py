"""Turn HTTP statuses, error bodies and exceptions of providers into `LLMError`."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from common.logs import redact_beginning
from common.secrets import Secret
from llm.protocol import LLMError

_CODES = {
    400: "bad_request",
    401: "refused",
    402: "refused",
    403: "refused",
    404: "not_found",
    408: "server",
    409: "server",
    413: "context_too_long",  # also from a proxy in front of the model's server
    422: "bad_request",
    429: "rate_limited",
}
MAX_TEXT_CHARACTERS = 500
_SPACE = re.compile(r"\s+")
_RETRYABLE = ("server", "rate_limited")
REDIRECTED = "The model's server sent us elsewhere; redirects are not followed."
_TRANSPORT_LIBRARIES = frozenset({"aiohttp", "httpx", "httpcore"})
# Messages of providers for a conversation that is too long for the model.
_TOO_LONG = re.compile(
    r"context.?(length|window|size|limit)|maximum context|maximum (prompt|model) length"
    r"|(prompt|input)( is)? too long|prompt 超[长長]|too many (input )?tokens|(input|prompt) token count|reduce the length"
    r"|exceeds? the (maximum|available|model)|exceed(s|ed)? (model|max length|max message|maximum length)"
    r"|input length should be|tokens` must be <=|`inputs` must have less than",
    re.IGNORECASE,
)
# Kinds of a 429 that a retry cannot resolve: the account has no credit left.
_FINAL_KINDS = ("insufficient_quota", "billing_hard_limit_reached")


def redact(text: str, key: Secret) -> str:
    """Return the text of a provider without line breaks and keys, with at most 500 characters, to be stored or shown.

    Some servers repeat the key; anything that looks like one is removed, too (SEC17).
    """
    return _SPACE.sub(" ", redact_beginning(text, 4 * MAX_TEXT_CHARACTERS, key.reveal())).strip()[:MAX_TEXT_CHARACTERS]


def build_status_error(status: int, headers: Mapping[str, str], body: bytes, key: Secret) -> LLMError:
    """Return the error for a response with another status than 200."""
    if 300 <= status < 400:
        return LLMError("host_refused", REDIRECTED)
    text, kind = _parse_error_body(body)
    code = _get_code(status, f"{kind} {text}")
    return LLMError(
        code,
        redact(f"The model's server answered {status}: {text}", key),
        retryable=code in _RETRYABLE and kind not in _FINAL_KINDS,
        retry_after=parse_retry_after(headers),
    )


def build_stream_error(error: object, key: Secret) -> LLMError:
    """Return the error for an `error` object inside a stream, or in the body of a response with status 200."""
    text, kind = _read_error_fields(error)
    status = error.get("code") if isinstance(error, Mapping) else None
    # Some servers name no status, such as LM Studio, or a word in its place (`context_length_exceeded`).
    code = "context_too_long" if _TOO_LONG.search(f"{kind} {text}") else "server"
    if isinstance(status, int) or (isinstance(status, str) and status.isdigit()):
        code = _get_code(int(status), f"{kind} {text}") if int(status) in _CODES else "server"
    retryable = code in _RETRYABLE and kind not in _FINAL_KINDS
    return LLMError(code, redact(f"The model's server broke off: {text}", key), retryable=retryable)


def build_exception_error(error: Exception, key: Secret, *, began: bool) -> LLMError:
    """Return the error for an exception of a client library. `began`: the stream was open."""
    status = getattr(error, "status_code", None)
    headers = getattr(error, "litellm_response_headers", None) or {}
    text = redact(f"The model's server failed: {error}", key)
    if not isinstance(status, int) or any(_is_transport_error(cause) for cause in iter_causes(error)):
        return LLMError("cut" if began else "unreachable", text, retryable=True)
    code = _get_code(status, f"{type(error).__name__} {error}")
    return LLMError(code, text, retryable=code in _RETRYABLE, retry_after=parse_retry_after(headers))


def _get_code(status: int, text: str) -> str:
    """Return our code for an HTTP status and the provider's text."""
    code = _CODES.get(status, "server" if status >= 500 else "bad_request")
    return "context_too_long" if code == "bad_request" and _TOO_LONG.search(text) else code


def _is_transport_error(error: BaseException) -> bool:
    """Return whether the connection failed. Classes are compared by name, so that no client library is imported.
    httpx raises `HTTPStatusError` for a response, so the connection worked."""
    kind = type(error)
    library = kind.__module__.partition(".")[0]
    return isinstance(error, OSError) or (library in _TRANSPORT_LIBRARIES and kind.__name__ != "HTTPStatusError")


def iter_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and its causes. Libraries wrap connection errors in errors of their own."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait from the header `retry-after-ms` or `retry-after` (seconds or a date), or null."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            until = _parse_date(value)
            seconds = (until - datetime.now(UTC)).total_seconds() if until else math.nan
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _parse_date(value: str) -> datetime | None:
    try:
        read = parsedate_to_datetime(value)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _parse_error_body(body: bytes) -> tuple[str, str]:
    text = body.decode("utf-8", "replace")
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    if isinstance(read, list) and read:  # Gemini's OpenAI endpoint wraps its error in a list
        read = read[0]
    return _read_error_fields(read.get("error", read) if isinstance(read, Mapping) else read)


def _read_error_fields(error: object) -> tuple[str, str]:
    """Return the provider's message and its machine-readable kind."""
    if not isinstance(error, Mapping):
        return str(error), ""
    text = error.get("message") or error.get("detail") or json.dumps(dict(error), ensure_ascii=False)
    return str(text), str(error.get("code") or error.get("type") or "")
