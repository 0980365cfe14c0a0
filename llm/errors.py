"""Turn HTTP statuses, error bodies and exceptions of providers into `LLMError`."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any

from common.logs import redact_beginning
from common.secrets import Secret
from common.text import to_storable
from llm.messages import ModelRequest
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
    r"|input length should be|tokens` must be <=|`inputs` must have less than|max_?seq(uence)?_?len(gth)?"
    r"|(prompt|input)_?tokens.{0,60}(less than|exceed)|ContextWindowExceeded|exceed_context_size",
    re.IGNORECASE,
)
_SIZE = re.compile(
    r"(?:n_ctx|max_model_len|max_seq_len|context_length|context (?:length|size|window)|prompt length|model maximum|maximum context"
    r"|model length)\b\"?[^\d<>]{0,30}?(\d{3,8})\b"
    r"|(\d{3,8}) (?:tokens? )?(?:maximum|max)\b|> (\d{3,8})\b|(\d{3,8}) maximum context",
    re.IGNORECASE,
)
"""How many tokens a model reads, in an error that says so."""
_NO_TOOLS = re.compile(
    r"(not|n't) (support|allow|accept)(ed)? .{0,20}\b(tool|function)|support.{0,10}\b(tool use|tool calling|function calling)"
    r"|\b(tool|function)s?( us(e|ing)| calls?| calling| choice)?\b.{0,20} (is|are) not (supported|enabled|available)"
    r"|requires? --(jinja|enable-auto-tool-choice)|tool_choice.{0,60}--enable-auto-tool-choice",
    re.IGNORECASE,
)
_SCHEMA = re.compile(r"schema|parameters|function_declarations", re.IGNORECASE)
_TOOL_POSITION = re.compile(r"\b(?:tools|function_declarations)(?:\[|\.)(\d{1,3})\b")
_STARTING = re.compile(r"loading|(is|not) (yet )?(starting|ready)|warming up", re.IGNORECASE)
NO_TOOLS = "This model calls no tools. Choose another model, or an agent without tools."
_RATE = re.compile(r"per[ -]?(second|minute|min|hour|day)|rate.?limit|quota|\b[TR]PM\b", re.IGNORECASE)
"""A limit of a rate, which may be one of tokens."""
_CODES_BY_WORDS = (
    (
        "not_found",
        r"model\b.{0,200}(not exist|not found|not available)|(unknown|no such|invalid) model|模型.{0,40}不存在",
    ),
    ("rate_limited", r"rate.?limit|too many requests|per minute|限流|频率"),
    (
        "refused",
        r"(invalid|incorrect|wrong|missing|no)\b.{0,20}(api.?key|credential)|unauthori[sz]ed|authentication|余额不足"
        r"|insufficient.{0,10}(balance|quota|credit|fund)|permission denied",
    ),
    (
        "bad_request",
        r"(invalid|illegal|unsupported|missing|unknown)\b.{0,20}(request|param|value|argument|field)|bad request"
        r"|(parameter|field|value|argument)s?\b.{0,60}(invalid|missing)|validation error|参数|(input|value) should be"
        r"|\bis required\b",
    ),
)
"""The code of an error without an HTTP status, by what it says."""
WEB_PAGE = "This address answers with a web page, not as a model: check it, it often ends with /v1."
_PAGE = re.compile(r"<(!doctype html|html|head|body|title)\b", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[a-z/!?][^<>]*>", re.IGNORECASE)
_MAX_MARKUP_CHARACTERS = 8_000
_MESSAGE_FIELDS = ("error", "message", "detail", "msg", "error_msg", "error_description", "errors", "reason")
"""The fields in which servers say why they failed, in the order of preference."""
# Kinds of a 429 that a retry cannot resolve: the account has no credit left.
_FINAL_KINDS = ("insufficient_quota", "billing_hard_limit_reached")


def redact(text: str, key: Secret) -> str:
    """Return the text of a provider without line breaks and keys, with at most 500 characters, to be stored or shown.

    Some servers repeat the key; anything that looks like one is removed, too (SEC17).
    """
    # Before keys are searched: removing a character could complete one.
    beginning = redact_beginning(to_storable(text), 4 * MAX_TEXT_CHARACTERS, key.reveal())
    return _SPACE.sub(" ", beginning).strip()[:MAX_TEXT_CHARACTERS]


def build_status_error(status: int, headers: Mapping[str, str], body: bytes, key: Secret) -> LLMError:
    """Return the error for a response with another status than 200."""
    if 300 <= status < 400:
        return LLMError("host_refused", REDIRECTED)
    text, kind = _parse_error_body(body)
    code = _get_code(status, f"{kind} {text}")
    if status in (404, 405) and _PAGE.search(text[:_MAX_MARKUP_CHARACTERS]):
        code, text = "not_found", WEB_PAGE
    return LLMError(
        code,
        redact(f"The model's server answered {status}: {_remove_markup(text)}", key),
        retryable=code in _RETRYABLE and kind not in _FINAL_KINDS,
        retry_after=parse_retry_after(headers),
        context_size=find_context_size(body.decode("utf-8", "replace")) if code == "context_too_long" else None,
        is_starting=status in (502, 503) and bool(_STARTING.search(text)),
    )


def build_stream_error(error: object, key: Secret) -> LLMError:
    """Return the error for an `error` object inside a stream, or in the body of a response with status 200 (`find_error`)."""
    text, kind = _read_error_fields(error)
    # Some servers name no status, such as LM Studio, or a word or a number of their own in its place.
    status = _find_status(error)
    code = _get_code(status, f"{kind} {text}") if status else _find_code_by_words(f"{kind} {text}")
    size = find_context_size(text) if code == "context_too_long" else None
    # llama.cpp accepts requests that together exceed the size that they share, and then breaks some of them off.
    is_full = code == "context_too_long" and size is None and status is not None and status >= 500
    return LLMError(
        code,
        redact(f"The model's server broke off: {_remove_markup(text)}", key),
        retryable=is_full or (code in _RETRYABLE and kind not in _FINAL_KINDS),
        context_size=size,
        is_full=is_full,
    )


def find_context_size(text: str) -> int | None:
    """Return how many tokens the model reads, as the error of a conversation that is too long says it, or null."""
    sizes = [int(next(filter(None, match.groups()))) for match in _SIZE.finditer(text[: 4 * MAX_TEXT_CHARACTERS])]
    return min(sizes, default=None)


def find_refused_tool(error: LLMError, request: ModelRequest) -> str | None:
    """Return the tool whose schema the provider does not accept, by its error, or null."""
    if error.code != "bad_request" or not _SCHEMA.search(error.message):
        return None
    named = [
        tool.name for tool in request.tools if re.search(rf"(?<![\w-]){re.escape(tool.name)}(?![\w-])", error.message)
    ]
    if not named and (position := _TOOL_POSITION.search(error.message)):
        named = [tool.name for tool in request.tools[int(position[1]) :][:1]]
    return named[0] if len(named) == 1 and named[0] != request.tool_choice else None


def explain_no_tools(error: LLMError, request: ModelRequest) -> LLMError:
    """Return the error with what can be done about `no_tools`, which only a request with tools can have."""
    if error.code == "no_tools":
        if request.tools:
            error.message = f"{NO_TOOLS} {error.message}"[:MAX_TEXT_CHARACTERS]
        else:
            error.code = "bad_request"
    return error


def build_text_error(body: bytes, key: Secret) -> LLMError:
    """Return the error for a body with status 200 that is neither an answer nor JSON, for example a web page."""
    text = body.decode("utf-8", "replace")
    if _PAGE.search(text[:_MAX_MARKUP_CHARACTERS]):
        return LLMError("not_found", WEB_PAGE)
    return LLMError(
        "garbled", redact(f"The model's server sent no answer: {_remove_markup(text)}", key), retryable=True
    )


def find_error(read: Mapping[str, Any]) -> object:
    """Return the error in a JSON object with status 200, which may be the object itself; null for a part of an answer."""
    if error := read.get("error"):
        return error
    kind = str(read.get("object") or "")
    is_answer = bool(read.get("choices")) or read.get("choices") == [] or kind.startswith("chat.completion")
    says_why = any(isinstance(read.get(name), (str, list)) and read[name] for name in _MESSAGE_FIELDS)
    return read if kind == "error" or (not is_answer and says_why) else None


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
    """Return our code for an HTTP status and the provider's text. Proxies send a conversation that is too long with any status."""
    if _TOO_LONG.search(text) and not (status == 429 and _RATE.search(text)):
        return "context_too_long"
    if status not in (401, 429) and _NO_TOOLS.search(text):
        return "no_tools"
    return _CODES.get(status, "server" if status >= 500 else "bad_request")


def _find_status(error: object) -> int | None:
    """Return the HTTP status that an error names, or null."""
    if isinstance(error, Mapping):
        for name in ("status", "status_code", "code"):
            value = str(error.get(name))
            if value.isdecimal() and len(value) == 3 and 400 <= int(value) < 600:
                return int(value)
    return None


def _find_code_by_words(text: str) -> str:
    if _TOO_LONG.search(text):
        return "context_too_long"
    if _NO_TOOLS.search(text):
        return "no_tools"
    found = (code for code, words in _CODES_BY_WORDS if re.search(words, text[:MAX_TEXT_CHARACTERS], re.IGNORECASE))
    return next(found, "server")


def _remove_markup(text: str) -> str:
    """Return the words of a text that is HTML or XML; any other text as it is."""
    text = text[:_MAX_MARKUP_CHARACTERS]
    if not (text.lstrip().startswith("<") or _PAGE.search(text)):
        return text
    words = unescape(_TAG.sub(" ", _UNSEEN.sub(" ", text))).strip()
    return words or unescape(_TAG.sub(" ", text)).strip() or "a page without a text"


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
    if isinstance(read, Mapping) and isinstance(read.get("error"), Mapping):
        read = read["error"]
    return _read_error_fields(read)


def _read_error_fields(error: object) -> tuple[str, str]:
    """Return the provider's message and its machine-readable kind."""
    if not isinstance(error, Mapping):
        return str(error), ""
    text = _read_message(error) or json.dumps(dict(error), ensure_ascii=False)
    metadata = error.get("metadata")
    if isinstance(metadata, Mapping) and isinstance(raw := metadata.get("raw"), str):
        text = f"{text} {raw}"  # OpenRouter quotes the provider
    return text, str(error.get("code") or error.get("type") or "")


def _read_message(value: object, depth: int = 0) -> str:
    """Return the text in the first of the `_MESSAGE_FIELDS` that has one. A list has several."""
    if isinstance(value, str) or depth > 4:
        return value if isinstance(value, str) else ""
    if isinstance(value, list):
        return " ".join(filter(None, (_read_message(item, depth + 1) for item in value[:8])))
    if isinstance(value, Mapping):
        return next(filter(None, (_read_message(value.get(name), depth + 1) for name in _MESSAGE_FIELDS)), "")
    return ""
