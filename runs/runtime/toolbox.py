"""Make the tool calls of one run, or refuse them (RUN12, RUN13)."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from actors.models import Actor
from agents.services.allowed_tools import ConfiguredTool
from approvals.selectors import Consent, DecidedCall, is_same_target
from approvals.services import ApprovalRequest
from common.errors import AppError
from common.shared_slots import limit_working_time
from common.text import to_storable, to_storable_json
from events.payloads import FoundToolsData
from events.rows import Policy
from llm.adapters.assembly import MAX_CALLS_OF_ANSWER
from llm.messages import ToolCall, ToolSchema
from runs.errors import LeaseLost
from runs.runtime.offered_tools import build_tool_schemas, list_offered_tools
from runs.runtime.steps import Batch, ToolResult, WaitingCall
from tools.interface import NO_SUCH_TOOL, Tool, ToolContext, ToolError, ToolOutput, Wait

logger = logging.getLogger(__name__)

MAX_RESULT = 20_000
"""Characters of a result that the model reads (RUN14)."""
MAX_CALLS_OF_TREE = 200
"""Calls of all runs of a tree together, whatever the limits of steps of these runs are."""
CONCURRENT_READS = 4
"""Calls of one run that are made at the same time (FAIR5)."""
MAX_REPEATS = 2
"""How often in a row a tool may be called with the same arguments. Further calls are refused, and the model reads why."""

NO_APPROVER = "It was not done: a person would have to approve it, and nobody can be asked here."

FindConsent = Callable[[ConfiguredTool, ToolContext, Any], Awaitable[Consent]]
"""Finds out whether a call with these arguments may be made without asking. Raises `ToolError` if the person for whom the run works
has no right to it."""
RunInTransaction = Callable[[ToolCall, Callable[[], ToolOutput], float], Awaitable[ToolOutput]]
"""Runs a synchronous tool, and stores its result, in one transaction. The last argument: the most seconds of the transaction."""

FindWaitRefusal = Callable[[Wait, Sequence[Wait]], str]
"""Finds out why a call may not wait for this, for the model; empty if it may. The last argument: what other calls wait for."""


def _refuse_no_wait(wait: Wait, others: Sequence[Wait]) -> str:
    return ""


@dataclass
class Toolbox:
    """The tools of one run, and what is known about its calls."""

    tools: Mapping[str, ConfiguredTool]
    context: ToolContext
    run_in_transaction: RunInTransaction
    find_consent: FindConsent | None = None
    """Null: nobody can be asked, so a call that needs consent is refused."""
    known_results: dict[str, ToolResult] = field(default_factory=dict)
    """The results of open calls that are known before the loop starts (`find_known_results`), by the id of the call."""
    decided_calls: Mapping[str, DecidedCall] = field(default_factory=dict)
    """The calls about which people have decided, by the id of the call."""
    past_calls: list[ToolCall] = field(default_factory=list)
    """The calls that this run has asked for so far, also refused ones and those that wait."""
    calls_of_other_runs: int = 0
    """How many calls the other runs of its tree have made."""
    has_written: bool = False
    """Whether a tool that writes was called in this run."""
    found: set[str] = field(default_factory=set)
    """The names of the tools that the model has found or called; they are offered in the next requests."""
    requests: list[ApprovalRequest] = field(default_factory=list)
    """The calls that wait for people."""
    waits: list[WaitingCall] = field(default_factory=list)
    """The calls that wait for anything but people."""
    find_wait_refusal: FindWaitRefusal = _refuse_no_wait
    _approved_by: dict[str, Actor | None] = field(default_factory=dict)

    async def build_batches(self, calls: Sequence[ToolCall], *, is_answer_cut: bool) -> AsyncGenerator[Batch, None]:
        """Yield the calls in the model's order as batches: neighbours that only read are one batch, and neighbours that have
        results already, because they were executed before or are refused, are one batch.

        Calls that need the decision of a person become `requests`, and those that wait for anything else become `waits`; they are
        in no batch, and neither are calls that write after them. What `waits` wait for is of one kind: a call that waits for
        something of another kind is handled when the run goes on. `is_answer_cut`: the answer is incomplete, so all are refused.
        """
        reads: list[ToolCall] = []
        finished: list[ToolResult] = []
        for asked in calls:
            decided = self.decided_calls.get(asked.id)
            call = replace(asked, arguments=decided.arguments) if decided else asked
            result = self.known_results.pop(call.id, None) or self._find_refusal(call, is_answer_cut=is_answer_cut)
            self.past_calls.append(call)
            self.found.add(call.name)
            is_read = result is None and self._is_plain_read(call)
            # These reads run first, because what they read decides whether the next call needs consent.
            if reads and not is_read:
                yield Batch(tuple(reads))
                reads = []
            if finished and result is None:
                yield _build_finished_batch(finished)
                finished = []
            if is_read:
                reads.append(call)
                continue
            result = result or await self._check_consent(call)
            if result is None and self._can_add_wait(call):
                result = self._add_wait(call)
            if result is not None:
                finished.append(result)
            elif not self.requests and not self.waits:
                yield Batch((call,), effect=self.tools[call.name].tool.effect)
        if reads:
            yield Batch(tuple(reads))
        if finished:
            yield _build_finished_batch(finished)

    def _is_plain_read(self, call: ToolCall) -> bool:
        """Return whether this call only reads: it does not wait, and no person decides about it."""
        tool, policy = self.tools[call.name].tool, self.tools[call.name].policy
        return not (tool.effect == "write" or policy == Policy.ASK or tool.is_question or tool.wait_kind)

    def _can_add_wait(self, call: ToolCall) -> bool:
        kind = self.tools[call.name].tool.wait_kind
        return bool(kind) and not self.requests and all(waiting.wait.kind == kind for waiting in self.waits)

    def _add_wait(self, call: ToolCall) -> ToolResult | None:
        """Add a call that waits. Return the result of one that is refused, else null."""
        configured = self.tools[call.name]
        try:
            wait = configured.tool.build_wait(configured.tool.parse_arguments(call.arguments), configured.config)
        except ToolError as error:
            return ToolResult(call, "error", _shorten(str(error)))
        if text := self.find_wait_refusal(wait, [waiting.wait for waiting in self.waits]):
            return ToolResult(call, "error", text)
        self.waits.append(WaitingCall(call, wait))
        return None

    async def _check_consent(self, call: ToolCall) -> ToolResult | None:
        """Return the result of a call that is refused, else null. Add a request for a call that waits for a person."""
        if decided := self.decided_calls.get(call.id):
            self._approved_by[call.id] = decided.approved_by
            return None
        configured = self.tools[call.name]
        args = configured.tool.parse_arguments(call.arguments)
        question = configured.tool.build_question(args)
        if self.find_consent is None:
            return None if question else ToolResult(call, "rejected", NO_APPROVER)  # its tool refuses a question
        if question is not None:
            self.requests.append(ApprovalRequest(call, question=question))
            return None
        if configured.tool.effect == "read" and configured.get_policy(args) != Policy.ASK:
            return None
        try:
            consent = await self.find_consent(configured, replace(self.context, call_id=call.id), args)
        except (ToolError, AppError) as error:
            return ToolResult(call, "error", _shorten(str(error)))
        self._approved_by[call.id] = consent.approved_by
        if consent.reason is not None:
            self.requests.append(ApprovalRequest(call, consent.reason, facts=consent.facts))
        return None

    async def call(self, batch: Batch) -> tuple[ToolResult, ...]:
        """Make the calls of a batch concurrently. Errors of tools become results. Raises `LeaseLost`."""
        self.has_written = self.has_written or batch.effect == "write"
        semaphore = asyncio.Semaphore(CONCURRENT_READS)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._call(call, semaphore)) for call in batch.calls]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        results = tuple(task.result() for task in tasks)
        for result in results:
            if isinstance(result.data, FoundToolsData):
                self.found |= {tool.name for tool in result.data.tools}
        return results

    def build_schemas(self) -> list[ToolSchema]:
        """Return the descriptions of the tools that the next request offers."""
        return build_tool_schemas(self.tools, self.found)

    def _find_refusal(self, call: ToolCall, *, is_answer_cut: bool) -> ToolResult | None:
        """Return the result of a call that is refused, else null. The model reads the reason and may call again (RUN12)."""
        text = ""
        before = self.past_calls[-MAX_REPEATS:]
        if call.index >= MAX_CALLS_OF_ANSWER:
            text = f"At most {MAX_CALLS_OF_ANSWER} calls of one answer are made: not this one, nor any after it."
        elif len(self.past_calls) + self.calls_of_other_runs >= MAX_CALLS_OF_TREE:
            text = f"{MAX_CALLS_OF_TREE} calls were made already, with those of sub-agents; no more are allowed. Answer now."
        elif is_answer_cut:
            text = "The answer was cut off by its length limit, so no call was made. Be shorter."
        elif call.name not in self.tools:
            offered = [tool.tool.name for tool in list_offered_tools(self.tools, self.found)]
            text = f"{NO_SUCH_TOOL}{call.name!r}. There are: {', '.join(offered) or 'none'}."
        else:
            try:
                self.tools[call.name].tool.parse_arguments(call.arguments)
            except ToolError as error:
                text = str(error)
            else:
                if len(before) == MAX_REPEATS and all(
                    _normalize_call(past) == _normalize_call(call) for past in before
                ):
                    text = f"{call.name} was called with the same arguments {MAX_REPEATS} times in a row; it was not called again."
        return ToolResult(call, "error", text, error_kind="call") if text else None

    async def _call(self, call: ToolCall, semaphore: asyncio.Semaphore) -> ToolResult:
        """Make one call, with the retries of the agent's settings. A call that must not be repeated is not retried (RUN15)."""
        configured = self.tools[call.name]
        async with semaphore:
            started = asyncio.get_running_loop().time()
            result, may_retry = await self._call_once(call)
            for _ in range(configured.config.retries if configured.tool.can_repeat else 0):
                if not may_retry:
                    break
                result, may_retry = await self._call_once(call)
            return replace(result, seconds=round(asyncio.get_running_loop().time() - started, 3))

    async def _call_once(self, call: ToolCall) -> tuple[ToolResult, bool]:
        """Make one call once. Return the result, and whether a retry may help."""
        tool, config = self.tools[call.name].tool, self.tools[call.name].config
        decided = self.decided_calls.get(call.id)
        context = replace(
            self.context,
            call_id=call.id,
            config=config,
            approved_by=self._approved_by.get(call.id),
        )
        timeout = config.timeout_s
        try:
            async with limit_working_time(timeout):
                arguments = tool.parse_arguments(call.arguments)
                if tool.is_async:
                    _check_target(tool, context, arguments, decided)
                    output = _to_storable_output(await tool.run(context, arguments))
                else:

                    def run() -> ToolOutput:
                        _check_target(tool, context, arguments, decided)
                        return _to_storable_output(tool.run(context, arguments))

                    output = await self.run_in_transaction(call, run, timeout)
        except TimeoutError:
            text = f"{call.name} did not answer within {timeout:g} s. What came of it is not known."
            return ToolResult(call, "timeout", text), False
        except ToolError as error:
            return ToolResult(call, "error", _shorten(str(error))), not error.is_final
        except AppError as error:
            return ToolResult(call, "error", _shorten(str(error))), False
        except (LeaseLost, MemoryError):
            raise
        except Exception:
            logger.exception("The tool %s broke.", call.name)
            return ToolResult(call, "error", f"{call.name} failed by an internal error.", error_kind="tool"), False
        return ToolResult(call, "ok", output.text, data=output.data, quotes_agents=output.quotes_agents), False


def _build_finished_batch(results: Sequence[ToolResult]) -> Batch:
    return Batch(tuple(result.call for result in results), tuple(results))


def _check_target(tool: Tool, context: ToolContext, args: Any, decided: DecidedCall | None) -> None:
    """Raise `ToolError` if the call goes elsewhere than the person has approved."""
    if decided is None or decided.target is None:
        return
    if not is_same_target(decided.target, tool.describe_target(context, args)):
        raise ToolError(
            "The call was not made: it goes elsewhere than when it was approved, or other people read that chat now. Ask again.",
            is_final=True,
        )


def _to_storable_output(output: str | ToolOutput) -> ToolOutput:
    if isinstance(output, str):
        return ToolOutput(_shorten(output))
    data = output.data and output.data.model_validate(to_storable_json(output.data.model_dump()))
    return replace(output, text=_shorten(output.text), data=data)


def _normalize_call(call: ToolCall) -> tuple[str, Any]:
    """Return the same value for calls with the same arguments, however their JSON is written."""
    try:
        return call.name, json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        return call.name, call.arguments


def _shorten(text: str, limit: int = MAX_RESULT) -> str:
    text = to_storable(text)
    return text if len(text) <= limit else f"{text[:limit]}\n[cut: {len(text) - limit:,} more characters]"
