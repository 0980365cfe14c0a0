"""How the arguments of a call become an HTTP request. No argument can leave its place in the request."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote, quote_plus

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from common.request_types import StrictModel
from tools.interface import ToolError

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
ArgumentLocation = Literal["path", "query", "header", "body"]
ArgumentStyle = Literal["", "form", "spaceDelimited", "pipeDelimited", "deepObject", "json"]
"""How a list or an object is written, by the names of OpenAPI. Empty: as the place of the argument has it. In the query, a list is
one parameter for each item, and an object one for each key. In a form, an object is JSON. In the path and in a header, both are
separated by commas. `json`: any value is JSON."""
BodyFormat = Literal["none", "json", "form", "whole"]
"""What is sent as the body. `json`: an object of the body arguments; `form`: the same, as a form; `whole`: the value of the one
body argument, as JSON."""

READ_METHODS = ("GET", "HEAD")
FORBIDDEN_HEADERS = frozenset(
    "accept-encoding authorization connection content-length content-type cookie expect host idempotency-key keep-alive"
    " proxy-authorization te trailer transfer-encoding upgrade user-agent".split()
)
"""Headers that are set by us or by the connection."""
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,80}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PLACEHOLDER = re.compile(r"{([^{}/]+)}")
_DELIMITERS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}
JSON_TYPE = r"application/([a-zA-Z0-9!#$&^_.-]+\+)?json"
_MAX_PAIRS = 1_000
"""Parameters that one argument may become."""


class _Compact(StrictModel):
    """A model whose newer fields are left out while they are empty, so that the hash of an approved definition stays the same."""

    @model_serializer(mode="wrap")
    def _leave_out_empty(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        newer = ("style", "explode", "content_type", "is_from_root")
        return {name: value for name, value in serialize(self).items() if value or name not in newer}


class Argument(_Compact):
    """Where an argument goes. `target`: its name there, if it is another one. `explode`: each item or key is a parameter of its
    own; in the path and in a header, an object is written as `key=value`."""

    name: str = Field(min_length=1, max_length=128)
    where: ArgumentLocation
    target: str = Field(default="", max_length=128)
    style: ArgumentStyle = ""
    explode: bool = False

    @property
    def sent_name(self) -> str:
        return self.target or self.name


class RequestMapping(_Compact):
    """A request: its method, its path below the address of the server, with `{name}` for arguments, and where the others go.

    `is_from_root`: the path begins at the root of the server, whatever the path of the server's address is. `content_type`: that of
    the body, if it is not the one of its format.
    """

    method: Method
    path: str = Field(max_length=1000, pattern=r"^/[^\s?#\\\x00-\x1f\x7f]*$")
    is_from_root: bool = False
    arguments: tuple[Argument, ...] = Field(default=(), max_length=100)
    body: BodyFormat = "none"
    content_type: str = Field(default="", max_length=100, pattern=f"^({JSON_TYPE})?$")

    @field_validator("path")
    @classmethod
    def _check_segments(cls, path: str) -> str:
        if any(segment in (".", "..") for segment in path.split("/")):
            raise ValueError("The path must not have . or .. as a part.")
        return path

    @field_validator("arguments")
    @classmethod
    def _check_arguments(cls, arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        if len({argument.name for argument in arguments}) != len(arguments):
            raise ValueError("Each argument can be listed once.")
        for argument in arguments:
            if argument.where == "header":
                check_header_name(argument.sent_name)
        return arguments

    def list_placeholders(self) -> list[str]:
        """Return the names in the path that stand for arguments."""
        return _PLACEHOLDER.findall(self.path)


@dataclass(frozen=True)
class ToolRequest:
    """A request without the credential. `path` and `query` are encoded."""

    method: Method
    path: str
    query: str = ""
    is_from_root: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None


def check_header_name(name: str) -> None:
    """Raise `ValueError` for a name that is no header's, or a header that cannot be chosen."""
    if not _HEADER_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a header.")
    if name.lower() in FORBIDDEN_HEADERS:
        raise ValueError(f"The header {name} cannot be set.")


def check_header_value(value: str) -> None:
    """Raise `ValueError` for a value that could end the header."""
    if _CONTROL.search(value):
        raise ValueError("A header must not have line breaks or control characters.")


def build_http_request(
    mapping: RequestMapping, arguments: Mapping[str, Any], *, credential_name: str = ""
) -> ToolRequest:
    """Return the request of a call. `credential_name`: the parameter that carries the credential, which no key of an object may be.

    Raises `ToolError` if an argument of the path is missing, or a value cannot be sent in its place.
    """
    in_path: dict[str, str] = {}
    query: list[_Pair] = []
    headers: dict[str, str] = {}
    body: list[tuple[Argument, Any]] = []
    for argument in mapping.arguments:
        value = arguments.get(argument.name)
        if value is None:
            continue
        match argument.where:
            case "path":
                in_path[argument.sent_name] = _encode_segment(argument, value)
            case "query":
                query += _list_pairs(argument, value, credential_name)
            case "header":
                headers[argument.sent_name] = _encode_header(argument, value)
            case "body":
                body.append((argument, value))
    content, content_type = _encode_body(mapping, body, credential_name)
    if content_type:
        headers["Content-Type"] = content_type
    missing = [name for name in mapping.list_placeholders() if name not in in_path]
    if missing:
        raise ToolError(f"The call was not made: {', '.join(missing)} is missing.")
    # `split` returns texts and the names of placeholders alternately: the names are at odd positions.
    parts = _PLACEHOLDER.split(mapping.path)
    path = "".join(
        in_path[part] if position % 2 else quote(part, safe="/%:@!$&'()*+,;=-._~")
        for position, part in enumerate(parts)
    )
    return ToolRequest(mapping.method, path, _join_pairs(query), mapping.is_from_root, headers, content)


_Pair = tuple[str, str]
"""The name of a parameter of the query or of a form, and its encoded value."""


def _join_pairs(pairs: list[_Pair]) -> str:
    return "&".join(f"{quote_plus(name)}={value}" for name, value in pairs)


def _list_pairs(argument: Argument, value: Any, credential_name: str) -> list[_Pair]:
    """Return an argument of the query or of a form as parameters.

    Raises `ToolError` if they are too many, or if one has the name of the parameter that carries the credential.
    """
    name, style = argument.sent_name, argument.style
    if style == "deepObject":
        pairs = [(path, quote_plus(text)) for path, text in _walk_deep(name, value)]
    elif style == "json" or (style == "" and argument.where == "body" and isinstance(value, dict)):
        pairs = [(name, quote_plus(_to_json(value)))]
    elif (delimiter := _DELIMITERS.get(style)) and not argument.explode and isinstance(value, dict | list):
        texts = _list_items(value)
        pairs = [(name, delimiter.join(map(quote_plus, texts)))] if texts else []
    elif isinstance(value, dict):
        pairs = [(key, quote_plus(text)) for key, item in value.items() for text in _list_texts(item)]
    else:
        pairs = [(name, quote_plus(text)) for text in _list_texts(value)]
    if len(pairs) > _MAX_PAIRS:
        raise ToolError(f"The call was not made: {argument.name} has more than {_MAX_PAIRS:,} values.")
    if credential_name and any(name.casefold() == credential_name.casefold() for name, _ in pairs):
        raise ToolError(f"The call was not made: {credential_name} carries the credential of the server.")
    return pairs


def _walk_deep(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield each plain value with its path, such as `items[0][price]`."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _walk_deep(f"{name}[{key}]", item)
    else:
        for text in _list_texts(value):
            yield name, text


def _encode_segment(argument: Argument, value: Any) -> str:
    """Return a value as one segment of the path: it can neither add a segment nor leave the template."""
    texts = _list_simple(argument, value)
    if ",".join(texts) in ("", ".", ".."):
        raise ToolError(f"The call was not made: {argument.name} must not be empty, . or ...")
    return ",".join(quote(text, safe="=" if argument.explode else "") for text in texts)


def _encode_header(argument: Argument, value: Any) -> str:
    text = ",".join(_list_simple(argument, value))
    try:
        check_header_value(text)
    except ValueError as error:
        raise ToolError(f"The call was not made: {argument.name} must be one line.") from error
    return text


def _list_simple(argument: Argument, value: Any) -> list[str]:
    """Return the texts of a value in the path or in a header, which are separated by commas."""
    if argument.style == "json":
        return [_to_json(value)]
    if argument.explode and isinstance(value, dict):
        return [f"{key}={text}" for key, item in value.items() for text in _list_texts(item)]
    return _list_items(value)


def _list_items(value: Any) -> list[str]:
    """Return the texts of a value that are separated in one parameter: keys and values of an object alternate."""
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, ",".join(_list_texts(item)))]
    return _list_texts(value)


def _list_texts(value: Any) -> list[str]:
    """Return a value as texts: a list as one for each item, an object as JSON."""
    if isinstance(value, list):
        return [text for item in value for text in _list_texts(item)]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if value is None:
        return []
    return [_to_json(value)] if isinstance(value, dict) else [str(value)]


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _encode_body(
    mapping: RequestMapping, values: list[tuple[Argument, Any]], credential_name: str
) -> tuple[bytes | None, str]:
    """Return the body, or null, and its content type."""
    if mapping.body == "none" or not values:
        return None, ""
    if mapping.body == "form":
        pairs = [pair for argument, value in values for pair in _list_pairs(argument, value, credential_name)]
        return _join_pairs(pairs).encode(), "application/x-www-form-urlencoded"
    content = values[0][1] if mapping.body == "whole" else {argument.sent_name: value for argument, value in values}
    return _to_json(content).encode(), mapping.content_type or "application/json"
