"""The operations of an OpenAPI document as definitions of tools."""

import json
import re
from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from common.text import remove_invisible
from events.rows import ToolEffect
from tools.http.form import Definition
from tools.http.mapping import FORBIDDEN_HEADERS, JSON_TYPE, READ_METHODS, RequestMapping
from tools.openapi.document import METHODS, TOO_LARGE, Document, InvalidDocument, to_line
from tools.openapi.schemas import SchemaBuilder

MAX_OPERATIONS = 1_000
MAX_CHOSEN = 64
MAX_ARGUMENTS = 100
MAX_DEFINITION_BYTES = 4 * 1024 * 1024
"""Bytes of the definitions of a document. They are stored until the operations are chosen."""
MAX_DESCRIPTION = 2_000
MAX_PARTS = 20
"""Levels of parts (`allOf`) of a form."""
_UNSENT_METHODS = ("options", "trace")
_JSON = re.compile(rf"{JSON_TYPE}(\s*;.*)?|\*/\*", re.IGNORECASE)
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Operation:
    """An operation that can be listed. `key`: its name in the document; `problem`: why it cannot become a tool, else empty."""

    key: str
    method: str
    path: str
    tag: str
    name: str
    summary: str
    effect: ToolEffect
    problem: str = ""
    definition: Definition | None = None


def list_operations(document: Document) -> tuple[list[Operation], int]:
    """Return the first `MAX_OPERATIONS` operations of a document, and how many more it has."""
    operations: list[Operation] = []
    names: set[str] = set()
    size = left_out = 0
    for path, method, item, raw in _walk(document):
        if len(operations) == MAX_OPERATIONS:
            left_out += 1
            continue
        operation = _read_operation(document, path, method, item, raw, names)
        names.add(operation.name)
        if operation.definition is not None:
            size += len(json.dumps(asdict(operation.definition)))
            if size > MAX_DEFINITION_BYTES:
                operation = replace(operation, definition=None, problem=TOO_LARGE)
        operations.append(operation)
    return operations, left_out


def _walk(document: Document) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Yield the path, the method, the path item and the operation of each operation. If the reference of a path
    item cannot be resolved, the method is `*`, and the item itself is the operation. An operation that is a reference is yielded as
    it is."""
    for path, item in document.content["paths"].items():
        if path.startswith("x-"):  # an extension
            continue
        try:
            found = document.resolve(item)
        except InvalidDocument:
            found = None
        if not isinstance(found, dict):
            yield path, "*", {}, item if isinstance(item, dict) else {}
            continue
        for method in (*METHODS, *_UNSENT_METHODS):
            if isinstance(found.get(method), dict):
                yield path, method.upper(), found, found[method]


def _read_operation(
    document: Document, path: str, method: str, item: dict[str, Any], raw: dict[str, Any], names: set[str]
) -> Operation:
    problem = ""
    try:
        raw = document.resolve(raw)
    except InvalidDocument as error:
        problem = str(error)
    operation_id = raw.get("operationId")
    key = operation_id if isinstance(operation_id, str) and operation_id else f"{method} {path}"
    tags = raw.get("tags")
    fields: dict[str, Any] = {
        "key": key[:400],
        "method": method,
        "path": path[:400],
        "tag": to_line(tags[0], 80) if isinstance(tags, list) and tags else "",
        "name": _make_name(key, names),
        "summary": to_line(raw.get("summary") or raw.get("description"), 200),
        "effect": "read" if method in READ_METHODS else "write",
    }
    try:
        if problem:
            raise InvalidDocument(problem)
        return Operation(**fields, definition=_build_definition(document, path, method, item, raw))
    except InvalidDocument as error:
        return Operation(**fields, problem=str(error)[:200])
    except (ValidationError, RecursionError, TypeError, AttributeError):
        return Operation(**fields, problem="its description is not valid")


def _build_definition(
    document: Document, path: str, method: str, item: dict[str, Any], raw: dict[str, Any]
) -> Definition:
    if method.lower() not in METHODS:
        raise InvalidDocument(f"its method {method} cannot be sent")
    own_server = document.find_own_server(item, raw)
    sent_path, is_from_root = _join_server(document, own_server, _check_path(path))
    builder = SchemaBuilder(document)
    properties: dict[str, Any] = {}
    required: list[str] = []
    arguments: list[dict[str, Any]] = []

    def add(where: str, target: str, schema: Any, *, is_required: bool, **style: Any) -> None:
        if len(properties) == MAX_ARGUMENTS:
            raise InvalidDocument(f"it has more than {MAX_ARGUMENTS} arguments")
        name = _make_argument_name(target, properties)
        properties[name] = schema
        arguments.append({"name": name, "where": where} | ({"target": target} if target != name else {}) | style)
        if is_required:
            required.append(name)

    parameters = _list_parameters(document, item, raw)
    if len(parameters) > MAX_ARGUMENTS:
        raise InvalidDocument(f"it has more than {MAX_ARGUMENTS} arguments")
    for parameter in parameters:
        schema = builder.build(_get_schema(document, parameter))
        if isinstance(schema, dict) and isinstance(text := parameter.get("description"), str) and text.strip():
            schema = schema | {"description": remove_invisible(text).strip()[:500]}
        is_required = parameter.get("required") is True or parameter["in"] == "path"
        add(parameter["in"], parameter["name"], schema, is_required=is_required, **_read_style(parameter))
    body, content_type = _add_body(document, raw, builder, add)
    missing = set(re.findall(r"{([^{}/]+)}", sent_path)) - {
        one.get("target", one["name"]) for one in arguments if one["where"] == "path"
    }
    if missing:
        raise InvalidDocument(f"its path has {', '.join(sorted(missing))}, which it does not describe")
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    request = RequestMapping.model_validate(
        {
            "method": method,
            "path": sent_path,
            "is_from_root": is_from_root,
            "arguments": arguments,
            "body": body,
            "content_type": content_type,
        }
    )
    texts = [text.strip() for text in (raw.get("summary"), raw.get("description")) if isinstance(text, str)]
    description = remove_invisible("\n\n".join(dict.fromkeys(filter(None, texts))))[:MAX_DESCRIPTION]
    return Definition(
        description=description or f"{method} {path}",
        effect="read" if method in READ_METHODS else "write",
        input_schema=builder.add_definitions(schema),
        output_schema=_build_output_schema(document, raw),
        request=request.model_dump(mode="json"),
    )


def _check_path(path: str) -> str:
    """Return the path without a fragment, which is never sent: documents have one to tell operations of one path apart."""
    path = path.partition("#")[0]
    if not path.startswith("/"):
        raise InvalidDocument("its path does not begin with /")
    if "?" in path:
        raise InvalidDocument("its path has a query, which cannot be sent")
    return path


def _join_server(document: Document, own_server: str | None, path: str) -> tuple[str, bool]:
    """Return the path of a request, and whether it begins at the root of the server.

    `own_server`: the server of the operation; null for that of the document. Raises `InvalidDocument` for one with another origin.
    """
    if own_server is None or own_server.rstrip("/") == document.base_url.rstrip("/"):
        return path, False
    try:
        base, own = urlsplit(document.base_url), urlsplit(own_server)
    except ValueError as error:
        raise InvalidDocument("it has a server of its own without a valid address") from error
    if (own.scheme, own.netloc) != (base.scheme, base.netloc) or own.query:
        raise InvalidDocument(f"it has a server of its own: {own_server[:100]}")
    if own.path.startswith(base_path := base.path.rstrip("/") + "/"):
        return "/" + own.path.removeprefix(base_path).strip("/") + path, False
    return own.path.rstrip("/") + path, True


def _list_parameters(document: Document, item: dict[str, Any], raw: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parameters of the path and the operation, which takes precedence. Cookies are never sent."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for listed in (item.get("parameters"), raw.get("parameters")):
        for parameter in map(document.resolve, listed if isinstance(listed, list) else ()):
            match parameter:
                case {"in": "cookie", "required": True}:
                    raise InvalidDocument("it needs a cookie")
                case {"in": "cookie"}:
                    continue
                case {"in": "header", "name": str(name)} if name.lower() in FORBIDDEN_HEADERS | {"accept"}:
                    continue
                case {"in": "path" | "query" | "header" as where, "name": str(name)} if name:
                    found[where, name] = parameter
                case _:
                    raise InvalidDocument("it has a parameter without a name or a known place")
    return list(found.values())


def _get_schema(document: Document, parameter: dict[str, Any]) -> Any:
    content = parameter.get("content")
    if not isinstance(content, dict) or not content:
        return parameter.get("schema", {})
    content_type, media = next(iter(content.items()))
    if not _JSON.fullmatch(content_type):
        raise InvalidDocument(
            f"its parameter {to_line(parameter['name'], 60)} takes {content_type[:60]}, which cannot be sent"
        )
    return media.get("schema", {})


def _read_style(parameter: dict[str, Any]) -> dict[str, Any]:
    """Return how a parameter is written, as fields of `Argument`. Raises `InvalidDocument` for a style that cannot be sent."""
    if isinstance(parameter.get("content"), dict) and parameter["content"]:
        return {"style": "json"}
    is_in_query = parameter["in"] == "query"
    default = "form" if is_in_query else "simple"
    style, explode = parameter.get("style", default), parameter.get("explode")
    if style not in (("form", "spaceDelimited", "pipeDelimited", "deepObject") if is_in_query else ("simple",)):
        name = to_line(parameter["name"], 60)
        raise InvalidDocument(f"its parameter {name} has the style {str(style)[:40]}, which cannot be sent")
    if not is_in_query:
        return {"explode": True} if explode is True else {}
    if style == "deepObject":
        return {"style": style}
    is_exploded = explode is True or (explode is None and style == "form")
    return {} if is_exploded else {"style": style}


def _add_body(document: Document, raw: dict[str, Any], builder: SchemaBuilder, add: Any) -> tuple[str, str]:
    """Add the arguments of the body. Return its format, and its content type if it is not the one of the format."""
    body = document.resolve(raw.get("requestBody"))
    if not isinstance(body, dict):
        return "none", ""
    content = body.get("content")
    content = (
        {key: value for key, value in content.items() if isinstance(value, dict)} if isinstance(content, dict) else {}
    )
    is_required = body.get("required") is True
    json_types = [content_type for content_type in content if _JSON.fullmatch(content_type)]
    if json_types:
        plain = next((one for one in json_types if _get_essence(one) == "application/json"), json_types[0])
        add("body", "body", builder.build(content[plain].get("schema", {})), is_required=is_required)
        essence = _get_essence(plain)
        return "whole", "" if essence in ("application/json", "*/*") else essence
    form = next((media for content_type, media in content.items() if _get_essence(content_type) == _FORM), None)
    if form is not None:
        _add_form(document, form, builder, add, is_required=is_required)
        return "form", ""
    if content:
        raise InvalidDocument(f"it takes {next(iter(content))[:60]}, which cannot be sent")
    return "none", ""


def _get_essence(content_type: str) -> str:
    """Return a content type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def _add_form(
    document: Document, media: dict[str, Any], builder: SchemaBuilder, add: Any, *, is_required: bool
) -> None:
    """Add an argument for each field of a form, also of those that the parts of its schema (`allOf`) have."""
    schema = document.resolve(media.get("schema", {}))
    fields, required = _list_fields(document, schema, MAX_PARTS)
    if not fields and "properties" not in schema and schema.get("additionalProperties") is not False:
        raise InvalidDocument("its form does not say which fields it has")
    encodings = media.get("encoding")
    for name, schema in fields.items():
        encoding = encodings.get(name) if isinstance(encodings, dict) else None
        style = _read_encoding(name, encoding if isinstance(encoding, dict) else {})
        add("body", name, builder.build(schema), is_required=is_required and name in required, **style)


def _read_encoding(name: str, encoding: dict[str, Any]) -> dict[str, Any]:
    """Return how a field of a form is written, as fields of `Argument`. Raises `InvalidDocument`."""
    if not encoding.keys() & {"style", "explode"}:
        content_type = encoding.get("contentType")
        is_json = isinstance(content_type, str) and _JSON.fullmatch(content_type)
        return {"style": "json"} if is_json else {}
    style = _read_style({"in": "query", "name": name, **encoding})
    return style or {"style": "form", "explode": True}


def _list_fields(document: Document, schema: Any, depth: int) -> tuple[dict[str, Any], set[str]]:
    """Return the fields of a form with their schemas, and the names of those that are required. Raises `InvalidDocument`."""
    schema = document.resolve(schema)
    document.count_schema()
    if not isinstance(schema, dict) or not schema.keys().isdisjoint(("anyOf", "oneOf")):
        raise InvalidDocument("its form has alternatives (anyOf, oneOf), which cannot be sent")
    if depth == 0:
        raise InvalidDocument("its form is nested too deeply")
    fields: dict[str, Any] = {}
    required: set[str] = set()
    parts = schema.get("allOf", [])
    for part in parts:
        more, more_required = _list_fields(document, part, depth - 1)
        fields |= more
        required |= more_required
    properties = schema.get("properties", {})
    for name, one in properties.items():
        found = document.resolve(one)
        if not (isinstance(found, dict) and found.get("readOnly") is True):
            fields[name] = one
    return fields, required | set(schema.get("required", ()))


def _build_output_schema(document: Document, raw: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema of the first successful answer that is JSON, or null if there is none, or if its schema is not valid or too
    large: the tool then has no output schema."""
    responses = raw.get("responses")
    for status, response in responses.items() if isinstance(responses, dict) else ():
        if not str(status).startswith("2"):
            continue
        try:
            content = document.resolve(response).get("content", {})
            for content_type, media in content.items():
                if _JSON.fullmatch(content_type) and isinstance(media.get("schema"), dict):
                    builder = SchemaBuilder(document, is_output=True)
                    return builder.add_definitions(builder.build(media["schema"]))
        except (InvalidDocument, AttributeError, TypeError, RecursionError):
            return None
    return None


def _make_name(key: str, names: set[str]) -> str:
    return _add_number(re.sub(r"[^A-Za-z0-9_-]+", "_", key).strip("_").lower()[:60] or "operation", names)


def _make_argument_name(target: str, names: dict[str, Any]) -> str:
    """Return a name that every provider of models accepts."""
    return _add_number(re.sub(r"[^A-Za-z0-9_.-]+", "_", target)[:60] or "argument", names)


def _add_number(base: str, names: Container[str]) -> str:
    """Return the name, with a number from 2 on if it is among `names`."""
    name, number = base, 2
    while name in names:
        name, number = f"{base}_{number}", number + 1
    return name
