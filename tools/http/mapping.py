"""How the arguments of a call become an HTTP request. No argument can leave its place in the request."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote, urlencode

from pydantic import Field, field_validator

from common.request_types import StrictModel
from tools.interface import ToolError

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
ArgumentLocation = Literal["path", "query", "header", "body"]
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


class Argument(StrictModel):
    """Where an argument goes. `target`: its name there, if it is another one."""

    name: str = Field(min_length=1, max_length=128)
    where: ArgumentLocation
    target: str = Field(default="", max_length=128)

    @property
    def sent_name(self) -> str:
        return self.target or self.name


class RequestMapping(StrictModel):
    """A request: its method, its path below the address of the server, with `{name}` for arguments, and where the others go."""

    method: Method
    path: str = Field(max_length=1000, pattern=r"^/[^\s?#\\\x00-\x1f\x7f]*$")
    arguments: tuple[Argument, ...] = Field(default=(), max_length=100)
    body: BodyFormat = "none"

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
    """A request without the credential. `path` is encoded, `query` is not."""

    method: Method
    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
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


def build_http_request(mapping: RequestMapping, arguments: Mapping[str, Any]) -> ToolRequest:
    """Return the request of a call. Raises `ToolError` if an argument of the path is missing, or a value cannot be sent in the path
    or in a header."""
    in_path: dict[str, str] = {}
    query: list[tuple[str, str]] = []
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}
    for argument in mapping.arguments:
        value = arguments.get(argument.name)
        if value is None:
            continue
        match argument.where:
            case "path":
                in_path[argument.sent_name] = _encode_segment(argument.name, value)
            case "query":
                query += [(argument.sent_name, text) for text in _list_texts(value)]
            case "header":
                headers[argument.sent_name] = _encode_header(argument.name, value)
            case "body":
                body[argument.sent_name] = value
    content, content_type = _encode_body(mapping.body, body)
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
    return ToolRequest(mapping.method, path, query, headers, content)


def _encode_segment(name: str, value: object) -> str:
    """Return a value as one segment of the path: it can neither add a segment nor leave the template."""
    text = ",".join(_list_texts(value))
    if text in ("", ".", ".."):
        raise ToolError(f"The call was not made: {name} must not be empty, . or ...")
    return quote(text, safe="")


def _encode_header(name: str, value: object) -> str:
    text = ",".join(_list_texts(value))
    try:
        check_header_value(text)
    except ValueError as error:
        raise ToolError(f"The call was not made: {name} must be one line.") from error
    return text


def _list_texts(value: object) -> list[str]:
    """Return a value as texts: a list as one for each item, an object as JSON."""
    if isinstance(value, list):
        return [text for item in value for text in _list_texts(item)]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if value is None:
        return []
    return [json.dumps(value, ensure_ascii=False)] if isinstance(value, dict) else [str(value)]


def _encode_body(body_format: BodyFormat, values: Mapping[str, Any]) -> tuple[bytes | None, str]:
    if body_format == "none" or not values:
        return None, ""
    if body_format == "form":
        pairs = [(name, text) for name, value in values.items() for text in _list_texts(value)]
        return urlencode(pairs).encode(), "application/x-www-form-urlencoded"
    [content] = values.values() if body_format == "whole" else [values]
    return json.dumps(content, ensure_ascii=False).encode(), "application/json"
