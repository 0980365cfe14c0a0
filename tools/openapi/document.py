"""Read an OpenAPI document: JSON, or YAML without aliases, of version 3.0 or 3.1."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from math import isfinite
from typing import Any
from urllib.parse import unquote, urljoin

import yaml
from pydantic_core import from_json

from common.text import remove_invisible, to_storable
from common.yaml_loader import JsonTypesLoader
from events.rows import AuthScheme

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 64
MAX_REFERENCES = 20
"""References that may follow one another."""
MAX_NUMBER_CHARACTERS = 100
METHODS = ("get", "head", "post", "put", "patch", "delete")
"""The methods of operations that can become tools, as the document has them."""
MAX_SCHEMAS = 400_000
"""Schemas that are built of one document. Each operation builds those that it uses."""
_MAX_URL = 400
TOO_LARGE = "the document has too many large schemas"
"""The problem of operations for which there was no room left."""


class InvalidDocument(ValueError):
    """The document cannot be read; the message is for the editor."""


class _Loader(JsonTypesLoader):
    """A loader that refuses long numbers."""

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        if len(node.value) > MAX_NUMBER_CHARACTERS:
            raise InvalidDocument("It has a number that is too long.")
        is_int = node.tag.endswith(":int")
        number: int | float = self.construct_yaml_int(node) if is_int else self.construct_yaml_float(node)
        return number


for _tag in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _Loader.construct_number)


@dataclass(frozen=True)
class SecurityScheme:
    """How the document says that a request signs in."""

    auth: AuthScheme = AuthScheme.NONE
    auth_name: str = ""


@dataclass(frozen=True)
class Document:
    """A document as parsed JSON. `url`: where it was read, if it was not pasted."""

    content: dict[str, Any]
    url: str = ""
    _schemas: Iterator[int] = field(default_factory=count)

    def count_schema(self) -> None:
        """Count a schema that is built. Raises `InvalidDocument` when there are too many."""
        if next(self._schemas) >= MAX_SCHEMAS:
            raise InvalidDocument(TOO_LARGE)

    @property
    def title(self) -> str:
        return to_line(_get_dict(self.content, "info").get("title"), 80)

    @property
    def version(self) -> str:
        """The version of OpenAPI."""
        return str(self.content["openapi"])

    @property
    def is_30(self) -> bool:
        return self.version.startswith("3.0")

    @cached_property
    def base_url(self) -> str:
        """The address that the document suggests; empty if it names none. Without servers, it is the root of the document's host,
        or the server that the first operation names if all name one."""
        listed: Any = self.content
        if not _has_servers(self.content) and self._own_servers and all(map(_has_servers, self._own_servers)):
            listed = self._own_servers[0]
        return self.get_server_url(listed)

    @cached_property
    def _own_servers(self) -> list[dict[str, Any]]:
        """For each operation, the object whose servers count: the operation, or its path item."""
        items = [item for item in self.content["paths"].values() if isinstance(item, dict)]
        pairs = [(item, item[method]) for item in items for method in METHODS if isinstance(item.get(method), dict)]
        return [operation if _has_servers(operation) else item for item, operation in pairs]

    def find_own_server(self, item: dict[str, Any], operation: dict[str, Any]) -> str | None:
        """Return the address of the server that an operation or its path item names, or null if neither names one."""
        listed = next((one for one in (operation, item) if _has_servers(one)), None)
        return None if listed is None else self.get_server_url(listed)

    def get_server_url(self, listed: dict[str, Any]) -> str:
        """Return the address of the first server that an object lists, with the default values of its variables."""
        server = listed["servers"][0] if _has_servers(listed) else {}
        variables = _get_dict(server, "variables")

        def get_default(placeholder: re.Match[str]) -> str:
            variable = variables.get(placeholder[1])
            default = variable.get("default") if isinstance(variable, dict) else placeholder[0]
            return to_line(str(default) if isinstance(default, int) else default, _MAX_URL)

        # In one pass: a value that names another variable could stand for any number of bytes.
        url = re.sub(r"{([^{}]*)}", get_default, to_line(server.get("url"), _MAX_URL))[:_MAX_URL]
        try:
            return to_line(urljoin(self.url, url or "/") if self.url else url, _MAX_URL)
        except ValueError:
            return ""

    @cached_property
    def sign_in(self) -> SecurityScheme:
        """The first way to sign in that can be used here. A token of OAuth is sent as a bearer token, if there is no other way."""
        found = SecurityScheme()
        for scheme in _get_dict(_get_dict(self.content, "components"), "securitySchemes").values():
            try:
                scheme = self.resolve(scheme)
            except InvalidDocument:
                continue
            match scheme:
                case {"type": "http", "scheme": str(name)} if name.lower() == "bearer":
                    return SecurityScheme(AuthScheme.BEARER)
                case {"type": "http", "scheme": str(name)} if name.lower() == "basic":
                    return SecurityScheme(AuthScheme.BASIC)
                case {"type": "apiKey", "in": "header" | "query" as where, "name": str(name)}:
                    return SecurityScheme(AuthScheme(where), name[:80])
                case {"type": "oauth2" | "openIdConnect"}:
                    found = SecurityScheme(AuthScheme.BEARER)
        return found

    def resolve(self, value: Any) -> Any:
        """Return the value that a reference leads to, or the value itself. Raises `InvalidDocument`."""
        for _ in range(MAX_REFERENCES):
            if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
                return value
            value = self.get_target(value["$ref"])
        raise InvalidDocument("Too many references follow one another.")

    def get_target(self, reference: str) -> Any:
        """Return what `#/…` names in this document. Raises `InvalidDocument`, also for another document."""
        if not reference.startswith("#"):
            raise InvalidDocument(f"It refers to another document: {reference[:100]}.")
        if not reference.startswith("#/"):
            raise InvalidDocument(f"It refers to a name in the document, which is not looked up: {reference[:100]}.")
        value: Any = self.content
        for key in split_reference(reference):
            if (
                isinstance(value, list)
                and key.isascii()
                and key.isdecimal()
                and len(key) < 10
                and int(key) < len(value)
            ):
                value = value[int(key)]
            elif isinstance(value, dict) and key in value:
                value = value[key]
            else:
                raise InvalidDocument(f"It has nothing at {reference[:100]}.")
        return value


def split_reference(reference: str) -> list[str]:
    """Return the keys of a reference such as `#/components/schemas/Item`."""
    return [part.replace("~1", "/").replace("~0", "~") for part in unquote(reference.removeprefix("#/")).split("/")]


def _has_servers(value: dict[str, Any]) -> bool:
    servers = value.get("servers")
    return isinstance(servers, list) and bool(servers) and isinstance(servers[0], dict)


def parse_document(text: str, url: str = "") -> Document:
    """Return the document. Raises `InvalidDocument` for a text that is no OpenAPI document, or one of another version."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise InvalidDocument(f"The document has more than {MAX_BYTES // 1024 // 1024} MB.")
    content = _normalize(_parse(text))
    if not isinstance(content, dict):
        raise InvalidDocument("It is not an OpenAPI document.")
    if "swagger" in content:
        raise InvalidDocument("It is a Swagger 2 document. Convert it to OpenAPI 3 first.")
    version = content.get("openapi")
    if not isinstance(version, str) or not version.startswith(("3.0", "3.1")):
        raise InvalidDocument("It is not an OpenAPI document of version 3.0 or 3.1.")
    if not isinstance(content.get("paths"), dict):
        raise InvalidDocument("It has no paths.")
    return Document(content, url)


def _parse(text: str) -> object:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        if text.lstrip()[:1] in ("{", "["):
            raise InvalidDocument(f"It is no valid JSON: {str(error)[:200]}.") from error
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            # A few hundred bytes of aliases can stand for millions of values.
            if isinstance(event, yaml.AliasEvent):
                raise InvalidDocument("YAML with aliases is not read. Write it as JSON.")
            # Loading recurses in C, where no exception ends it.
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise InvalidDocument("It is nested too deeply.")
        return yaml.load(text, Loader=_Loader)  # a subclass of the safe loader
    # A value that its tag does not fit raises other errors than `YAMLError`: `!!bool maybe`.
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError) as error:
        if isinstance(error, InvalidDocument):
            raise
        raise InvalidDocument("It is neither JSON nor YAML.") from error


def _normalize(value: Any, depth: int = 0) -> Any:
    """Return a parsed value as JSON that can be stored: YAML has keys that are numbers, and values that JSON does not have."""
    if depth > MAX_DEPTH:
        raise InvalidDocument("It is nested too deeply.")
    if isinstance(value, dict):
        return {to_storable(str(key)): _normalize(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_normalize(item, depth + 1) for item in value]
    if isinstance(value, int) and value.bit_length() > 4 * MAX_NUMBER_CHARACTERS:  # a digit has at most 4 bits
        raise InvalidDocument("It has a number that is too long.")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    return to_storable(str(value))


def _get_dict(value: dict[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def to_line(value: object, limit: int) -> str:
    """Return a text of a document in one line, without invisible characters; empty if the value is no text."""
    return " ".join(remove_invisible(value).split())[:limit] if isinstance(value, str) else ""
