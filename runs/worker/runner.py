"""One claim of a run, driven to its end: the loop's steps are stored as they come, its pieces streamed."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from typing import Literal, ParamSpec, TypeVar

from django.db import DatabaseError

from actors.models import Actor
from common.clock import now
from common.database import is_database_away, may_succeed_again
from common.db_executor import DatabaseExecutor
from common.errors import AppError
from common.processes import die_without_memory
from common.tenants import on_behalf_of_tenant
from common.text import storable
from llm.client import llm_for
from llm.messages import Answer, Piece, Request, ToolCall, Turn
from llm.prices import estimated_usage
from llm.protocol import LLMError
from runs.errors import LeaseLost, RunNotAllowed
from runs.kinds import kind_of
from runs.kinds.base import PreparedRun
from runs.models import Run
from runs.runtime.answer_rows import PartialMessage
from runs.runtime.loop import run_loop
from runs.runtime.provenance import ReadTexts, find_authors
from runs.runtime.steps import LoopStep, ModelAnswered, ModelRetried, RunEnded, StepSaved, ToolsFinished, ToolsStarted
from runs.runtime.streaming import get_reading_rate
from runs.runtime.toolbox import Toolbox
from runs.services.leases import requeue_run
from tools.interface import ToolContext

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
CancelReason = Literal["", "stop", "lost", "shutdown"]

STORE_TRIES = 3
"""How often it is tried to store a step when PostgreSQL breaks the transaction off."""


class Runner:
    """Drives one run. `cancel` may come at any moment; what is being stored then is stored first."""

    def __init__(self, prepared: PreparedRun, sections: DatabaseExecutor, tool_sections: DatabaseExecutor) -> None:
        self.run: Run = prepared.run
        self.is_over = False
        self.attempts = {self.run.attempt}
        """The attempts of this runner: asking for an answer again takes a new one."""
        self._prepared = prepared
        self._sections = sections
        self._tool_sections = tool_sections
        self._kind = kind_of(prepared.run)
        self._stream = self._kind.open_stream(prepared.run)
        self._rate = get_reading_rate(prepared.run.workspace_id)
        assert self.run.message_id is not None
        self._partial = PartialMessage(self.run.message_id)
        self._read_texts: ReadTexts | None = None
        self._asked: Request | None = None
        """What the model was asked last, until what came of it is in the ledger."""
        self._answer: Answer | None = None
        """What it answered to that, when that could not be stored."""
        self._task: asyncio.Task[None] | None = None
        self._why: CancelReason = ""

    def cancel(self, why: CancelReason) -> None:
        """End it: a person asked (`stop`), somebody else has it (`lost`), or the process ends (`shutdown`)."""
        if self.is_over or self._task is None or self._why:
            return
        self._why = why
        self._task.cancel()

    async def drive(self) -> None:
        """Work until the end. Never raises: whatever happens, the run ends visibly, is given back, or runs out."""
        self._task = asyncio.current_task()
        try:
            with on_behalf_of_tenant(self.run.workspace_id):
                await self._drive()
        except LeaseLost:
            logger.info("Run %s is somebody else's now.", self.run.id)
        except DatabaseError as error:
            # Nothing can be stored: the sweeper gives it back when the database answers again (RUN7).
            logger.warning("Run %s is let go, the database does not answer: %s", self.run.id, error)
        finally:
            self.is_over = True
            await self._stream.close()

    async def _drive(self) -> None:
        limit = self._prepared.content.limits.max_seconds
        try:
            async with asyncio.timeout(limit - self._seconds_so_far()):
                await self._work()
        except asyncio.CancelledError:
            await self._cancelled()
        except TimeoutError:
            await self._end(RunEnded("failed", "time_limit", f"It reached the limit of {limit} seconds."))
        except LLMError as error:
            await self._end(RunEnded("failed", error.code, self._message_of(error)), error)
        except RunNotAllowed as error:
            # Rights were taken away in the middle: what was said so far is not said.
            self._partial = PartialMessage(self._partial.message_id)
            await self._end(RunEnded("failed", error.code, error.text))
        except AppError as error:
            await self._end(RunEnded("failed", error.code.value, error.message))
        except LeaseLost:
            raise
        except MemoryError:
            die_without_memory()
        except Exception as error:
            if is_database_away(error):
                raise
            logger.exception("Run %s broke.", self.run.id)
            await self._end_broken()

    async def _work(self) -> None:
        made = self._prepared
        announce = self._announce_next_try if self._kind.shows_next_try else None
        llm = llm_for(made.model.endpoint, tenant=str(self.run.workspace_id), announce=announce)
        steps = run_loop(
            made.build_conversation(), llm, self._toolbox(), self._request, max_steps=made.content.limits.max_steps
        )
        async with aclosing(steps):
            reply: StepSaved | None = None
            while True:
                try:
                    step = await steps.asend(reply)
                except StopAsyncIteration:
                    return
                reply = await self._take(step)

    def _toolbox(self) -> Toolbox:
        made, run = self._prepared, self.run
        context = ToolContext(run.agent, run.on_behalf_of, run.chat_id, run.id, "", is_named=self._is_named,
                              find_authors=self._find_authors)  # fmt: skip
        return Toolbox(made.tools, context, self._in_transaction, dict(made.known_results), list(made.past_calls))

    def _request(self, turns: Sequence[Turn]) -> Request:
        made = self._prepared
        schemas = [tool.schema for tool in made.tools.values()]
        self._asked = Request(made.model.name, list(turns), schemas, made.get_parameters())
        return self._asked

    # --- what the loop yields -----------------------------------------------------------------------------------

    async def _take(self, step: Piece | LoopStep) -> StepSaved | None:
        match step:
            case Piece():
                self._say(step)
                if wait := self._rate.take(step.text):
                    await asyncio.sleep(wait)
            case ToolsStarted():
                return await self._whole(self._kind.record_tool_start, self.run, step)
            case ToolsFinished():
                return await self._whole(self._kind.record_tool_results, self.run, step)
            case ModelAnswered():
                return await self._store_answer(step)
            case ModelRetried():
                return await self._ask_again(step)
            case RunEnded():
                await self._end(step)
        return None

    def _say(self, piece: Piece) -> None:
        piece = replace(piece, text=storable(piece.text))
        self._partial.add(piece)
        self._stream.add(piece, self._partial.message_id)

    async def _store_answer(self, step: ModelAnswered) -> StepSaved:
        """What was streamed is flushed before its durable row goes out, and pick_undispatched_runs after."""
        await self._stream.flush()
        self._answer = step.answer
        saved = await self._whole(self._record_answer, step)
        self.is_over = not step.answer.calls
        self._partial = PartialMessage(saved.step.message_id)
        await self._stream.close()
        return saved

    async def _ask_again(self, step: ModelRetried) -> StepSaved:
        """Forget what was streamed. Clients replace it by what comes now, because that has a higher attempt."""
        await self._stream.close()
        self.attempts |= {self.run.attempt + 1}
        saved = await self._whole(self._record_asked_again, step)
        self._partial = PartialMessage(self._partial.message_id)
        return saved

    async def _announce_next_try(self, seconds: float) -> None:
        """Show in the chat when the model is asked again."""
        await self._whole(self._kind.record_next_try, self.run, now() + timedelta(seconds=seconds))

    # These change this object in the same thread as the row: the task may be cancelled before it learns that the row is stored.

    def _record_answer(self, step: ModelAnswered) -> StepSaved:
        saved = self._kind.record_answer(self.run, self._prepared.model, step)
        self._asked = self._answer = None
        return saved

    def _record_asked_again(self, step: ModelRetried) -> StepSaved:
        saved = self._kind.record_retry(self.run, self._prepared.model, step)
        self._asked = None
        self.run.attempt += 1
        return saved

    async def _end(self, end: RunEnded, error: LLMError | None = None) -> None:
        await self._stream.flush()
        await self._whole(
            self._kind.record_end, self.run, self._prepared.model, end, self._partial, error or self._unfinished(end)
        )
        self.is_over = True

    def _unfinished(self, end: RunEnded) -> LLMError | None:
        """Return the request that ends without an answer, for the ledger: its provider bills it all the same."""
        if self._asked is None:
            return None
        said = f"{self._partial.text}{self._partial.thinking}"
        usage = (
            self._answer.usage if self._answer else estimated_usage(self._prepared.model.endpoint, self._asked, said)
        )
        return LLMError(end.code or end.how, end.text, usage=usage)

    def _message_of(self, error: LLMError) -> str:
        """Return what the chat may read of an error. What a provider says about the operator's key (its organisation, its
        quota) goes to the operator's log only."""
        if self._prepared.model.endpoint.paid_by != "system":
            return error.message
        logger.warning("The operator's model failed in run %s: %s", self.run.id, error.message)
        return "The model could not answer."

    async def _end_broken(self) -> None:
        """End the run visibly. When the end cannot be stored with what was said so far, it is stored without that."""
        end = RunEnded("failed", "internal", "Something went wrong on our side.")
        try:
            await self._end(end)
        except DatabaseError as error:
            if is_database_away(error):
                raise
            self._partial = PartialMessage(self._partial.message_id)
            await self._end(end)

    async def _cancelled(self) -> None:
        """Participant ended us. Asked to stop, we keep what was said; leaving, we give the run back."""
        task = asyncio.current_task()
        assert task is not None
        while task.cancelling():
            task.uncancel()
        if self._why == "lost":
            raise LeaseLost
        if self._why == "stop":
            await self._end(RunEnded("stopped"))
        else:
            await self._whole(requeue_run, self.run)

    # --- model --------------------------------------------------------------------------------------------------

    async def _is_named(self, url: str) -> bool:
        if self._read_texts is None:
            self._read_texts = ReadTexts(self.run.get_chat_id(), self._prepared.content.prompt)
        return await self._sections(self._read_texts.is_named, url)

    async def _find_authors(self) -> list[Actor]:
        return await self._sections(find_authors, self.run)

    async def _in_transaction(self, call: ToolCall, work: Callable[[], str], seconds: float) -> str:
        """A tool that hangs is given up: its transaction finds its call settled, and goes back."""
        return await self._tool_sections(self._kind.run_in_transaction, self.run, call, work, seconds)

    async def _whole(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """A transaction to its end, even when we are cancelled: it cannot be taken back, and what comes next must see it."""
        section = asyncio.ensure_future(self._run_transaction(work, *args, **kwargs))
        try:
            return await asyncio.shield(section)
        except asyncio.CancelledError:
            await asyncio.wait([section])
            if not section.cancelled() and section.exception() is not None:
                logger.info("Run %s was cancelled while it stored: %s", self.run.id, section.exception())
            raise

    async def _run_transaction(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a transaction, and again when it was broken off because of others: that is cheaper than asking the model again."""
        for _ in range(STORE_TRIES - 1):
            try:
                return await self._sections(work, *args, **kwargs)
            except DatabaseError as error:
                if not may_succeed_again(error):
                    raise
                logger.warning("A step of run %s is stored again: %s", self.run.id, error)
        return await self._sections(work, *args, **kwargs)

    def _seconds_so_far(self) -> float:
        return (now() - self.run.started_at).total_seconds() if self.run.started_at else 0.0
