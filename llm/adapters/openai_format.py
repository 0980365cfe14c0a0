"""Build messages and tools in OpenAI's chat format, for the adapters `openai` and `litellm`."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from itertools import chain, count
from typing import Any

from common.text import unwrap_json_object
from llm.messages import ModelRequest, ProviderFields, ToolCall, Turn

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")

_SCHEMAS = frozenset(
    {"items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
_SCHEMA_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems", "items"})
_SCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""The keywords of JSON Schema whose value is a schema, a list of schemas, or an object of schemas by name."""

THINKING_FIELD = "reasoning_content"
"""The field of an assistant message with the thinking. Some servers require it in every message with calls."""


def build_messages(request: ModelRequest, origin: str = "", *, requires_thinking: bool = False) -> list[dict[str, Any]]:
    """Return the turns as messages, with what the model of that `origin` attached to its answers.

    Other calls get ids of nine letters and digits, which every provider accepts. `requires_thinking`: each message with calls gets
    the `THINKING_FIELD`. So it does if the model has sent this field before.
    """
    fields = [
        turn.provider_fields if turn.provider_fields and turn.provider_fields.origin == origin else None
        for turn in request.turns
    ]
    ids: dict[str, str] = {}
    messages = [_build_message(turn, own, ids) for turn, own in zip(request.turns, fields, strict=True)]
    if requires_thinking or any(own and THINKING_FIELD in own.message for own in fields):
        for message in messages:
            if "tool_calls" in message:
                message.setdefault(THINKING_FIELD, "")
    return messages


def build_tools(request: ModelRequest) -> list[dict[str, Any]]:
    """Return the tools of a request."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": {"type": "object", "properties": {}} | _complete_schema(tool.parameters),
            },
        }
        for tool in request.tools
    ]


def _complete_schema(schema: Any) -> Any:
    """Return a copy of a JSON schema in which each array says what its items are: OpenAI refuses others. `{}` is anything."""
    if not isinstance(schema, Mapping):
        return schema
    complete: dict[str, Any] = {}
    for name, value in schema.items():
        if name in _SCHEMA_MAPS and isinstance(value, Mapping):
            complete[name] = {key: _complete_schema(inner) for key, inner in value.items()}
        elif name in _SCHEMA_LISTS and isinstance(value, list):
            complete[name] = [_complete_schema(inner) for inner in value]
        else:
            complete[name] = _complete_schema(value) if name in _SCHEMAS else value
    kinds = schema.get("type")
    if kinds == "array" or (isinstance(kinds, list) and "array" in kinds):
        complete.setdefault("items", {})
    return complete


def build_tool_choice(request: ModelRequest) -> dict[str, Any]:
    """Return the tool that the model has to call."""
    return {"type": "function", "function": {"name": request.tool_choice}}


def _build_message(turn: Turn, fields: ProviderFields | None, ids: dict[str, str]) -> dict[str, Any]:
    """Return one message. `ids`: the ids of the calls so far, by our own."""
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": _choose_call_id(turn.call_id or "", ids), "content": turn.text}
    if turn.calls:
        of_calls = fields.calls if fields and len(fields.calls) == len(turn.calls) else [{} for _ in turn.calls]
        calls = [_build_call(call, own, ids) for call, own in zip(turn.calls, of_calls, strict=True)]
        message = {"role": "assistant", "content": turn.text or None, "tool_calls": calls}
        return (fields.message if fields else {}) | message
    if turn.images:
        urls = [f"data:{image.content_type};base64,{b64encode(image.data).decode()}" for image in turn.images]
        images = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        return {"role": turn.role, "content": [{"type": "text", "text": turn.text}, *images]}
    return {"role": turn.role, "content": turn.text}


def _build_call(call: ToolCall, fields: Mapping[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    name = _NOT_IN_A_NAME.sub("_", call.name)[:64] or "unnamed"
    function = {"name": name, "arguments": _ensure_json_object(call.arguments)}
    return {
        **fields,
        "id": _choose_call_id(call.id, ids, fields.get("id", "")),
        "type": "function",
        "function": fields.get("function", {}) | function,
    }


def _choose_call_id(own_id: str, ids: dict[str, str], provider_id: str = "") -> str:
    """Return the id by which a request names a call: that of its provider, unless it has named another call so, else a new one."""
    if own_id not in ids:
        names = chain([provider_id] if provider_id else [], (f"call{number:05d}" for number in count(len(ids))))
        ids[own_id] = next(name for name in names if name not in ids.values())
    return ids[own_id]


def _ensure_json_object(arguments: str) -> str:
    """Return the arguments if they are a JSON object, else an object that quotes them. Providers refuse anything else."""
    arguments = unwrap_json_object(arguments)
    try:
        read = json.loads(arguments)
    except ValueError:
        read = None
    if isinstance(read, dict):
        return arguments
    return json.dumps({"unreadable": arguments[:2000]}, ensure_ascii=False)
