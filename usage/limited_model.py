"""A model whose requests are reserved in budgets before they are sent."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from llm.messages import Answer, Chunk, ModelRequest
from llm.protocol import LLM


class LimitedModel:
    """Reserves each request, then sends it to another `LLM`. The tries of one request share its reservation.

    `reserve` returns the request that is sent, which may ask for a shorter answer. If such an answer is cut before its
    text begins or with calls, `refuse` is called with the request as it was and the answer: it raises the error that ends the run.
    """

    def __init__(
        self,
        llm: LLM,
        reserve: Callable[[ModelRequest], Awaitable[ModelRequest]],
        refuse: Callable[[ModelRequest, Answer], Awaitable[None]],
    ) -> None:
        self._llm = llm
        self._reserve = reserve
        self._refuse = refuse

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        """Send the request. Raises `LLMError`, what `reserve` raises, before anything is sent, and what `refuse` raises."""
        reserved = await self._reserve(request)
        is_shortened = reserved is not request
        async with aclosing(self._llm.ask(reserved)) as parts:
            async for part in parts:
                if isinstance(part, Answer) and is_shortened and part.finish == "length":
                    part = replace(part, cut_at_tokens=reserved.parameters["max_tokens"])
                    if part.calls or not part.text.strip():
                        # Calls of a cut answer are not made. To ask again would use up what is left of the budget.
                        await self._refuse(request, part)
                yield part
