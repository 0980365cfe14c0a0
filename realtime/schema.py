"""Building the OpenAPI document: the REST API, the frames of the socket, the payloads of messages, and the error codes.

The TypeScript types are generated from it. `manage.py export_schema --check` fails if the generated file is out of date.
"""

import json
import re
from typing import Any

from drf_spectacular.contrib.pydantic import PydanticExtension
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.plumbing import ResolvedComponent
from pydantic import TypeAdapter

from actors import account_schema
from agents.specs.content import SpecContent, ToolSettings
from chats import mentions
from common.errors import Code
from common.rest import ErrorAnswer
from events.frames import ClientFrame, ServerFrame
from events.payloads import PAYLOADS
from events.row import COMPONENT
from events.rows import AnswerThumbs, MessageMetadata, MessageRow
from events.rows.kinds import ANY_ROW, build_any_row_adapter
from tools.registry import AGENT_TOOL_NAME

EXTRA_COMPONENTS: dict[str, TypeAdapter[Any]] = {
    "ServerFrame": TypeAdapter(ServerFrame),
    "ClientFrame": TypeAdapter(ClientFrame),
    "MessageRow": TypeAdapter(MessageRow),
    "MessageMetadata": TypeAdapter(MessageMetadata),
    "AnswerThumbs": TypeAdapter(AnswerThumbs),
    **{payload.__name__: TypeAdapter(payload) for payload in PAYLOADS.values()},
    "Code": TypeAdapter(Code),
    "ErrorAnswer": TypeAdapter(ErrorAnswer),
    "SpecContent": TypeAdapter(SpecContent),
    "ToolSettings": TypeAdapter(ToolSettings),
}
"""Components of the document that no operation of the REST API refers to."""

REFERENCE = "#/components/schemas/{model}"


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "actors.auth.BearerToken"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A personal API token: `atl_…`"}


class BrowserSessionScheme(OpenApiAuthenticationExtension):
    target_class = "actors.auth.BrowserSession"
    name = "browser"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}


class AppSessionScheme(OpenApiAuthenticationExtension):
    target_class = "actors.auth.AppSession"
    name = "app"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": "X-Session-Token"}


class ModelExtension(PydanticExtension):
    """Support for Pydantic models in `extend_schema`. The name of a generic one is changed: `Page[Row]` becomes `PageOfRow`.

    A model in a request body is a separate component, because a request may leave out fields that a response always has.
    """

    priority = 1

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return re.sub(r"\[(\w+)\]", r"Of\1", super().get_name(auto_schema, direction))

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        if direction == "request":
            schema = self.target.model_json_schema(mode="validation", ref_template=f"{REFERENCE}Request")
            return _register_definitions(schema, auto_schema, suffix="Request")
        return _register_definitions(
            self.target.model_json_schema(mode="serialization", ref_template=REFERENCE), auto_schema
        )


class UnionExtension(OpenApiSerializerExtension):
    """Support for unions with a name, such as `MessageRow`, in `extend_schema`."""

    target_class = "typing_extensions.TypeAliasType"

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        name: str = self.target.__name__
        return name

    def get_identity(self, auto_schema: Any, direction: Any) -> Any:
        return self.target.__name__

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        schema = TypeAdapter(self.target).json_schema(mode="serialization", ref_template=REFERENCE)
        return _register_definitions(schema, auto_schema)


def _register_definitions(schema: dict[str, Any], auto_schema: Any, *, suffix: str = "") -> dict[str, Any]:
    """Register the definitions of a schema as components, and return the schema without them."""
    for name, inner in schema.pop("$defs", {}).items():
        name += suffix
        component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=inner)
        auto_schema.registry.register_on_missing(component)
    return schema


def complete_document(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add `EXTRA_COMPONENTS`, error responses and summaries to the document, mark required bodies, and simplify it.
    drf-spectacular calls this hook."""
    schemas = result["components"]["schemas"]
    for name, adapter in (EXTRA_COMPONENTS | {ANY_ROW: build_any_row_adapter()}).items():
        schema = adapter.json_schema(mode="serialization", ref_template=REFERENCE)
        schemas |= schema.pop("$defs", {})
        schemas[name] = schema
    add_errors(result)
    _add_summaries(result)
    _require_bodies(result)
    document: dict[str, Any] = _simplify(result)
    document["info"]["title"] = "Atelier"
    return document


def _add_summaries(document: dict[str, Any]) -> None:
    """Make the first sentence of each description, which is the docstring of a view's method, the summary of the operation."""
    for methods in document["paths"].values():
        for operation in methods.values():
            summary, *rest = re.split(r"(?<=\.)\s+", operation.pop("description", ""), maxsplit=1)
            operation["summary"] = summary.removesuffix(".")
            if rest:
                operation["description"] = rest[0]


def _require_bodies(document: dict[str, Any]) -> None:
    """Mark the body of a request as required if a field of it is."""
    schemas = document["components"]["schemas"]
    for methods in document["paths"].values():
        for operation in methods.values():
            body = operation.get("requestBody", {})
            for content in body.get("content", {}).values():
                schema = content["schema"]
                if "$ref" in schema:
                    schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
                if schema.get("required"):
                    body["required"] = True


ERROR_RESPONSES = {
    "400": "The request does not match the schema, or its content is invalid.",
    "401": "The request is anonymous, or its token is invalid.",
    "403": "The person may see this, but not do it.",
    "404": "There is no such object, or the person may not see it.",
    "409": "The request conflicts with the present state.",
    "413": "The request is too large.",
    "415": "The body is not JSON.",
    "429": "Too many requests; `Retry-After` has the seconds to wait.",
    "503": "A part of the server is unavailable for a moment.",
}
"""The error responses of operations, by status."""
IMPOSSIBLE_STATUSES = {"get": {"409", "413", "415"}}
"""For a method, the statuses of `ERROR_RESPONSES` that its operations never return."""


def add_errors(result: dict[str, Any]) -> None:
    """Add the error responses to each operation."""
    content = {"application/json": {"schema": {"$ref": REFERENCE.format(model="ErrorAnswer")}}}
    responses = result["components"].setdefault("responses", {})
    responses |= {
        f"Error{status}": {"description": text, "content": content} for status, text in ERROR_RESPONSES.items()
    }
    for path in result["paths"].values():
        for method, operation in path.items():
            for status in set(ERROR_RESPONSES) - IMPOSSIBLE_STATUSES.get(method, set()):
                reference = {"$ref": f"#/components/responses/Error{status}"}
                operation["responses"].setdefault(status, reference)


def _simplify(node: Any) -> Any:
    """Return a schema that generators of clients support.

    Titles, which only repeat names, are removed. Nested unions are flattened. Discriminators are removed, because their mapping
    cannot name a union; clients distinguish the members of a union by their literals.
    """
    if isinstance(node, list):
        return [_simplify(item) for item in node]
    if not isinstance(node, dict):
        return node
    if COMPONENT in node:
        return {"$ref": REFERENCE.format(model=node[COMPONENT])}
    # A property with the name `title` or `discriminator` has a schema as its value, and is kept.
    schema = {
        key: _simplify(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "discriminator" and "oneOf" in node)
    }
    if "oneOf" in schema:
        schema["oneOf"] = [inner for member in schema["oneOf"] for inner in member.get("oneOf", [member])]
    return schema


def _add_account_operations(document: dict[str, Any]) -> None:
    """Add allauth's sign-up, sign-in and session, which are no views of the REST framework."""
    document["paths"] |= account_schema.build_account_operations(REFERENCE)
    for model in account_schema.MODELS:
        schema = model.model_json_schema(ref_template=REFERENCE)
        document["components"]["schemas"] |= _simplify(schema.pop("$defs", {}) | {model.__name__: schema})


def build_schema(server: str = "") -> str:
    """Return the OpenAPI document as JSON, the same on every machine. `server`: the address of the server that it is for."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    if server:
        schema["servers"] = [{"url": server}]
    _add_account_operations(schema)
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def build_default_spec() -> str:
    """Return the TypeScript module of the spec whose fields all have their defaults."""
    content = json.dumps(SpecContent().as_json(), indent=2, ensure_ascii=False)
    return (
        "// Written by `manage.py export_schema`.\n"
        "import type { components } from './schema'\n\n"
        "/** The spec whose fields all have their defaults. */\n"
        f"export const defaultSpec: components['schemas']['SpecContent'] = {content}\n"
    )


def build_constants() -> str:
    """Return the TypeScript module of the constants that no schema can express."""
    patterns = {
        "spaced": mentions.SPACED,
        "beginning": mentions.MENTION_BEGINNING,
        "ending": mentions.MENTION_END,
        "mention": mentions.MENTION,
        "codeAndAddresses": mentions.CODE_AND_ADDRESSES,
        "indentedCode": mentions.INDENTED_CODE,
        "listItem": mentions.LIST_ITEM,
    }
    return (
        "// Written by `manage.py export_schema`.\n\n"
        "/** The names of public agents as tools. */\n"
        f"export const agentToolName = /{AGENT_TOOL_NAME.pattern}/\n\n"
        "/** Patterns of mentions, explained in `chats/mentions.py`. */\n"
        f"export const mentionPatterns = {{\n{''.join(map(_build_property, patterns.items()))}}}\n"
    )


def _build_property(name_and_text: tuple[str, str]) -> str:
    """Return a line of a TypeScript object, broken as the formatter of the web app breaks it."""
    name, text = name_and_text
    value = "'" + json.dumps(text)[1:-1] + "'"
    separator = " " if len(name) + len(value) <= 115 else "\n    "
    return f"  {name}:{separator}{value},\n"
