"""Answers in Gemini's format: parts, whose calls may have a signature that the next request must bring back."""

import json
from typing import Any

from aiohttp import web

from tests.scripted_model.script import Body, Script


async def answer_content(request: web.Request, body: Body, script: Script) -> web.StreamResponse:
    """Answer with the script's calls, the first of them with its `signature`, else with its text."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    parts: list[dict[str, Any]] = [
        {"functionCall": {"name": call["name"], "args": json.loads(call["arguments"])}} for call in script.calls
    ] or [{"text": "".join(script.words())}]
    if script.signature:
        parts[0]["thoughtSignature"] = script.signature
    for part in parts[:-1]:
        await send(response, [part])
    await send(response, parts[-1:], finishReason="STOP")
    return response


async def send(response: web.StreamResponse, parts: list[dict[str, Any]], **more: Any) -> None:
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}} | more
    event = {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 2, "totalTokenCount": 13},
    }
    await response.write(f"data: {json.dumps(event)}\n\n".encode())
