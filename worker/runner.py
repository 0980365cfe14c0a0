"""Execute a claimed run: store each step that the loop yields, and stream the chunks of its answers."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Literal, ParamSpec, TypeVar

from django.db import Error

from agents.services.allowed_tools import ConfiguredTool
from approvals.selectors import Consent, find_consent
from chats.services.text_sources import TextSources
from common.clock import now
from common.database import is_database_unavailable, is_retryable
from common.db_executor import DatabaseExecutor, PriorityDatabaseExecutor
from common.errors import AppError
from common.processes import exit_on_memory_error
from common.tenants import set_current_tenant
from common.text import to_storable
from events.rows import TextsOfOthers
from llm.client import get_model
from llm.endpoints import check_endpoint
from llm.messages import Answer, Chunk, ModelRequest, ToolCall, Turn
from llm.prices import estimate_usage
from llm.protocol import LLMError, build_origin
from llm.reading_rate import get_reading_rate
from llm.sent_requests import RequestKey, RequestRecorder
from llm.services import record_llm_profile_failure
from llm.structured import StructuredModel
from runs.errors import LeaseLost, RunNotAllowed
from runs.kinds import get_kind
from runs.kinds.base import PreparedRun
from runs.kinds.task import TaskAnswer, TaskRun
from runs.models import Run
from runs.runtime.loop import run_loop
from runs.runtime.messages import PartialMessage
from runs.runtime.steps import LoopEnded, LoopEvent, ModelAnswered, ModelRetried, StepSaved, ToolsFinished, ToolsStarted
from runs.runtime.tasks import TaskInput
from runs.runtime.toolbox import Toolbox
from runs.runtime.waits import find_wait_refusal
from runs.services.leases import UnfinishedRequest, requeue_run
from tools.interface import ToolContext, ToolOutput
from usage import services as usage
from usage.errors import BudgetRefused
from usage.limited_model import LimitedModel
from worker.answers import AnswerCollector

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
CancelReason = Literal["", "stop", "lost", "shutdown"]

INTERNAL = "Something went wrong on our side."
STORE_TRIES = 3
"""How often the transaction of a step is tried when PostgreSQL aborts it."""


class Runner:
    """Executes one run. `cancel` may be called at any time; a transaction that has begun is completed first."""

    def __init__(
        self,
        prepared: PreparedRun,
        db: PriorityDatabaseExecutor,
        tool_db: DatabaseExecutor,
        answers: AnswerCollector,
    ) -> None:
        self.run: Run = prepared.run
        self._claimed = prepared.claimed
        self.attempts = {self.run.attempt}
        """The attempts of this runner: each retry of an answer is a new attempt."""
        self._prepared = prepared
        self._db = db
        self._tool_db = tool_db
        self._answers = answers
        self._kind = get_kind(self.run)
        self._stream = self._kind.open_stream(self.run)
        self._rate = get_reading_rate(self.run.workspace_id)
        self._partial = PartialMessage(self.run.get_message_id())
        self._earlier_partial: PartialMessage | None = None
        """What was streamed before the model was asked again, until the next attempt sends its first chunk."""
        self._text_sources: TextSources | None = None
        self._request: ModelRequest | None = None
        """The last request to the model, until its ledger entry is written."""
        self._answer: Answer | None = None
        """The answer to that request, until it is stored."""
        if self._kind.keeps_requests:
            model = prepared.model
            secret = model.endpoint.key.reveal() if model.endpoint.key else ""
            self._claimed.request_recorder = RequestRecorder(
                prepared.sections, secret, build_origin(model.endpoint, model.name)
            )
        self._is_finished = False
        self._task: asyncio.Task[None] | None = None
        self._cancel_reason: CancelReason = ""

    def cancel(self, reason: CancelReason) -> None:
        """Cancel the run: a stop was requested, another worker has the run (`lost`), or the process ends (`shutdown`)."""
        if not self._is_finished and self._task is not None and not self._cancel_reason:
            self._cancel_reason = reason
            self._task.cancel()

    async def execute(self) -> None:
        """Execute the run to its end. Never raises: the run ends, is queued again, or its lease expires."""
        self._task = asyncio.current_task()
        try:
            with set_current_tenant(self.run.workspace_id, self.run.on_behalf_of_id):
                try:
                    await self._execute()
                except asyncio.CancelledError:
                    # It may also be cancelled while the end of a failed run is stored.
                    await self._handle_cancel()
        except LeaseLost:
            logger.info("Run %s belongs to another worker now.", self.run.id)
        except Error as error:
            # Its end cannot be stored either. The sweeper puts it in the queue again when the database answers (RUN7).
            logger.warning("Run %s waits until the database answers: %s", self.run.id, error)
        finally:
            self._is_finished = True
            await self._stream.close()

    async def _execute(self) -> None:
        limit = self._prepared.content.limits.max_seconds
        try:
            async with asyncio.timeout(self.run.compute_seconds_left(limit)):
                await self._run_loop()
        except TimeoutError:
            await self._end_run(LoopEnded("failed", "time_limit", "It reached its limit of time."))
        except LLMError as error:
            await self._end_run(await self._record_model_error(error), error)
        except RunNotAllowed as error:
            # Rights were withdrawn during the answer: what was streamed of it is not stored.
            self._discard_partial()
            await self._end_run(LoopEnded("failed", error.code, error.text))
        except AppError as error:
            await self._end_run(LoopEnded("failed", error.code.value, error.message))
        except LeaseLost:
            raise
        except MemoryError:
            exit_on_memory_error()
        except Exception as error:
            if is_database_unavailable(error):
                raise
            logger.exception("Run %s broke.", self.run.id)
            await self._end_broken_run()

    async def _run_loop(self) -> None:
        prepared, run = self._prepared, self.run
        announce = self._announce_retry if self._kind.shows_retry_time else None
        endpoint = prepared.model.endpoint
        check = self._check_endpoint if endpoint.paid_by == "person" else None
        llm = get_model(endpoint, tenant=str(run.workspace_id), announce=announce, check=check)
        if prepared.form is not None:
            llm = StructuredModel(llm, prepared.form, build_origin(endpoint, prepared.model.name))
        if prepared.model.budgets:
            llm = LimitedModel(llm, self._reserve, self._refuse_cut_answer)
        context = ToolContext(
            run.agent,
            run.on_behalf_of,
            run.chat_id if self._kind.can_read_chat else None,
            run.id,
            "",
            is_url_allowed=self._is_url_allowed,
            file_ids=prepared.file_ids,
            has_outside_texts=bool(self._claimed.has_outside_texts),
            given_texts=prepared.given_texts,
            task_metadata=run.metadata if self._kind.can_write_files else None,
            workspace_id=run.workspace_id,
            shown_in_chat_id=run.chat_id,
        )
        toolbox = Toolbox(
            prepared.tools,
            context,
            self._run_in_transaction,
            self._find_consent if self._kind.can_wait else None,
            known_results=dict(prepared.known_results),
            decided_calls=prepared.decided_calls,
            past_calls=list(prepared.past_calls),
            calls_of_other_runs=prepared.started_calls.of_other_runs,
            has_written=prepared.started_calls.has_written,
            found=set(prepared.found_tools),
            find_wait_refusal=partial(find_wait_refusal, run),
        )
        max_steps = prepared.content.limits.max_steps
        conversation = prepared.build_conversation()

        def build_request(turns: Sequence[Turn]) -> ModelRequest:
            parameters = prepared.content.parameters.model_dump(exclude_none=True)
            request = ModelRequest(prepared.model.name, list(turns), toolbox.build_schemas(), parameters)
            if prepared.form is not None:
                is_repair = conversation.repairs_left < prepared.form.max_repairs
                request = prepared.form.add_to_request(request, is_repair=is_repair)
            self._request = request
            if recorder := self._claimed.request_recorder:
                recorder.current, recorder.sections = self._request, conversation.sections
            return self._request

        events = run_loop(conversation, llm, toolbox, build_request, max_steps=max_steps)
        async with aclosing(events):
            reply: StepSaved | None = None
            while True:
                try:
                    event = await events.asend(reply)
                except StopAsyncIteration:
                    return
                except BudgetRefused as error:
                    if self._answer is None:
                        self._request = None  # it was not sent
                        self._claimed.request_recorder = None
                    end = LoopEnded("failed", error.code.value, error.message, budget=error.refusal)
                    await self._end_run(end)
                    return
                reply = await self._handle_event(event)

    async def _reserve(self, request: ModelRequest) -> ModelRequest:
        """Reserve what a request may use in the budgets of the run, and return the request that is sent. The
        answer of a job is not shortened, because a part of it is of no use. Raises `BudgetRefused`."""
        reserve = partial(
            usage.reserve,
            self._prepared.model,
            request,
            holder_id=self.run.id,
            attempt=self.run.attempt,
            may_shorten=self._kind.can_answer_in_part,
        )
        reserved = await self._complete(self._run_with_retries(partial(self._db.call_first, reserve)))
        self._request = reserved
        if recorder := self._claimed.request_recorder:
            recorder.current = reserved
        return reserved

    async def _refuse_cut_answer(self, request: ModelRequest, answer: Answer) -> None:
        """End the run because a budget has cut this answer, of which nothing can be used. The ledger gets its usage. Raises
        `BudgetUsedUp`."""
        self._answer = answer
        error = await self._store(
            usage.build_error_of_cut_answer,
            self._prepared.model,
            request,
            holder_id=self.run.id,
            attempt=self.run.attempt,
        )
        if error is not None:
            raise error

    async def _handle_event(self, event: Chunk | LoopEvent) -> StepSaved | None:
        """Stream a chunk, or store a step. Return the reply that is sent back into the loop; a chunk and the end have none."""
        match event:
            case Chunk():
                chunk = replace(event, text=to_storable(event.text))
                self._earlier_partial = None
                self._partial.add(chunk)
                form = self._prepared.form
                if form is None or not form.must_fit or chunk.part != "text":
                    # A text that has to follow its schema may be refused, and is not stored then.
                    self._stream.add(chunk, self._partial.message_id)
                if wait := self._rate.count_chunk(event.text):
                    await asyncio.sleep(wait)
            case ToolsStarted():
                return await self._store(self._kind.record_tool_start, self._claimed, event)
            case ToolsFinished():
                return await self._store(self._kind.record_tool_results, self._claimed, event)
            case ModelAnswered():
                await self._stream.stop()
                self._answer = event.answer
                saved = await self._complete(self._store_answer(event))
                self._is_finished = not event.answer.calls and not event.problems
                self._partial = PartialMessage(saved.next_step.message_id)
                self._earlier_partial = None
                await self._stream.close()
                return saved
            case ModelRetried():
                # Clients replace what was streamed before by the chunks of the higher attempt.
                await self._stream.close()
                self.attempts |= {self.run.attempt + 1}
                saved = await self._store(self._record_retry, event)
                streamed = self._partial
                earlier = streamed if streamed.text or streamed.thinking else self._earlier_partial
                self._discard_partial()
                self._earlier_partial = earlier
                return saved
            case LoopEnded():
                await self._end_run(event)
        return None

    async def _store_answer(self, event: ModelAnswered) -> StepSaved:
        """Store an answer. The answer of a task is stored with others of its tree that arrive at about the same time."""
        saved = None
        if isinstance(self._kind, TaskRun):
            saved = await self._answers.store(self._kind, TaskAnswer(self._claimed, self._prepared.model, event))
        if saved is None:
            return await self._run_with_retries(partial(self._db, self._record_answer, event))
        self._mark_stored(event)
        return saved

    # `_record_answer` and `_record_retry` set the runner's fields in the thread of the transaction: the task may be cancelled
    # before it gets the result.

    def _record_answer(self, event: ModelAnswered) -> StepSaved:
        saved = self._kind.record_answer(self._claimed, self._prepared.model, event)
        self._mark_stored(event)
        return saved

    def _mark_stored(self, event: ModelAnswered) -> None:
        self._request = self._answer = None
        if recorder := self._claimed.request_recorder:
            recorder.mark_stored(RequestKey(event.step.number, self.run.attempt))

    def _record_retry(self, event: ModelRetried) -> StepSaved:
        saved = self._kind.record_retry(self._claimed, self._prepared.model, event)
        self._request = None
        if recorder := self._claimed.request_recorder:
            recorder.mark_stored(RequestKey(saved.next_step.number, self.run.attempt))
        self.run.attempt += 1
        return saved

    async def _announce_retry(self, seconds: float) -> None:
        """Store when the model is asked again, so that the chat shows it."""
        await self._store(self._kind.record_retry_time, self._claimed, now() + timedelta(seconds=seconds))

    async def _end_run(self, end: LoopEnded, error: LLMError | None = None) -> None:
        """Store that the run has ended or waits. `error`: of its last request, for the ledger; null: built if needed."""
        await self._stream.stop()
        error = error or self._build_error_of_unfinished_request(end)
        partial = self._earlier_partial or self._partial  # people have read it
        await self._store(self._kind.record_loop_end, self._claimed, self._prepared.model, end, partial, error)
        self._is_finished = True

    def _build_error_of_unfinished_request(self, end: LoopEnded) -> LLMError | None:
        """Return an error with the usage of the request whose answer is not stored, or null without such a request. The provider
        bills it, too, so it gets a ledger entry."""
        if self._request is None:
            return None
        streamed = f"{self._partial.text}{self._partial.thinking}"
        used = self._answer.usage if self._answer else None
        used = used or estimate_usage(self._prepared.model.endpoint, self._request, streamed)
        return LLMError(end.code or end.how, end.text, usage=used)

    async def _end_broken_run(self) -> None:
        """Fail the run after an exception. If its end cannot be stored with the streamed part, store it without."""
        end = LoopEnded("failed", "internal", INTERNAL)
        try:
            await self._end_run(end)
        except Error as error:
            if is_database_unavailable(error):
                raise
            self._discard_partial()
            await self._end_run(end)

    async def _handle_cancel(self) -> None:
        """Store the end of a stopped run, or put the run in the queue again when the process ends. Raises `LeaseLost` for
        a run that another worker has."""
        while self._task is not None and self._task.cancelling():
            self._task.uncancel()
        if self._cancel_reason == "lost":
            raise LeaseLost
        if self._cancel_reason == "stop":
            await self._end_run(LoopEnded("stopped"))
        else:
            # Another process asks the model again.
            error = self._build_error_of_unfinished_request(LoopEnded("stopped"))
            request = None
            if error is not None:
                request = UnfinishedRequest(self._prepared.model, error, self._claimed.request_recorder)
            await self._store(requeue_run, self.run, request)

    def _discard_partial(self) -> None:
        self._earlier_partial = None
        self._partial = PartialMessage(self._partial.message_id)

    async def _check_endpoint(self) -> None:
        model, spec_model = self._prepared.model, self._prepared.content.model
        workspace_id = self.run.workspace_id
        await self._db.call_first(
            check_endpoint,
            model.endpoint,
            model.name,
            workspace_id=workspace_id,
            spec_model=spec_model,
            is_reader=partial(self._kind.is_reader, self.run),
        )

    async def _record_model_error(self, error: LLMError) -> LoopEnded:
        """Return the end of a run whose model failed. Details about the operator's model are only logged. Those about a person's
        own model are recorded, and only shown to that person."""
        endpoint = self._prepared.model.endpoint
        if endpoint.paid_by == "system":
            logger.warning("The operator's model failed in run %s: %s", self.run.id, error.message)
            return LoopEnded("failed", error.code, "The model could not answer.")
        if endpoint.paid_by != "person" or error.code == "llm_profile_withdrawn":
            return LoopEnded("failed", error.code, error.message)
        await self._db(record_llm_profile_failure, endpoint, error)
        return LoopEnded(
            "failed", "llm_profile_failed", f"The own model of {endpoint.person_name} failed: {error.code}."
        )

    async def _is_url_allowed(self, url: str) -> bool:
        if self._text_sources is None:
            # Hosts in the prompt of a public agent are not allowed: its publisher could let it send them texts of the chat.
            is_own = self.run.agent.workspace_id == self.run.workspace_id
            texts = [self._prepared.content.prompt] if is_own else []
            if self._prepared.given_texts == TextsOfOthers.NONE:
                # The task is a text of the person, as a message of theirs in the chat would be.
                texts.append(TaskInput.from_run(self.run).text)
            self._text_sources = TextSources(self.run.get_chat_id(), "\n".join(texts))
        return await self._db(self._text_sources.is_url_allowed, url)

    async def _find_consent(self, configured: ConfiguredTool, context: ToolContext, args: Any) -> Consent:
        tool, policy, run = configured.tool, configured.get_policy(args), self.run
        where = {"chat_id": run.get_chat_id(), "workspace_id": run.workspace_id}
        return await self._db(find_consent, tool, policy, context, args, **where)

    async def _run_in_transaction(self, call: ToolCall, work: Callable[[], ToolOutput], seconds: float) -> ToolOutput:
        """Run a tool in a thread. Its transaction is rolled back when it takes longer than `seconds`."""
        return await self._tool_db(self._kind.run_in_transaction, self._claimed, call, work, seconds)

    async def _store(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a transaction to its end, even when this task is cancelled, because the end of the run is stored after it."""
        return await self._complete(self._run_with_retries(partial(self._db, work, *args, **kwargs)))

    async def _complete(self, storing: Coroutine[Any, Any, T]) -> T:
        """Wait for the end of a transaction, even when this task is cancelled."""
        transaction = asyncio.ensure_future(storing)
        try:
            return await asyncio.shield(transaction)
        except asyncio.CancelledError:
            await asyncio.wait([transaction])
            if not transaction.cancelled() and transaction.exception() is not None:
                logger.info("Run %s was cancelled while it stored: %s", self.run.id, transaction.exception())
            raise

    async def _run_with_retries(self, run: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a transaction. Retry it when PostgreSQL aborted it because of another one."""
        for _ in range(STORE_TRIES - 1):
            try:
                return await run()
            except Error as error:
                if not is_retryable(error):
                    raise
                logger.warning("A step of run %s is stored again: %s", self.run.id, error)
        return await run()
