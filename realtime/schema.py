"""What goes over the wire, as one OpenAPI document: the REST API, the socket's frames, messages' payloads, error codes.

TypeScript's types are generated from it; `manage.py export_schema --check` fails when it is out of date.
"""

import json
import re
from typing import Any

from drf_spectacular.contrib.pydantic import PydanticExtension
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.plumbing import ResolvedComponent
from pydantic import TypeAdapter

from agents.specs.content import SpecContent, ToolSettings
from common.errors import Code
from common.rest import ErrorAnswer
from events.frames import ClientFrame, ServerFrame
from events.payloads import PAYLOADS
from events.row import COMPONENT
from events.rows import MessageRow

BESIDES: dict[str, TypeAdapter[Any]] = {
    "ServerFrame": TypeAdapter(ServerFrame),
    "ClientFrame": TypeAdapter(ClientFrame),
    "MessageRow": TypeAdapter(MessageRow),
    **{payload.__name__: TypeAdapter(payload) for payload in PAYLOADS.values()},
    "Code": TypeAdapter(Code),
    "ErrorAnswer": TypeAdapter(ErrorAnswer),
    "SpecContent": TypeAdapter(SpecContent),
    "ToolSettings": TypeAdapter(ToolSettings),
}
"""What no operation of the REST API mentions."""

REFERENCE = "#/components/schemas/{model}"


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "actors.auth.Token"
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


class RowExtension(PydanticExtension):
    """Pydantic models in `extend_schema`. A generic one gets a plain name: `Page[MessageRow]` becomes `PageOfMessageRow`.

    The models inside a request are components of their own: what a request may leave out, an answer always has.
    """

    priority = 1

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return re.sub(r"\[(\w+)\]", r"Of\1", super().get_name(auto_schema, direction))

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        if direction == "request":
            schema = self.target.model_json_schema(mode="validation", ref_template=f"{REFERENCE}Request")
            return _registered(schema, auto_schema, suffix="Request")
        return _registered(self.target.model_json_schema(mode="serialization", ref_template=REFERENCE), auto_schema)


class UnionExtension(OpenApiSerializerExtension):
    """A union of rows that has a name, such as `MessageRow`, in `extend_schema`."""

    target_class = "typing_extensions.TypeAliasType"

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        name: str = self.target.__name__
        return name

    def get_identity(self, auto_schema: Any, direction: Any) -> Any:
        return self.target.__name__

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        schema = TypeAdapter(self.target).json_schema(mode="serialization", ref_template=REFERENCE)
        return _registered(schema, auto_schema)


def _registered(schema: dict[str, Any], auto_schema: Any, *, suffix: str = "") -> dict[str, Any]:
    """Return the schema without its definitions, which become components."""
    for name, inner in schema.pop("$defs", {}).items():
        name += suffix
        component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=inner)
        auto_schema.registry.register_on_missing(component)
    return schema


def add_frames(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: what REST does not mention joins the components; titles, which only say a name
    again and would become types of their own, go."""
    schemas = result["components"]["schemas"]
    for name, adapter in BESIDES.items():
        schema = adapter.json_schema(mode="serialization", ref_template=REFERENCE)
        schemas |= schema.pop("$defs", {})
        schemas[name] = schema
    add_errors(result)
    document: dict[str, Any] = _simplified(result)
    document["info"]["title"] = "Atelier"
    return document


REFUSALS = {
    "400": "The request has the wrong shape or content.",
    "401": "Nobody is signed in, or the token is no good.",
    "403": "The person may see this, but not do it.",
    "404": "There is no such thing, or the person may not know of it.",
    "409": "Somebody or something was there first.",
    "413": "The request is too large.",
    "415": "The body is not JSON.",
    "429": "Too many requests at once; `Retry-After` says when to try again.",
    "503": "Something that is needed is away for a moment.",
}
"""Every refusal that an operation may answer with."""
NEVER = {"get": {"409", "413", "415"}}
"""By method: what is not among them."""


def add_errors(result: dict[str, Any]) -> None:
    """Document the refusals of each operation, all in the one shape of errors."""
    shape = {"application/json": {"schema": {"$ref": REFERENCE.format(model="ErrorAnswer")}}}
    responses = result["components"].setdefault("responses", {})
    responses |= {f"Error{status}": {"description": text, "content": shape} for status, text in REFUSALS.items()}
    for path in result["paths"].values():
        for method, operation in path.items():
            for status in set(REFUSALS) - NEVER.get(method, set()):
                reference = {"$ref": f"#/components/responses/Error{status}"}
                operation["responses"].setdefault(status, reference)


def _simplified(node: Any) -> Any:
    """Return a schema as generators of clients read it.

    Titles only repeat a name. A union in a union becomes one; the discriminator goes, whose mapping has no entry for a
    union. Clients tell the members by their literals.
    """
    if isinstance(node, list):
        return [_simplified(item) for item in node]
    if not isinstance(node, dict):
        return node
    if COMPONENT in node:
        return {"$ref": REFERENCE.format(model=node[COMPONENT])}
    # A property that is called `title` or `discriminator` has a schema, not a text or a mapping.
    schema = {
        key: _simplified(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "discriminator" and "oneOf" in node)
    }
    if "oneOf" in schema:
        schema["oneOf"] = [inner for member in schema["oneOf"] for inner in member.get("oneOf", [member])]
    return schema


def build_schema() -> str:
    """The document as JSON, the same on every machine."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
