"""The tool-call loop of an agent: one generator, without access to the database or the network."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from approvals.services import ApprovalRequest
from llm.messages import Answer, Chunk, ModelRequest, ToolCall, Turn
from llm.protocol import LLM, LLMError
from runs.runtime.conversation import Conversation, make_storable
from runs.runtime.steps import (
    Batch,
    LoopEvent,
    ModelAnswered,
    ModelRetried,
    StepSaved,
    ToolResult,
    ToolsFinished,
    ToolsStarted,
    WaitingCall,
)


class ToolboxProtocol(Protocol):
    """The methods of `runs.runtime.toolbox.Toolbox` that the loop calls."""

    def build_batches(self, calls: Sequence[ToolCall], *, is_answer_cut: bool) -> AsyncGenerator[Batch, None]: ...
    @property
    def requests(self) -> Sequence[ApprovalRequest]: ...
    @property
    def waits(self) -> Sequence[WaitingCall]: ...
    @property
    def has_written(self) -> bool: ...
    async def call(self, batch: Batch) -> tuple[ToolResult, ...]: ...


async def run_loop(
    conversation: Conversation,
    llm: LLM,
    tools: ToolboxProtocol,
    build_request: Callable[[Sequence[Turn]], ModelRequest],
    *,
    max_steps: int,
) -> AsyncGenerator[Chunk | LoopEvent, StepSaved | None]:
    """Yield the steps of a run until it ends. Each iteration:

    1. makes the open calls. `StepSaved` brings the messages that others wrote meanwhile; they are added after the last result;
    2. ends if calls wait for people or for anything else, if a stop is requested, or at a limit;
    3. asks the model, and returns if its answer makes no call.

    An answer that does not follow the schema of the conversation is requested again, with what is wrong with it, a few times.
    An answer that breaks off is requested once more, unless a tool has written. A conversation that is too long for the model
    is shortened, a few times if necessary.

    Every step is yielded before the next call or request is made. The runner replies to `ToolsFinished`, `ModelAnswered` and
    `ModelRetried` with `StepSaved` once they are stored; a reply to any other event is ignored. A run is resumed in the same way
    after a crash: the open calls of the stored conversation are made first. Raises `LLMError`.
    """
    while True:
        calls = tuple(conversation.open_calls)
        async with aclosing(tools.build_batches(calls, is_answer_cut=conversation.is_answer_cut)) as batches:
            async for batch in batches:
                if not batch.known:
                    yield ToolsStarted(batch.calls, batch.effect)
                results = batch.known or await tools.call(batch)
                conversation.add_results(results, _require((yield ToolsFinished(results))))
                if conversation.stop_requested:
                    break
        if end := conversation.find_loop_end(max_steps, tools.requests, tools.waits):
            yield end
            return
        was_streamed = False
        try:
            async with aclosing(_ask(llm, build_request(conversation.turns), conversation)) as parts:
                async for part in parts:
                    was_streamed = True
                    reply = yield part
                    if isinstance(part, ModelAnswered):
                        conversation.add_answer(part.answer, _require(reply), part.problems)
        except LLMError as error:
            conversation.prepare_retry(error, was_streamed=was_streamed, has_written=tools.has_written)
            conversation.advance(_require((yield ModelRetried(error))))
            continue
        if conversation.is_answered:
            return


async def _ask(
    llm: LLM, request: ModelRequest, conversation: Conversation
) -> AsyncGenerator[Chunk | ModelAnswered, None]:
    """Yield the chunks of an answer and, at the end, the answer. Raises `LLMError`."""
    async with aclosing(llm.ask(request)) as parts:
        async for part in parts:
            if isinstance(part, Answer):
                answer = conversation.add_context_facts(make_storable(part, conversation.step))
                problems = ""
                if conversation.form is not None:
                    problems = await asyncio.to_thread(conversation.find_problems, answer)
                yield ModelAnswered(conversation.step, answer, problems)
                return
            yield part
    raise LLMError("cut", "The model's answer broke off.", retryable=True)


def _require(reply: StepSaved | None) -> StepSaved:
    if reply is None:
        raise TypeError("The caller has to send StepSaved after each step.")
    return reply
