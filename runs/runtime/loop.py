"""The loop of an agent at work: one generator that knows neither the database nor the network."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Protocol

from llm.messages import Answer, Chunk, Request, ToolCall, Turn
from llm.protocol import LLM, LLMError
from runs.runtime.conversation import Conversation, make_storable
from runs.runtime.steps import (
    Batch,
    LoopStep,
    ModelAnswered,
    ModelRetried,
    StepId,
    StepSaved,
    ToolResult,
    ToolsFinished,
    ToolsStarted,
)


class Tools(Protocol):
    """What the loop needs of a toolbox."""

    def split(self, calls: Sequence[ToolCall], *, is_cut: bool) -> Iterable[Batch]:
        """Split the calls into batches, in the model's order, without those that wait for a person."""
        ...

    @property
    def has_written(self) -> bool:
        """Whether a tool that writes was called in this run."""
        ...

    async def call(self, batch: Batch) -> tuple[ToolResult, ...]:
        """Make the calls of a batch. Never raises for what a tool does."""
        ...


async def run_loop(
    conversation: Conversation,
    llm: LLM,
    tools: Tools,
    build_request: Callable[[Sequence[Turn]], Request],
    *,
    max_steps: int,
) -> AsyncGenerator[Chunk | LoopStep, StepSaved | None]:
    """Make the open calls; end if a call waits for a person or if asked to stop; add the messages that were written
    meanwhile; ask the model; return when it makes no call, and repeat otherwise, within limits. An answer that breaks off in
    the middle is requested once more, unless a tool has written; a conversation that is too long for the model is shortened
    once.

    Every step is yielded before the next effect, and the driver sends `StepSaved` once it is stored. So this is also how a
    run is resumed after a crash: the calls that are open in the stored conversation are made first. Raises `LLMError`.
    """
    while True:
        for batch in tools.split(tuple(conversation.open), is_cut=conversation.is_cut):
            if not batch.known:
                yield ToolsStarted(batch.calls)
            results = batch.known or await tools.call(batch)
            conversation.add_results(results, _require((yield ToolsFinished(results))))
            if conversation.stop_requested:
                break
        if end := conversation.find_end(max_steps):
            yield end
            return
        was_streamed = False
        try:
            async with aclosing(_ask(llm, build_request(conversation.turns), conversation.step)) as parts:
                async for part in parts:
                    was_streamed = True
                    reply = yield part
                    if isinstance(part, ModelAnswered):
                        conversation.add_answer(part.answer, _require(reply))
        except LLMError as error:
            conversation.prepare_retry(error, was_streamed=was_streamed, has_written=tools.has_written)
            conversation.advance(_require((yield ModelRetried(error))))
            continue
        if not conversation.open:
            return


async def _ask(llm: LLM, request: Request, step: StepId) -> AsyncGenerator[Chunk | ModelAnswered, None]:
    """Yield the chunks of an answer and, at the end, the answer."""
    async with aclosing(llm.ask(request)) as parts:
        async for part in parts:
            if isinstance(part, Answer):
                yield ModelAnswered(step, make_storable(part, step))
                return
            yield part
    raise LLMError("cut", "The model's answer broke off.", retryable=True)


def _require(reply: StepSaved | None) -> StepSaved:
    if reply is None:
        raise TypeError("The driver has to answer each step with StepSaved.")
    return reply
