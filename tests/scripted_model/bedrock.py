"""The same scripts in the format of Amazon Bedrock's `converse-stream`, as far as litellm reads them."""

import asyncio
import json
import struct
import zlib
from typing import Any

from aiohttp import web

from tests.scripted_model.script import Body, Script


def encode_event(kind: str, data: dict[str, Any]) -> bytes:
    """Encode one message of `application/vnd.amazon.eventstream`."""
    texts = {":message-type": "event", ":event-type": kind, ":content-type": "application/json"}
    headers = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(text)) + text.encode()
        for name, text in texts.items()
    )
    payload = json.dumps(data).encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack("!I", zlib.crc32(message))


async def answer_converse(request: web.Request, body: Body, script: Script) -> web.StreamResponse:
    """Answer as Bedrock does, for the modes `plain`, `drip`, `stall`, `cut`, `cleancut` and `status`."""
    if script.mode == "status":
        headers = {"Retry-After": script.retry_after} if script.retry_after is not None else {}
        return web.json_response({"message": script.error}, status=script.status, headers=headers)
    response = web.StreamResponse(headers={"Content-Type": "application/vnd.amazon.eventstream"})
    await response.prepare(request)

    async def send(kind: str, **data: Any) -> None:
        await response.write(encode_event(kind, data))

    await send("messageStart", role="assistant")
    is_whole = script.mode in ("plain", "drip")
    for word in script.words() if is_whole else script.words()[: script.after]:
        await send("contentBlockDelta", contentBlockIndex=0, delta={"text": word})
        if script.pause():
            await asyncio.sleep(script.pause())
    if script.mode == "stall":
        await asyncio.sleep(3600)
    if script.mode == "cut" and request.transport is not None:
        await asyncio.sleep(0.05)
        request.transport.abort()
    if is_whole:
        await send("contentBlockStop", contentBlockIndex=0)
        for index, call in enumerate(script.calls, 1):
            start = {"toolUse": {"toolUseId": f"tooluse_{index}", "name": call["name"]}}
            await send("contentBlockStart", contentBlockIndex=index, start=start)
            for half in (call["arguments"][:9], call["arguments"][9:]):
                await send("contentBlockDelta", contentBlockIndex=index, delta={"toolUse": {"input": half}})
            await send("contentBlockStop", contentBlockIndex=index)
        await send("messageStop", stopReason="tool_use" if script.calls else "end_turn")
        tokens = len(script.words())
        usage = {"inputTokens": 11, "outputTokens": tokens, "totalTokens": 11 + tokens}
        await send("metadata", usage=usage, metrics={"latencyMs": 1})
    return response
