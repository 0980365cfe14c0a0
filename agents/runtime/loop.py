"""The loop of an agent at work: one generator that knows neither the database nor the network (architecture §6)."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Protocol

from agents.llm.exchange import Answer, Piece, Request, ToolCall, Turn
from agents.llm.protocol import LLM, LLMError
from agents.runtime.steps import Answered, Batch, Outcome, Saved, Settled, Started, Step, StepId
from agents.runtime.talk import Talk, numbered


class Tools(Protocol):
    """What the loop wants of a toolbox."""

    def batches(self, calls: Sequence[ToolCall], *, cut: bool) -> Iterable[Batch]:
        """The calls that can be settled now, in the model's order; without those that wait for a person."""
        ...

    async def call(self, batch: Batch) -> tuple[Outcome, ...]:
        """Make the calls of a batch. Never raises for what a tool does."""
        ...


async def work(
    talk: Talk, llm: LLM, tools: Tools, request: Callable[[Sequence[Turn]], Request], *, max_steps: int
) -> AsyncGenerator[Piece | Step, Saved | None]:
    """Settle the open calls; if one waits for a person, rest; if asked to stop, stop; take in what was said; ask the
    model; no call: done; and again, within limits.

    Every step is yielded before the next effect; the driver sends `Saved` once it is stored. So resuming after a crash
    is calling this again with the conversation so far: calls that are still open are settled first. Raises `LLMError`.
    """
    while True:
        for batch in tools.batches(tuple(talk.open), cut=talk.cut):
            if not batch.known:
                yield Started(batch.calls)
            outcomes = batch.known or await tools.call(batch)
            talk.settle(outcomes, _saved((yield Settled(outcomes))))
            if talk.stop:
                break
        if end := talk.end(max_steps):
            yield end
            return
        async with aclosing(_ask(llm, request(talk.turns), talk.step)) as parts:
            async for part in parts:
                reply = yield part
        assert isinstance(part, Answered)
        talk.say(part.answer, _saved(reply))
        if not talk.open:
            return


async def _ask(llm: LLM, request: Request, step: StepId) -> AsyncGenerator[Piece | Answered, None]:
    """The pieces of an answer, and the answer last."""
    async with aclosing(llm.ask(request)) as parts:
        async for part in parts:
            yield Answered(step, numbered(part, step)) if isinstance(part, Answer) else part
            if isinstance(part, Answer):
                return
    raise LLMError("cut", "The model's answer broke off.", retryable=True)


def _saved(reply: Saved | None) -> Saved:
    assert reply is not None, "the driver answers each step with `Saved`"
    return reply
