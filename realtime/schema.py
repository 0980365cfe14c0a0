"""What goes over the wire, as one OpenAPI document: the REST API, the socket's frames, messages' payloads, error codes.

TypeScript's types are generated from it; `manage.py export_schema --check` fails when it is out of date.
"""

import json
import re
from typing import Any

from drf_spectacular.contrib.pydantic import PydanticExtension
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from pydantic import TypeAdapter

from agents.content import SpecContent
from common.errors import Code
from events.frames import ClientFrame, ServerFrame
from events.payloads import any_payload

BESIDES: dict[str, TypeAdapter[Any]] = {
    "ServerFrame": TypeAdapter(ServerFrame),
    "ClientFrame": TypeAdapter(ClientFrame),
    "Payload": any_payload,
    "Code": TypeAdapter(Code),
    "SpecContent": TypeAdapter(SpecContent),
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
    """Names that are names: `Page[MessageRow]` becomes `PageOfMessageRow`."""

    priority = 1

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return re.sub(r"\[(\w+)\]", r"Of\1", super().get_name(auto_schema, direction))


def add_frames(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: what REST does not mention joins the components; titles, which only say a name
    again and would become types of their own, go."""
    schemas = result["components"]["schemas"]
    for name, adapter in BESIDES.items():
        schema = adapter.json_schema(mode="serialization", ref_template=REFERENCE)
        schemas |= schema.pop("$defs", {})
        schemas[name] = schema
    document: dict[str, Any] = _without_titles(result)
    document["info"]["title"] = "Atelier"
    return document


def _without_titles(node: Any) -> Any:
    if isinstance(node, dict):
        # A property that is called `title` has a schema, not a text.
        return {k: _without_titles(v) for k, v in node.items() if not (k == "title" and isinstance(v, str))}
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    return node


def whole_schema() -> str:
    """The document as JSON, the same on every machine."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
