"""Make JSON Schemas of the schemas of an OpenAPI document, with the definitions that they use."""

import json
import re
from typing import Any

from common.text import remove_invisible
from tools.openapi.document import Document, InvalidDocument, split_reference

MAX_DEFINITIONS = 200
MAX_SCHEMA_BYTES = 32 * 1024
MAX_SUBSCHEMAS = 8_000
"""The subschemas that one schema may have, at all levels. More would be larger than `MAX_SCHEMA_BYTES`."""
MAX_DESCRIPTION = 500

# The keywords that are kept: those with a plain value, with one schema, and with a list of schemas.
_PLAIN = frozenset(
    "type enum const default format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern"
    " minItems maxItems uniqueItems minProperties maxProperties required".split()
)
_ONE = frozenset(("items", "additionalProperties", "not", "contains", "propertyNames"))
_MANY = frozenset(("anyOf", "oneOf", "allOf", "prefixItems"))


class SchemaBuilder:
    """Builds the schema of one operation. Equal references become one definition, so that a cycle ends."""

    def __init__(self, document: Document, *, is_output: bool = False) -> None:
        self._document = document
        self._keyword_of_skipped = "writeOnly" if is_output else "readOnly"
        self._names: dict[str, str] = {}
        self._schemas = 0
        self.definitions: dict[str, Any] = {}

    def build(self, schema: Any) -> Any:
        """Return a schema without the keywords that a model does not need. Raises `InvalidDocument`."""
        self._document.count_schema()
        self._schemas += 1
        if self._schemas > MAX_SUBSCHEMAS:
            raise InvalidDocument(f"its schema is larger than {MAX_SCHEMA_BYTES // 1024} KB")
        if not isinstance(schema, dict):
            return schema if isinstance(schema, bool) else {}
        if isinstance(schema.get("$ref"), str):
            return self._build_beside_reference(schema)
        built: dict[str, Any] = {key: value for key, value in schema.items() if key in _PLAIN}
        if isinstance(text := schema.get("description"), str) and text.strip():
            built["description"] = remove_invisible(text).strip()[:MAX_DESCRIPTION]
        # In the order of the document, on which the names of the definitions depend.
        for key, value in schema.items():
            if key in _ONE:
                built[key] = self.build(value)
            elif key in _MANY and isinstance(value, list):
                built[key] = [self.build(one) for one in value]
        if isinstance(properties := schema.get("properties"), dict):
            # Those of an input that only the server sends, and those of an output that only the client sends.
            skipped = {
                name
                for name, one in properties.items()
                if isinstance(one, dict) and one.get(self._keyword_of_skipped) is True
            }
            built["properties"] = {name: self.build(one) for name, one in properties.items() if name not in skipped}
            if isinstance(built.get("required"), list):
                built["required"] = [name for name in built["required"] if name not in skipped]
        return self._convert_30(built, schema) if self._document.is_30 else built

    def add_definitions(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema with the definitions that it uses. Raises `InvalidDocument` if it is too large."""
        whole = schema | ({"$defs": self.definitions} if self.definitions else {})
        if len(json.dumps(whole, ensure_ascii=False).encode()) > MAX_SCHEMA_BYTES:
            raise InvalidDocument(f"its schema is larger than {MAX_SCHEMA_BYTES // 1024} KB")
        return whole

    def _build_beside_reference(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of a reference, with the keywords beside it."""
        built = self._build_reference(schema["$ref"])
        if self._document.is_30:  # where nothing beside a reference counts, but `nullable` is often written there
            return {"anyOf": [built, {"type": "null"}]} if schema.get("nullable") is True else built
        others: dict[str, Any] = {key: value for key, value in schema.items() if key != "$ref"}
        return self.build(others) | built if others else built

    def _build_reference(self, reference: str) -> dict[str, Any]:
        if reference not in self._names:
            if len(self._names) >= MAX_DEFINITIONS:
                raise InvalidDocument(f"it uses more than {MAX_DEFINITIONS} definitions")
            target = self._document.get_target(reference)
            name = re.sub(r"[^A-Za-z0-9_]+", "_", split_reference(reference)[-1])[:60] or "Definition"
            while name in self.definitions:
                name += "_"
            self._names[reference] = name
            self.definitions[name] = {}  # so that a reference back to it ends here
            self.definitions[name] = self.build(target)
        return {"$ref": f"#/$defs/{self._names[reference]}"}

    @staticmethod
    def _convert_30(built: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
        """Convert the keywords that OpenAPI 3.0 writes in another way than JSON Schema."""
        for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if isinstance(built.get(exclusive), bool):
                if built.pop(exclusive) and limit in built:
                    built[exclusive] = built.pop(limit)
        if schema.get("nullable") is True:
            if isinstance(built.get("type"), str):
                built["type"] = [built["type"], "null"]
            if isinstance(built.get("enum"), list) and None not in built["enum"]:
                built["enum"] = [*built["enum"], None]
            if not built.keys().isdisjoint(("allOf", "anyOf", "oneOf")):
                about = {key: built.pop(key) for key in ("description", "default") if key in built}
                return about | {"anyOf": [built, {"type": "null"}]}
        return built
