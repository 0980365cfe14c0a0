"""The modes of the scripted model: what each sends."""

import asyncio
import json
import re
import time
import unicodedata
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from aiohttp import web

from tests.scripted_model.script import Body, Script, system_text, text_of

BAD_ARGUMENTS = {
    "truncated": '{"timezone": "Asia/To',
    "doubled": "{}{}",
    "trailing": '{"timezone": "Asia/Tokyo"}<|call|>',
    "wrong_types": '{"timezone": 7}',
    "empty": "",
    "huge": json.dumps({"timezone": "x" * 1_000_000}),
}
"""Malformed arguments that models really write (RUN12)."""


def bad_calls(kind: str) -> list[dict[str, Any]]:
    """Return the calls of a `badtool` script, by the kind of their fault."""
    one = {"name": "current_time", "id": "call_a", "index": 0}
    if kind in BAD_ARGUMENTS:
        return [one | {"arguments": BAD_ARGUMENTS[kind]}]
    if kind == "unknown_tool":
        return [one | {"name": "no_such_tool", "arguments": "{}"}]
    two = [
        one | {"arguments": f'{{"timezone": "{zone}"}}', "index": n}
        for n, zone in enumerate(["Asia/Tokyo", "Europe/Paris"])
    ]
    ids = {
        "duplicate_ids": ["same", "same"],
        "empty_ids": ["", ""],
        "same_index": ["a", "b"],
        "parallel": ["a", "b"],
    }[kind]
    return [c | {"id": i, "index": 0 if kind == "same_index" else c["index"]} for c, i in zip(two, ids, strict=True)]


class Out:
    """One streamed answer, in OpenAI's chat completion chunks."""

    def __init__(self, request: web.Request, body: Body) -> None:
        self.request = request
        self.model = body.get("model", "scripted")
        self.response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        self.made = int(time.time())

    async def open(self) -> None:
        await self.response.prepare(self.request)

    async def raw(self, text: str) -> None:
        await self.response.write(text.encode())

    async def frame(self, data: Mapping[str, Any]) -> None:
        await self.raw(f"data: {json.dumps(data, ensure_ascii=False)}\n\n")

    async def delta(self, finish: str | None = None, **delta: Any) -> None:
        await self.frame(self.chunk([{"index": 0, "delta": delta, "finish_reason": finish}]))

    def chunk(self, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        head = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": self.made, "model": self.model}
        return head | {"choices": choices} | more

    async def usage(self, script: Script, body: Body) -> None:
        if script.usage and (body.get("stream_options") or {}).get("include_usage"):
            await self.frame(self.chunk([], usage=usage_of(script)))

    def reset(self) -> None:
        """Abort the connection, as a crash does."""
        if self.request.transport is not None:
            self.request.transport.abort()


def usage_of(script: Script) -> dict[str, Any]:
    tokens = len(script.words())
    reported: dict[str, Any] = {"prompt_tokens": 11, "completion_tokens": tokens, "total_tokens": 11 + tokens}
    return {**reported, **script.usage} if isinstance(script.usage, Mapping) else reported


def answer_whole(script: Script, body: Body) -> web.Response:
    """Return the same answer without streaming."""
    calls = [
        {
            "id": c.get("id", f"call_{n}"),
            "type": "function",
            "function": {"name": c["name"], "arguments": c["arguments"]},
        }
        for n, c in enumerate(script.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else "".join(script.words())}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": script.finish or ("tool_calls" if calls else "stop")}
    head = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", "scripted"),
    }
    return web.json_response(head | {"choices": [choice], "usage": usage_of(script)})


def answer_status(script: Script, request: web.Request) -> web.Response:
    """Return an error before any stream: 429, 500, 529 …; `echo_key` puts the caller's key into the text, as some do."""
    key = request.headers.get("Authorization", "") if script.echo_key else ""
    headers = {"Retry-After": script.retry_after} if script.retry_after is not None else {}
    if script.mode == "redirect":
        return web.Response(status=302, headers={"Location": script.text})
    if script.body:
        return web.Response(text=script.body, status=script.status, headers=headers)
    error = {"message": f"{script.error} {key}".strip(), "type": "scripted", "code": script.status}
    return web.json_response({"error": error}, status=script.status, headers=headers)


async def words(out: Out, script: Script) -> AsyncIterator[int]:
    """Send the words at the script's speed. Yield how many were sent."""
    pause = script.pause()
    for number, word in enumerate(script.words(), 1):
        await out.delta(content=word)
        yield number
        if pause:
            await asyncio.sleep(pause)


async def say(out: Out, script: Script, limit: int | None = None) -> None:
    async for number in words(out, script):
        if number == limit:
            return


async def call(out: Out, script: Script) -> None:
    """Send tool calls as OpenAI does: the name first, then the arguments in pieces."""
    for position, wanted in enumerate(script.calls):
        index, arguments = wanted.get("index", position), wanted["arguments"]
        head = {"id": wanted.get("id", f"call_{position}"), "type": "function"}
        function = {"name": wanted["name"], "arguments": ""}
        await out.delta(tool_calls=[{"index": index, **head, "function": function}])
        size = max(8, len(arguments) // 20)
        for start in range(0, len(arguments), size):
            piece = {"arguments": arguments[start : start + size]}
            await out.delta(tool_calls=[{"index": index, "function": piece}])
            if script.pause():
                await asyncio.sleep(script.pause())


async def end(out: Out, script: Script, body: Body) -> None:
    await out.delta(finish=script.finish or ("tool_calls" if script.calls else "stop"))
    await out.usage(script, body)
    await out.raw("data: [DONE]\n\n")


async def for_ever(out: Out, script: Script, body: Body) -> None:
    await asyncio.sleep(3600)


async def plain(out: Out, script: Script, body: Body) -> None:
    if script.thinking:
        for word in script.thinking.split(" "):
            await out.delta(reasoning_content=f"{word} ")
    if script.calls:
        if script.text:
            await say(out, script)
        await call(out, script)
    else:
        await say(out, script)
    await end(out, script, body)


async def stall(out: Out, script: Script, body: Body) -> None:
    await say(out, script, limit=script.after)
    await for_ever(out, script, body)


async def cut(out: Out, script: Script, body: Body) -> None:
    await say(out, script, limit=script.after)
    out.reset()


async def cleancut(out: Out, script: Script, body: Body) -> None:
    if script.after:
        await say(out, script, limit=script.after)


async def halfline(out: Out, script: Script, body: Body) -> None:
    """Close the connection normally, but in the middle of a frame."""
    await say(out, script, limit=script.after)
    await out.raw('data: {"choices": [{"delta": {"content": "bro')


async def badjson(out: Out, script: Script, body: Body) -> None:
    await say(out, script, limit=script.after)
    await out.raw('data: {"choices": [{"delta": {"content": "bro\n\n')
    await end(out, script, body)


async def errframe(out: Out, script: Script, body: Body) -> None:
    if script.after:
        await say(out, script, limit=script.after)
    key = out.request.headers.get("Authorization", "") if script.echo_key else ""
    await out.frame(
        {"error": {"message": f"{script.error} {key}".strip(), "type": "server_error", "code": script.status}}
    )


async def events(out: Out, script: Script, body: Body) -> None:
    """Send the events of the script, then `[DONE]`, unless the last one is `raw` or `abort`."""
    for event in script.events:
        if "raw" in event:
            await out.raw(event["raw"])
        elif "abort" in event:
            out.reset()
        else:
            await out.delta(event.get("finish"), **event.get("delta", {}))
        await asyncio.sleep(event.get("wait", 0))
    if not script.events or not {"raw", "abort"} & script.events[-1].keys():
        await out.raw("data: [DONE]\n\n")


def find_missing(script: Script, body: Body) -> str | None:
    """Return the refusal of a request in which an assistant message with calls lacks what the script `requires`, or null."""
    for position, message in enumerate(body.get("messages", [])):
        if message.get("tool_calls") and script.requires not in message:
            return f"Missing `{script.requires}` field in the assistant message at message index {position}."
    return None


async def nodone(out: Out, script: Script, body: Body) -> None:
    """Send neither [DONE] nor close the connection."""
    await say(out, script)
    await out.delta(finish="stop")
    await for_ever(out, script, body)


async def echo(out: Out, script: Script, body: Body) -> None:
    """Answer with the prompt that the model received."""
    await say(out, Script(text=system_text(body) or "(no system text)", every=script.pause()))
    await end(out, script, body)


ORDER = re.compile(r"(?:OBEY|服從) ([\w-]+) (?:NOW|立刻)")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")


def read_as_models_do(text: str) -> str:
    """Return the text with wide letters as usual ones, without invisible characters, and with what invisible tags say."""
    tags = {code: code - 0xE0000 for code in range(0xE0020, 0xE007F)}
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text.translate(tags)))


async def obey(out: Out, script: Script, body: Body) -> None:
    """Follow each instruction in the conversation and in the descriptions of tools once, whoever wrote it.

    `OBEY it NOW`, also in Chinese, is `orders["it"]`.
    """
    called = {
        (call["function"]["name"], call["function"]["arguments"])
        for message in body["messages"]
        for call in message.get("tool_calls") or ()
    }
    texts = [text_of(message) for message in body["messages"]]
    texts.append(json.dumps(body.get("tools", []), ensure_ascii=False))
    read = read_as_models_do("\n".join(texts))
    wanted = [call for name in dict.fromkeys(ORDER.findall(read)) for call in script.orders.get(name, ())]
    fresh = [one for one in wanted if (one["name"], one["arguments"]) not in called]
    await plain(out, replace(script, calls=fresh) if fresh else Script(text="Done as told."), body)


MODES = {
    "obey": obey,
    "plain": plain,
    "drip": plain,
    "slowdrip": plain,
    "think": plain,
    "badtool": plain,
    "stall": stall,
    "nofirst": for_ever,
    "cut": cut,
    "cleancut": cleancut,
    "halfline": halfline,
    "badjson": badjson,
    "errframe": errframe,
    "nodone": nodone,
    "events": events,
    "echo": echo,
}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "drip": {"count": 200, "every": 0.05},
    "slowdrip": {"count": 200, "every": 2.0},
    "think": {"thinking": "Let me think about it."},
}
"""The defaults of each mode."""
