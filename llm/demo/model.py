"""The demo model for workspaces without a key: it answers by rules, offline, and its answers are labelled."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator

from llm.demo.rules import Call, find_call, read_conversation
from llm.demo.scripts import find_scripted_answer
from llm.demo.specialists import build_specialist_answer, find_specialist_calls
from llm.demo.texts import build_answer, build_job_answer
from llm.messages import Answer, Chunk, ModelRequest, ToolCall, Usage
from llm.tokens import estimate_input, estimate_tokens

NAME = "demo"
MAX_STREAM_SECONDS = 8.0
"""Time in which an answer of any length is streamed."""
_WORDS = re.compile(r"[\u3000-\u9fff\uff00-\uffef]{1,2}|\s*[^\s\u3000-\u9fff\uff00-\uffef]+|\s+")


class DemoModel:
    """Answers by rules. `pace`: seconds between two words."""

    def __init__(self, pace: float = 0.03) -> None:
        self._pace = pace

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        """Stream an answer, or the tool call that the request asks for. Never raises."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        text, calls = _build_reply(request)
        chunks = [Chunk("text", word) for word in _WORDS.findall(text)]
        for call in calls:
            parts = [call.arguments[start : start + 6] for start in range(0, len(call.arguments), 6)]
            chunks += [Chunk("arguments", part, name=None if at else call.name) for at, part in enumerate(parts)]
        pause = min(self._pace, MAX_STREAM_SECONDS / max(1, len(chunks)))
        await asyncio.sleep(pause * 4)
        first_token_s = loop.time() - started
        for chunk in chunks:
            yield chunk
            await asyncio.sleep(pause)
        written = text + "".join(f"{call.name}{call.arguments}" for call in calls)
        yield Answer(
            text=text,
            thinking="",
            calls=calls,
            usage=Usage(estimate_input(request), estimate_tokens(written), cost_micro=0, estimated=True),
            finish="tool_calls" if calls else "stop",
            model=NAME,
            first_token_s=first_token_s,
            seconds=loop.time() - started,
        )


def _build_reply(request: ModelRequest) -> tuple[str, tuple[ToolCall, ...]]:
    if text := build_job_answer(request):
        return text, ()
    conversation = read_conversation(request)
    if text := find_scripted_answer(conversation):
        return text, ()
    if calls := find_specialist_calls(conversation):
        return "", tuple(_build_tool_call(call) for call in calls)
    call = find_call(conversation)
    if call and not call.missing:
        return "", (_build_tool_call(call),)
    return build_answer(conversation, call, specialist_text=build_specialist_answer(conversation)), ()


def _build_tool_call(call: Call) -> ToolCall:
    return ToolCall("", call.tool.name, json.dumps(call.arguments, ensure_ascii=False))
