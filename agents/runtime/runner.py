"""One claim of a run, driven to its end: the loop's steps are stored as they come, its pieces streamed (architecture §6)."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Literal, ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError

from agents.errors import CannotGoOn, LeaseLost
from agents.llm.door import llm_for
from agents.llm.exchange import Piece, Request, ToolCall, Turn
from agents.llm.protocol import LLMError
from agents.models import Run
from agents.runtime.answer_rows import Partial
from agents.runtime.job_recorder import JobRecorder
from agents.runtime.loop import work
from agents.runtime.preparing import Prepared
from agents.runtime.process import die_without_memory
from agents.runtime.provenance import is_named
from agents.runtime.recorder import Recorder
from agents.runtime.speech import speech_of
from agents.runtime.steps import Answered, Ended, Saved, Settled, Started, Step
from agents.runtime.toolbox import Toolbox
from agents.services.leases import give_back
from common.clock import now
from common.errors import AppError
from common.sections import Sections
from common.text import storable
from tools.interface import ToolContext

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Why = Literal["", "stop", "lost", "shutdown"]


class Runner:
    """Drives one run. `cancel` may come at any moment; what is being stored then is stored first."""

    def __init__(self, prepared: Prepared, sections: Sections, tool_sections: Sections) -> None:
        self.run: Run = prepared.run
        self.is_over = False
        self._prepared = prepared
        self._sections = sections
        self._tool_sections = tool_sections
        recorder = JobRecorder if self.run.chat_id is None else Recorder
        self._recorder = recorder(prepared.run, prepared.means)
        self._speech = speech_of(prepared.run)
        assert self.run.message_id is not None
        self._partial = Partial(self.run.message_id)
        self._task: asyncio.Task[None] | None = None
        self._why: Why = ""

    def cancel(self, why: Why) -> None:
        """End it: a person asked (`stop`), somebody else has it (`lost`), or the process ends (`shutdown`)."""
        if self.is_over or self._task is None or self._why:
            return
        self._why = why
        self._task.cancel()

    async def drive(self) -> None:
        """Work until the end. Never raises: whatever happens, the run ends visibly, is given back, or runs out."""
        self._task = asyncio.current_task()
        try:
            await self._drive()
        except LeaseLost:
            logger.info("Run %s is somebody else's now.", self.run.id)
        except (OperationalError, InterfaceError) as error:
            # Nothing can be stored: the sweeper gives it back when the database answers again (B7).
            logger.warning("Run %s is let go, the database does not answer: %s", self.run.id, error)
        finally:
            self.is_over = True
            await self._speech.close()

    async def _drive(self) -> None:
        limit = self._prepared.content.limits.max_seconds
        try:
            async with asyncio.timeout(limit - self._seconds_so_far()):
                await self._work()
        except asyncio.CancelledError:
            await self._cancelled()
        except TimeoutError:
            await self._end(Ended("failed", "time_limit", f"It reached the limit of {limit} seconds."))
        except LLMError as error:
            await self._end(Ended("failed", error.code, error.message), error)
        except CannotGoOn as error:
            # Rights were taken away in the middle: what was said so far is not said.
            self._partial = Partial(self._partial.message_id)
            await self._end(Ended("failed", error.code, error.text))
        except AppError as error:
            await self._end(Ended("failed", error.code.value, error.message))
        except (LeaseLost, OperationalError, InterfaceError):
            raise
        except MemoryError:
            die_without_memory()
        except Exception:
            logger.exception("Run %s broke.", self.run.id)
            await self._end(Ended("failed", "internal", "Something went wrong on our side."))

    async def _work(self) -> None:
        made = self._prepared
        llm = llm_for(made.means.endpoint)
        steps = work(made.talk(), llm, self._toolbox(), self._request, max_steps=made.content.limits.max_steps)
        async with aclosing(steps):
            reply: Saved | None = None
            while True:
                try:
                    step = await steps.asend(reply)
                except StopAsyncIteration:
                    return
                reply = await self._take(step)

    def _toolbox(self) -> Toolbox:
        made, run = self._prepared, self.run
        context = ToolContext(run.agent, run.on_behalf_of, run.chat_id, run.id, "", is_named=self._is_named)
        return Toolbox(made.tools, context, self._in_transaction, dict(made.recovered), list(made.past))

    def _request(self, turns: Sequence[Turn]) -> Request:
        made = self._prepared
        schemas = [given.schema() for given in made.tools.values()]
        return Request(made.means.model, list(turns), schemas, made.parameters())

    # --- what the loop yields -----------------------------------------------------------------------------------

    async def _take(self, step: Piece | Step) -> Saved | None:
        match step:
            case Piece():
                self._say(step)
            case Started():
                return await self._whole(self._recorder.started, step)
            case Settled():
                return await self._whole(self._recorder.settled, step)
            case Answered():
                return await self._store_answer(step)
            case Ended():
                await self._end(step)
        return None

    def _say(self, piece: Piece) -> None:
        piece = replace(piece, text=storable(piece.text))
        if piece.part == "text":
            self._partial.text += piece.text
        elif piece.part == "thinking":
            self._partial.thinking += piece.text
        self._speech.say(piece, self._partial.message_id)

    async def _store_answer(self, step: Answered) -> Saved:
        """What was streamed is flushed before its durable row goes out, and forgotten after."""
        await self._speech.flush()
        saved = await self._whole(self._recorder.answered, step)
        self.is_over = not step.answer.calls
        self._partial = Partial(saved.step.message_id)
        await self._speech.close()
        return saved

    async def _end(self, end: Ended, error: LLMError | None = None) -> None:
        await self._speech.flush()
        await self._whole(self._recorder.ended, end, self._partial, error)
        self.is_over = True

    async def _cancelled(self) -> None:
        """Somebody ended us. Asked to stop, we keep what was said; leaving, we give the run back."""
        task = asyncio.current_task()
        assert task is not None
        while task.cancelling():
            task.uncancel()
        if self._why == "lost":
            raise LeaseLost
        if self._why == "stop":
            await self._end(Ended("stopped"))
        else:
            await self._whole(give_back, self.run)

    # --- means --------------------------------------------------------------------------------------------------

    async def _is_named(self, url: str) -> bool:
        return await self._sections(is_named, self.run.room_id, self._prepared.content.prompt, url)

    async def _in_transaction(self, call: ToolCall, work: Callable[[], str], seconds: float) -> str:
        """A tool that hangs is given up: its transaction finds its call settled, and goes back."""
        return await self._tool_sections(self._recorder.in_transaction, call, work, seconds)

    async def _whole(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """A transaction to its end, even when we are cancelled: it cannot be taken back, and what comes next must see it."""
        section = asyncio.ensure_future(self._sections(work, *args, **kwargs))
        try:
            return await asyncio.shield(section)
        except asyncio.CancelledError:
            await asyncio.wait([section])
            if not section.cancelled() and section.exception() is not None:
                logger.info("Run %s was cancelled while it stored: %s", self.run.id, section.exception())
            raise

    def _seconds_so_far(self) -> float:
        return (now() - self.run.started_at).total_seconds() if self.run.started_at else 0.0
