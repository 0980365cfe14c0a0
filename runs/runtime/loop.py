"""The loop of an agent at work: one generator that knows neither the database nor the network (architecture §6)."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Protocol

from llm.messages import Answer, Piece, Request, ToolCall, Turn
from llm.protocol import LLM, LLMError
from runs.runtime.conversation import Conversation, numbered
from runs.runtime.steps import (
    Batch,
    ModelAnswered,
    ModelRetried,
    Step,
    StepId,
    StepSaved,
    ToolResult,
    ToolsFinished,
    ToolsStarted,
)


class Tools(Protocol):
    """What the loop wants of a toolbox."""

    def batches(self, calls: Sequence[ToolCall], *, cut: bool) -> Iterable[Batch]:
        """The calls that can be settled now, in the model's order; without those that wait for a person."""
        ...

    @property
    def has_written(self) -> bool:
        """Whether a tool that acts was called in this run."""
        ...

    async def call(self, batch: Batch) -> tuple[ToolResult, ...]:
        """Make the calls of a batch. Never raises for what a tool does."""
        ...


async def run_loop(
    talk: Conversation, llm: LLM, tools: Tools, request: Callable[[Sequence[Turn]], Request], *, max_steps: int
) -> AsyncGenerator[Piece | Step, StepSaved | None]:
    """Settle the open calls; if one waits for a person, rest; if asked to stop, stop; take in what was said; ask the
    model; no call: done; and again, within limits. An answer that breaks off in the middle is asked for once more, unless
    a tool has acted already; a conversation that is too long for the model is shortened once.

    Every step is yielded before the next effect; the driver sends `StepSaved` once it is stored. So resuming after a crash
    is calling this again with the conversation so far: calls that are still open are settled first. Raises `LLMError`.
    """
    while True:
        for batch in tools.batches(tuple(talk.open), cut=talk.cut):
            if not batch.known:
                yield ToolsStarted(batch.calls)
            outcomes = batch.known or await tools.call(batch)
            talk.settle(outcomes, _saved((yield ToolsFinished(outcomes))))
            if talk.stop:
                break
        if end := talk.end(max_steps):
            yield end
            return
        was_shown = False
        try:
            async with aclosing(_ask(llm, request(talk.turns), talk.step)) as parts:
                async for part in parts:
                    was_shown = True
                    reply = yield part
        except LLMError as error:
            if not talk.may_ask_again(error, was_shown=was_shown, has_written=tools.has_written):
                raise
            talk.go_on(_saved((yield ModelRetried(error))))
            continue
        assert isinstance(part, ModelAnswered)
        talk.say(part.answer, _saved(reply))
        if not talk.open:
            return


async def _ask(llm: LLM, request: Request, step: StepId) -> AsyncGenerator[Piece | ModelAnswered, None]:
    """The pieces of an answer, and the answer last."""
    async with aclosing(llm.ask(request)) as parts:
        async for part in parts:
            yield ModelAnswered(step, numbered(part, step)) if isinstance(part, Answer) else part
            if isinstance(part, Answer):
                return
    raise LLMError("cut", "The model's answer broke off.", retryable=True)


def _saved(reply: StepSaved | None) -> StepSaved:
    assert reply is not None, "the driver answers each step with `StepSaved`"
    return reply
