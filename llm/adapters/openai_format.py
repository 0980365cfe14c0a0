"""Build messages and tools in OpenAI's chat format, for the adapters `openai` and `litellm`."""

import json
import re
from base64 import b64encode
from typing import Any

from llm.messages import ModelRequest, ToolCall, Turn

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


def build_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """Return the turns as messages. Calls get ids of nine letters and digits, which every provider accepts."""
    ids: dict[str, str] = {}
    return [_build_message(turn, ids) for turn in request.turns]


def build_tools(request: ModelRequest) -> list[dict[str, Any]]:
    """Return the tools of a request."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in request.tools
    ]


def _build_message(turn: Turn, ids: dict[str, str]) -> dict[str, Any]:
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": _get_provider_call_id(turn.call_id or "", ids), "content": turn.text}
    if turn.calls:
        calls = [_build_call(call, ids) for call in turn.calls]
        return {"role": "assistant", "content": turn.text or None, "tool_calls": calls}
    if turn.images:
        urls = [f"data:{image.content_type};base64,{b64encode(image.data).decode()}" for image in turn.images]
        images = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        return {"role": turn.role, "content": [{"type": "text", "text": turn.text}, *images]}
    return {"role": turn.role, "content": turn.text}


def _build_call(call: ToolCall, ids: dict[str, str]) -> dict[str, Any]:
    name = _NOT_IN_A_NAME.sub("_", call.name)[:64] or "unnamed"
    function = {"name": name, "arguments": _ensure_json_object(call.arguments)}
    return {"id": _get_provider_call_id(call.id, ids), "type": "function", "function": function}


def _get_provider_call_id(own_id: str, ids: dict[str, str]) -> str:
    return ids.setdefault(own_id, f"call{len(ids):05d}")


def _ensure_json_object(arguments: str) -> str:
    """Return the arguments if they are a JSON object, else an object that quotes them. Providers refuse anything else."""
    try:
        read = json.loads(arguments or "{}")
    except ValueError:
        read = None
    if isinstance(read, dict):
        return arguments or "{}"
    return json.dumps({"unreadable": arguments[:2000]}, ensure_ascii=False)
