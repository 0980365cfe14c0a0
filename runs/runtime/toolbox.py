"""The tools of one run: which calls can be made, and making them (style §6, B12, B13)."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from pydantic import ValidationError

from agents.specs.content import ToolUse
from common.errors import AppError
from common.text import storable, storable_json
from llm.adapters.assembly import MAX_CALLS
from llm.messages import ToolCall, ToolSchema
from runs.errors import LeaseLost
from runs.runtime.conversation import MAX_ARGUMENTS
from runs.runtime.steps import Batch, ToolResult
from tools.interface import Tool, ToolArgs, ToolConfig, ToolContext, ToolError, ToolOutput
from tools.registry import registry

logger = logging.getLogger(__name__)

MAX_RESULT = 20_000
"""Characters of a result that the model reads (B14)."""
MAX_CALLS_OF_RUN = 200
"""Calls that one run makes, whatever its limit of steps allows (guarantees §2.7)."""
READS_AT_ONCE = 4
"""Calls of one run that are made side by side (F5)."""
MAX_SAME = 2
"""How often in a row a tool is called with the same arguments; a loop would go on for ever (guarantees §2.7)."""

InTransaction = Callable[[ToolCall, Callable[[], str], float], Awaitable[str]]
"""Runs a synchronous tool in one transaction of at most so many seconds, together with the record that it was done."""


@dataclass(frozen=True)
class ConfiguredTool:
    """A tool as this agent has it."""

    tool: Tool
    config: ToolConfig
    instructions: str

    @cached_property
    def schema(self) -> ToolSchema:
        """As it is offered to the model."""
        return ToolSchema(self.tool.name, self.tool.description, self.tool.schema())


@dataclass
class Toolbox:
    """`recovered`: what is known of calls that a crash left open. `past`: this run's calls so far, in order."""

    given: Mapping[str, ConfiguredTool]
    context: ToolContext
    in_transaction: InTransaction
    recovered: dict[str, ToolResult] = field(default_factory=dict)
    past: list[ToolCall] = field(default_factory=list)

    def batches(self, calls: Sequence[ToolCall], *, cut: bool) -> Iterator[Batch]:
        """In the model's order; neighbours that only read go together. `cut`: the answer hit its length limit."""
        reading: list[ToolCall] = []
        for call in calls:
            known = self.recovered.pop(call.id, None) or self._refusal(call, cut=cut)
            self.past.append(call)
            if known is None and self.given[call.name].tool.effect == "read":
                reading.append(call)
                continue
            if reading:
                yield Batch(tuple(reading))
                reading = []
            yield Batch((call,), (known,) if known else ())
        if reading:
            yield Batch(tuple(reading))

    @property
    def has_written(self) -> bool:
        """Whether a tool that acts was called in this run, as far as is known."""
        tools = [
            self.given[call.name].tool if call.name in self.given else registry.get(call.name) for call in self.past
        ]
        # A tool may have been taken from the agent since it was called.
        return any(tool is not None and tool.effect != "read" for tool in tools)

    async def call(self, batch: Batch) -> tuple[ToolResult, ...]:
        """Make the calls of a batch, side by side. Never raises for what a tool does; raises `LeaseLost`."""
        try:
            async with asyncio.TaskGroup() as group:
                some = asyncio.Semaphore(READS_AT_ONCE)
                tasks = [group.create_task(self._call(call, some)) for call in batch.calls]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return tuple(task.result() for task in tasks)

    def _refusal(self, call: ToolCall, *, cut: bool) -> ToolResult | None:
        """CancelReason a call is not made, if it is not. Nothing is guessed: the model is told, and may call again (B12)."""
        if call.index >= MAX_CALLS:
            return _refused(call, f"At most {MAX_CALLS} calls of one answer are made: not this one, nor any after it.")
        if len(self.past) >= MAX_CALLS_OF_RUN:
            return _refused(call, f"{MAX_CALLS_OF_RUN} calls were made in this run, which is the most. Answer now.")
        if cut:
            return _refused(call, "The answer was cut off by its length limit, so no call was made. Be shorter.")
        given = self.given.get(call.name)
        if given is None:
            return _refused(call, f"There is no tool {call.name!r}. There are: {', '.join(self.given) or 'none'}.")
        args = read_args(given.tool, call.arguments)
        if isinstance(args, str):
            return _refused(call, args)
        if self._was_same(call):
            text = f"{call.name} was called with the same arguments {MAX_SAME} times in a row; it was not called again."
            return _refused(call, text)
        return None

    def _was_same(self, call: ToolCall) -> bool:
        before = self.past[-MAX_SAME:]
        return len(before) == MAX_SAME and all(_key(past) == _key(call) for past in before)

    async def _call(self, call: ToolCall, some: asyncio.Semaphore) -> ToolResult:
        """One call, as soon as one of `some` is free; tried again as often as the agent's settings say."""
        async with some:
            return await self._made(call)

    async def _made(self, call: ToolCall) -> ToolResult:
        started = asyncio.get_running_loop().time()
        config = self.given[call.name].config
        outcome, may_pass = await self._try(call)
        for _ in range(config.retries):
            if not may_pass:
                break
            outcome, may_pass = await self._try(call)
        return replace(outcome, seconds=round(asyncio.get_running_loop().time() - started, 3))

    async def _try(self, call: ToolCall) -> tuple[ToolResult, bool]:
        """What came of it, and whether another try could end otherwise."""
        limit = self.given[call.name].config.timeout_s
        try:
            async with asyncio.timeout(limit):
                output = await self._run(call)
        except TimeoutError:
            text = f"{call.name} did not answer within {limit:g} s. What came of it is not known."
            return ToolResult(call, "timeout", text), False
        except ToolError as error:
            return ToolResult(call, "error", _short(str(error))), not error.is_final
        except AppError as error:
            return ToolResult(call, "error", _short(str(error))), False
        except (LeaseLost, MemoryError):
            raise
        except Exception:
            logger.exception("The tool %s broke.", call.name)
            return ToolResult(call, "error", f"{call.name} failed by an internal error.", fault="tool"), False
        return ToolResult(call, "ok", output.text, data=output.data), False

    async def _run(self, call: ToolCall) -> ToolOutput:
        given = self.given[call.name]
        args = read_args(given.tool, call.arguments)
        assert isinstance(args, ToolArgs)
        context = replace(self.context, call_id=call.id, config=given.config)
        if given.tool.effect == "write":
            context = replace(context, authors=await context.find_authors())
        if given.tool.is_async:
            return _storable_output(await given.tool.run(context, args))
        work = partial(given.tool.run, context, args)
        return ToolOutput(await self.in_transaction(call, lambda: _short(str(work())), given.config.timeout_s))


def configure_tools(uses: Iterable[ToolUse], *, only_reading: bool = False) -> dict[str, ConfiguredTool]:
    """The tools that a spec names and that exist. One that is gone, or whose settings no longer fit, is left out.

    `only_reading`: those that act are left out, too, where two answer the same question and would act twice.
    """
    found: dict[str, ConfiguredTool] = {}
    for use in uses:
        tool = registry.get(use.tool)
        if tool is None or not use.is_enabled or (only_reading and tool.effect != "read"):
            continue
        try:
            found[use.tool] = ConfiguredTool(tool, tool.configured(use.custom_config), use.usage_instructions)
        except ValidationError:
            logger.warning("The settings of the tool %s no longer fit; the agent works without it.", use.tool)
    return found


def read_args(tool: Tool, arguments: str) -> ToolArgs | str:
    """The arguments, checked strictly; or what is wrong with them, for the model. Empty stands for `{}`."""
    if len(arguments) > MAX_ARGUMENTS:
        return f"The arguments are too long: more than {MAX_ARGUMENTS:,} characters. The call was not made."
    try:
        return tool.Args.model_validate_json(arguments.strip() or "{}", strict=True)
    except ValidationError as error:
        return f"The call was not made, because its arguments are wrong. {_complaints(error)}"


def _complaints(error: ValidationError) -> str:
    found = Counter((".".join(map(str, e["loc"])) or "arguments", e["msg"]) for e in error.errors(include_url=False))
    return _short("; ".join(f"{place}: {message}" for place, message in list(found)[:5]), 1000)


def _refused(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call, "error", text, fault="call")


def _key(call: ToolCall) -> tuple[str, Any]:
    """What makes two calls the same, however their arguments are written."""
    try:
        return call.name, json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except ValueError:
        return call.name, call.arguments


def _storable_output(output: str | ToolOutput) -> ToolOutput:
    """Return the output of a tool, of which everything can be stored and the text is not too long."""
    if isinstance(output, str):
        return ToolOutput(_short(output))
    data = output.data and output.data.model_validate(storable_json(output.data.model_dump()))
    return ToolOutput(_short(output.text), data)


def _short(text: str, limit: int = MAX_RESULT) -> str:
    text = storable(text)
    return text if len(text) <= limit else f"{text[:limit]}\n[cut: {len(text) - limit:,} more characters]"
