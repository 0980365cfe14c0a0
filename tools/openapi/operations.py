"""The operations of an OpenAPI document as definitions of tools."""

import json
import re
from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import ValidationError

from common.text import remove_invisible
from events.rows import ToolEffect
from tools.http.form import Definition
from tools.http.mapping import FORBIDDEN_HEADERS, READ_METHODS, RequestMapping
from tools.openapi.document import TOO_LARGE, Document, InvalidDocument, to_line
from tools.openapi.schemas import SchemaBuilder

MAX_OPERATIONS = 500
MAX_CHOSEN = 64
MAX_ARGUMENTS = 100
MAX_DEFINITION_BYTES = 4 * 1024 * 1024
"""Bytes of the definitions of a document. They are stored until the operations are chosen."""
MAX_DESCRIPTION = 2_000
_METHODS = ("get", "head", "post", "put", "patch", "delete")
_JSON = re.compile(r"application/(.+\+)?json(\s*;.*)?|\*/\*")
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


def list_operations(document: Document) -> list[Operation]:
    """Return the first `MAX_OPERATIONS` operations of a document."""
    operations: list[Operation] = []
    names: set[str] = set()
    size = 0
    for path, method, item, raw in _walk(document):
        if len(operations) == MAX_OPERATIONS:
            break
        operation = _read_operation(document, path, method, item, raw, names)
        names.add(operation.name)
        if operation.definition is not None:
            size += len(json.dumps(asdict(operation.definition)))
            if size > MAX_DEFINITION_BYTES:
                operation = replace(operation, definition=None, problem=TOO_LARGE)
        operations.append(operation)
    return operations


def _walk(document: Document) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Yield the path, the method, the path item and the operation object of each operation."""
    for path, item in document.content["paths"].items():
        try:
            item = document.resolve(item)
        except InvalidDocument:
            continue
        if isinstance(item, dict) and path.startswith("/"):
            for method in _METHODS:
                if isinstance(item.get(method), dict):
                    yield path, method.upper(), item, item[method]


def _read_operation(
    document: Document, path: str, method: str, item: dict[str, Any], raw: dict[str, Any], names: set[str]
) -> Operation:
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
        return Operation(**fields, definition=_build_definition(document, path, method, item, raw))
    except InvalidDocument as problem:
        return Operation(**fields, problem=str(problem)[:200])
    except (ValidationError, RecursionError, TypeError, AttributeError):
        return Operation(**fields, problem="its description is not valid")


def _build_definition(
    document: Document, path: str, method: str, item: dict[str, Any], raw: dict[str, Any]
) -> Definition:
    builder = SchemaBuilder(document)
    properties: dict[str, Any] = {}
    required: list[str] = []
    arguments: list[dict[str, str]] = []

    def add(where: str, target: str, schema: Any, *, is_required: bool) -> None:
        if len(properties) == MAX_ARGUMENTS:
            raise InvalidDocument(f"it has more than {MAX_ARGUMENTS} arguments")
        name = _make_argument_name(target, properties)
        properties[name] = schema
        arguments.append({"name": name, "where": where} | ({"target": target} if target != name else {}))
        if is_required:
            required.append(name)

    parameters = _list_parameters(document, item, raw)
    if len(parameters) > MAX_ARGUMENTS:
        raise InvalidDocument(f"it has more than {MAX_ARGUMENTS} arguments")
    for parameter in parameters:
        schema = builder.build(_get_schema(parameter))
        if isinstance(schema, dict) and isinstance(text := parameter.get("description"), str) and text.strip():
            schema = schema | {"description": remove_invisible(text).strip()[:500]}
        is_required = parameter.get("required") is True or parameter["in"] == "path"
        add(parameter["in"], parameter["name"], schema, is_required=is_required)
    body = _add_body(document, raw, builder, add)
    missing = set(re.findall(r"{([^{}/]+)}", path)) - {
        one.get("target", one["name"]) for one in arguments if one["where"] == "path"
    }
    if missing:
        raise InvalidDocument(f"its path has {', '.join(sorted(missing))}, which it does not describe")
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    request = RequestMapping.model_validate({"method": method, "path": path, "arguments": arguments, "body": body})
    texts = [text.strip() for text in (raw.get("summary"), raw.get("description")) if isinstance(text, str)]
    description = remove_invisible("\n\n".join(dict.fromkeys(filter(None, texts))))[:MAX_DESCRIPTION]
    return Definition(
        description=description or f"{method} {path}",
        effect="read" if method in READ_METHODS else "write",
        input_schema=builder.add_definitions(schema),
        output_schema=_build_output_schema(document, raw),
        request=request.model_dump(mode="json"),
    )


def _list_parameters(document: Document, item: dict[str, Any], raw: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parameters of the path and the operation, which takes precedence. Cookies are never sent."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for listed in (item.get("parameters"), raw.get("parameters")):
        for parameter in map(document.resolve, listed if isinstance(listed, list) else ()):
            match parameter:
                case {"in": "cookie", "required": True}:
                    raise InvalidDocument("it needs a cookie")
                case {"in": "header", "name": str(name)} if name.lower() in FORBIDDEN_HEADERS | {"accept"}:
                    continue
                case {"in": "path" | "query" | "header" as where, "name": str(name)} if name:
                    found[where, name] = parameter
    return list(found.values())


def _get_schema(parameter: dict[str, Any]) -> Any:
    content = parameter.get("content")
    if isinstance(content, dict) and content:
        raise InvalidDocument("it has a parameter with a content type")
    return parameter.get("schema", {})


def _add_body(document: Document, raw: dict[str, Any], builder: SchemaBuilder, add: Any) -> str:
    """Add the arguments of the body, and return its format."""
    body = document.resolve(raw.get("requestBody"))
    if not isinstance(body, dict):
        return "none"
    content = body.get("content")
    content = content if isinstance(content, dict) else {}
    is_required = body.get("required") is True
    for content_type, media in content.items():
        if _JSON.fullmatch(content_type) and isinstance(media, dict):
            add("body", "body", builder.build(media.get("schema", {})), is_required=is_required)
            return "whole"
    if isinstance(media := content.get(_FORM), dict):
        schema = document.resolve(media.get("schema", {}))
        for name, one in schema.get("properties", {}).items():
            add("body", name, builder.build(one), is_required=is_required and name in schema.get("required", ()))
        return "form"
    if content and is_required:
        raise InvalidDocument(f"it takes {next(iter(content))[:60]}, which cannot be sent")
    return "none"


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
