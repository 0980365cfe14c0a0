"""The demo model as an `LLM`: it streams like one, word by word."""

import asyncio
import json
from collections.abc import AsyncGenerator

from agents.llm.demo.answers import sentences_for
from agents.llm.demo.calls import Wish, wish_of
from agents.llm.demo.jobs import answer_to_job
from agents.llm.demo.language import spoken
from agents.llm.demo.manner import styled
from agents.llm.demo.situation import situation_of
from agents.llm.exchange import Answer, Piece, Request, ToolCall, Usage
from agents.llm.tokens import estimated_input, estimated_tokens

NAME = "demo"
"""What `Answer.model` says: a reply of this model is always labelled as such."""
LONGEST = 8.0
"""Seconds that an answer may take at most, however long it is."""


class DemoModel:
    """Offline and free. `pace` is the pause between two words in seconds."""

    def __init__(self, pace: float = 0.03) -> None:
        self._pace = pace

    async def ask(self, request: Request) -> AsyncGenerator[Piece | Answer, None]:
        """Answer by rules. Never raises."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        text, calls = _answered(request)
        pieces = _call_pieces(calls[0]) if calls else [Piece("text", part) for part in spoken(text)]
        pause = min(self._pace, LONGEST / max(1, len(pieces)))
        await asyncio.sleep(pause * 4)
        first = loop.time() - started
        for piece in pieces:
            yield piece
            await asyncio.sleep(pause)
        yield Answer(
            text=text,
            thinking="",
            calls=calls,
            usage=_usage(request, text, calls),
            finish="tool_calls" if calls else "stop",
            model=NAME,
            first_token_s=first,
            seconds=loop.time() - started,
        )


def _answered(request: Request) -> tuple[str, tuple[ToolCall, ...]]:
    """What it says, or the one call that it makes."""
    if (done := answer_to_job(request)) is not None:
        return done, ()
    situation = situation_of(request)
    wish = wish_of(situation)
    if wish and not wish.missing:
        return "", (ToolCall("", wish.tool.name, _written(wish)),)
    return styled(sentences_for(situation), situation.manner, situation.language), ()


def _written(wish: Wish) -> str:
    return json.dumps(wish.arguments, ensure_ascii=False)


def _call_pieces(call: ToolCall) -> list[Piece]:
    """The arguments in pieces of a few characters; the name comes with the first."""
    size = 6
    parts = [call.arguments[start : start + size] for start in range(0, len(call.arguments), size)]
    return [Piece("arguments", part, name=call.name if place == 0 else None) for place, part in enumerate(parts)]


def _usage(request: Request, text: str, calls: tuple[ToolCall, ...]) -> Usage:
    written = text + "".join(f"{call.name}{call.arguments}" for call in calls)
    return Usage(estimated_input(request), estimated_tokens(written), cost_micro=0, estimated=True)
