"""A model whose requests are reserved in budgets before they are sent."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from llm.messages import Answer, Chunk, ModelRequest
from llm.protocol import LLM


class LimitedModel:
    """Reserves each request, then sends it to another `LLM`. The tries of one request share its reservation."""

    def __init__(self, llm: LLM, reserve: Callable[[ModelRequest], Awaitable[None]]) -> None:
        self._llm = llm
        self._reserve = reserve

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        """Send the request. Raises `LLMError`, and what `reserve` raises, before anything is sent."""
        await self._reserve(request)
        async with aclosing(self._llm.ask(request)) as parts:
            async for part in parts:
                yield part
