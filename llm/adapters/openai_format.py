"""A request in OpenAI's chat shape, as every wire sends it."""

import json
import re
from typing import Any

from llm.messages import Request, ToolCall, Turn

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


def messages_of(request: Request) -> list[dict[str, Any]]:
    """The turns as messages. Call ids are numbered anew: nine letters and digits is what every provider accepts."""
    ids: dict[str, str] = {}
    return [_message(turn, ids) for turn in request.turns]


def tools_of(request: Request) -> list[dict[str, Any]]:
    """The tools as they are offered."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in request.tools
    ]


def _message(turn: Turn, ids: dict[str, str]) -> dict[str, Any]:
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": _wire_id(turn.call_id or "", ids), "content": turn.text}
    if turn.calls:
        calls = [_call(call, ids) for call in turn.calls]
        return {"role": "assistant", "content": turn.text or None, "tool_calls": calls}
    return {"role": turn.role, "content": turn.text}


def _call(call: ToolCall, ids: dict[str, str]) -> dict[str, Any]:
    name = _NOT_IN_A_NAME.sub("_", call.name)[:64] or "unnamed"
    function = {"name": name, "arguments": _sendable(call.arguments)}
    return {"id": _wire_id(call.id, ids), "type": "function", "function": function}


def _wire_id(own: str, ids: dict[str, str]) -> str:
    return ids.setdefault(own, f"call{len(ids):05d}")


def _sendable(arguments: str) -> str:
    """What the model wrote, when it is a JSON object; providers refuse a whole conversation over anything else."""
    try:
        read = json.loads(arguments or "{}")
    except ValueError:
        read = None
    if isinstance(read, dict):
        return arguments or "{}"
    return json.dumps({"unreadable": arguments[:2000]}, ensure_ascii=False)
