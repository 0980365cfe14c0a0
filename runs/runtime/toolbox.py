"""Make the tool calls of one run, or refuse them (RUN12, RUN13)."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from agents.services.allowed_tools import ConfiguredTool
from common.errors import AppError
from common.text import to_storable, to_storable_json
from llm.adapters.assembly import MAX_CALLS
from llm.messages import ToolCall
from runs.errors import LeaseLost
from runs.runtime.steps import Batch, ToolResult
from tools.interface import ToolContext, ToolError, ToolOutput
from tools.registry import registry

logger = logging.getLogger(__name__)

MAX_RESULT = 20_000
"""Characters of a result that the model reads (RUN14)."""
MAX_CALLS_OF_RUN = 200
"""Calls of one run, whatever its limit of steps is."""
CONCURRENT_READS = 4
"""Calls of one run that are made at the same time (FAIR5)."""
MAX_REPEATS = 2
"""How often in a row a tool is called with the same arguments. It ends the loop of a model that repeats itself."""

RunInTransaction = Callable[[ToolCall, Callable[[], str], float], Awaitable[str]]
"""Runs a synchronous tool, and stores that it was run, in one transaction of at most so many seconds."""


@dataclass
class Toolbox:
    """The tools of one run. `known_results`: of calls that a crash left open. `past_calls`: the calls of this run so far."""

    tools: Mapping[str, ConfiguredTool]
    context: ToolContext
    run_in_transaction: RunInTransaction
    known_results: dict[str, ToolResult] = field(default_factory=dict)
    past_calls: list[ToolCall] = field(default_factory=list)

    def split(self, calls: Sequence[ToolCall], *, is_cut: bool) -> Iterator[Batch]:
        """Yield the calls in the model's order; neighbours that only read are one batch. `is_cut`: the answer is incomplete."""
        reads: list[ToolCall] = []
        for call in calls:
            known = self.known_results.pop(call.id, None) or self._find_refusal(call, is_cut=is_cut)
            self.past_calls.append(call)
            if known is None and self.tools[call.name].tool.effect == "read":
                reads.append(call)
                continue
            if reads:
                yield Batch(tuple(reads))
                reads = []
            yield Batch((call,), (known,) if known else ())
        if reads:
            yield Batch(tuple(reads))

    @property
    def has_written(self) -> bool:
        """Whether a tool that writes was called in this run."""
        # The agent may have lost a tool since it was called.
        configured = {name: tool.tool for name, tool in self.tools.items()}
        called = [configured.get(call.name) or registry.get(call.name) for call in self.past_calls]
        return any(tool is not None and tool.effect != "read" for tool in called)

    async def call(self, batch: Batch) -> tuple[ToolResult, ...]:
        """Make the calls of a batch concurrently. Errors of tools become results. Raises `LeaseLost`."""
        semaphore = asyncio.Semaphore(CONCURRENT_READS)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._call(call, semaphore)) for call in batch.calls]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return tuple(task.result() for task in tasks)

    def _find_refusal(self, call: ToolCall, *, is_cut: bool) -> ToolResult | None:
        """Return the result of a call that is refused, else null. The model reads the reason and may call again (RUN12)."""
        text = ""
        before = self.past_calls[-MAX_REPEATS:]
        if call.index >= MAX_CALLS:
            text = f"At most {MAX_CALLS} calls of one answer are made: not this one, nor any after it."
        elif len(self.past_calls) >= MAX_CALLS_OF_RUN:
            text = f"{MAX_CALLS_OF_RUN} calls were made in this run, which is the most. Answer now."
        elif is_cut:
            text = "The answer was cut off by its length limit, so no call was made. Be shorter."
        elif call.name not in self.tools:
            text = f"There is no tool {call.name!r}. There are: {', '.join(self.tools) or 'none'}."
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
        """Make one call, with the retries of the agent's settings."""
        async with semaphore:
            started = asyncio.get_running_loop().time()
            result, may_retry = await self._call_once(call)
            for _ in range(self.tools[call.name].config.retries):
                if not may_retry:
                    break
                result, may_retry = await self._call_once(call)
            return replace(result, seconds=round(asyncio.get_running_loop().time() - started, 3))

    async def _call_once(self, call: ToolCall) -> tuple[ToolResult, bool]:
        """Make one call once. Return the result, and whether a retry may help."""
        timeout = self.tools[call.name].config.timeout_s
        try:
            async with asyncio.timeout(timeout):
                output = await self._run_tool(call)
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
        return ToolResult(call, "ok", output.text, data=output.data), False

    async def _run_tool(self, call: ToolCall) -> ToolOutput:
        configured = self.tools[call.name]
        tool, config = configured.tool, configured.config
        arguments = tool.parse_arguments(call.arguments)
        context = replace(self.context, call_id=call.id, config=config)
        if tool.effect == "write":
            context = replace(context, authors=await context.find_authors())
        if not tool.is_async:
            work = partial(tool.run, context, arguments)
            return ToolOutput(await self.run_in_transaction(call, lambda: _shorten(str(work())), config.timeout_s))
        output: str | ToolOutput = await tool.run(context, arguments)
        if isinstance(output, str):
            return ToolOutput(_shorten(output))
        data = output.data and output.data.model_validate(to_storable_json(output.data.model_dump()))
        return ToolOutput(_shorten(output.text), data)


def _normalize_call(call: ToolCall) -> tuple[str, Any]:
    """Return the same value for calls with the same arguments, however their JSON is written."""
    try:
        return call.name, json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except ValueError:
        return call.name, call.arguments


def _shorten(text: str, limit: int = MAX_RESULT) -> str:
    text = to_storable(text)
    return text if len(text) <= limit else f"{text[:limit]}\n[cut: {len(text) - limit:,} more characters]"
