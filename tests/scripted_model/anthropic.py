"""The same scripts in the format of Anthropic's messages, as far as litellm reads them."""

import asyncio
import json
from typing import Any

from aiohttp import web

from tests.scripted_model.script import Body, Script


class MessageOut:
    """One streamed answer."""

    def __init__(self, request: web.Request, body: Body) -> None:
        self.request = request
        self.model = body["model"]
        self.response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})

    async def event(self, kind: str, **data: Any) -> None:
        await self.response.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())

    async def begin(self) -> None:
        await self.response.prepare(self.request)
        message = {"id": "msg_scripted", "type": "message", "role": "assistant", "content": [], "model": self.model}
        await self.event("message_start", message=message | {"usage": {"input_tokens": 11, "output_tokens": 1}})

    async def block(self, index: int, start: dict[str, Any], deltas: list[dict[str, Any]], pause: float) -> None:
        await self.event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            await self.event("content_block_delta", index=index, delta=delta)
            if pause:
                await asyncio.sleep(pause)
        await self.event("content_block_stop", index=index)

    async def end(self, script: Script) -> None:
        reason = "tool_use" if script.calls else "end_turn"
        usage = {"output_tokens": len(script.words())}
        await self.event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)
        await self.event("message_stop")


async def answer_message(request: web.Request, body: Body, script: Script) -> web.StreamResponse:
    """Answer as Anthropic does, for the modes `plain`, `drip`, `stall`, `cut`, `cleancut`, `badjson` and `status`."""
    if script.mode == "status":
        error = {"type": "error", "error": {"type": "scripted_error", "message": script.error}}
        headers = {"Retry-After": script.retry_after} if script.retry_after is not None else {}
        return web.json_response(error, status=script.status, headers=headers)
    out = MessageOut(request, body)
    await out.begin()
    words = script.words() if script.mode in ("plain", "drip") else script.words()[: script.after]
    texts = [{"type": "text_delta", "text": word} for word in words]
    thoughts = 0
    if script.signature:
        deltas = [{"type": "thinking_delta", "thinking": f"{word} "} for word in script.thinking.split()]
        deltas.append({"type": "signature_delta", "signature": script.signature})
        await out.block(0, {"type": "thinking", "thinking": "", "signature": ""}, deltas, 0)
        thoughts = 1
    await out.block(thoughts, {"type": "text", "text": ""}, texts, script.pause())
    if script.mode == "stall":
        await asyncio.sleep(3600)
    if script.mode == "badjson":
        await out.response.write(b'event: content_block_delta\ndata: {"type": "content_block_delta", "ind\n\n')
        await out.end(script)
    if script.mode == "cut" and request.transport is not None:
        await asyncio.sleep(0.05)
        request.transport.abort()
    if script.mode in ("plain", "drip"):
        for place, call in enumerate(script.calls, thoughts + 1):
            halves = [call["arguments"][:9], call["arguments"][9:]]
            start = {"type": "tool_use", "id": f"toolu_{place}", "name": call["name"], "input": {}}
            await out.block(place, start, [{"type": "input_json_delta", "partial_json": half} for half in halves], 0)
        await out.end(script)
    return out.response
