"""A harness for the loop without a database. It stores steps in a log, can simulate crashes, and checks the calls."""

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from actors.models import Actor
from agents.services.allowed_tools import ConfiguredTool
from approvals.selectors import Consent, DecidedCall
from context.transcript import ChatContext, LogEntry, Participant, build_transcript, build_turns_of_others
from llm.context_window import DEFAULT_BUDGET
from llm.messages import Chunk, ModelRequest, ToolCall
from runs.runtime.conversation import Conversation
from runs.runtime.loop import run_loop
from runs.runtime.steps import (
    LoopEnded,
    ModelAnswered,
    ModelRetried,
    StepId,
    StepSaved,
    ToolResult,
    ToolsFinished,
    ToolsStarted,
)
from runs.runtime.toolbox import Toolbox
from tests.runs.scripted_llm import ScriptedLLM
from tools.interface import Tool, ToolArgs, ToolConfig, ToolContext, ToolError, ToolOutput

AGENT = Participant(UUID(int=1), "Scribe", "scribe", is_agent=True)
ALICE = Participant(UUID(int=2), "Alice", "alice", is_agent=False)
CHAT = ChatContext("ChatContext", "Acme", [AGENT, ALICE], {AGENT.id: AGENT, ALICE.id: ALICE})
RUN = UUID(int=3)


class Crash(BaseException):
    """A simulated death of the process. No `except Exception` catches it."""


class Broken(BaseException):
    """The loop broke a rule. Not an `Exception`, which the toolbox would treat as an error of a tool."""


class Number(ToolArgs):
    n: int


def tool(name: str, effect: str, run: Callable[..., Any]) -> ConfiguredTool:
    body = {"__doc__": "A tool.", "name": name, "effect": effect, "Args": Number, "run": run}
    return ConfiguredTool(type(name, (Tool,), body)(), ToolConfig(timeout_s=5), "")


@dataclass
class LoopHarness:
    """What survives a crash: the log, the records of tool calls, and the count of executions. `crash_at` counts the
    moments at which a process can die; `news_at` the stores at which somebody says something."""

    crash_at: frozenset[int] = frozenset()
    news_at: frozenset[int] = frozenset()
    stop_at: int = -1
    budget: int | None = DEFAULT_BUDGET
    news: str = "news"
    lines: list[LogEntry] = field(default_factory=list)
    started: dict[str, str] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    executions: list[str] = field(default_factory=list)
    steps_done: int = 0
    message_id: UUID = field(default_factory=uuid4)
    moments: int = 0
    stores: int = 0
    crashes: int = 0
    ends: list[LoopEnded] = field(default_factory=list)
    retries: list[str] = field(default_factory=list)
    asks_for: frozenset[str] = frozenset()
    decided: dict[str, DecidedCall] = field(default_factory=dict)
    requested: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines.append(LogEntry(uuid4(), "TEXT_MESSAGE", ALICE.id, {"text": "begin"}))

    def moment(self) -> None:
        """A moment at which the process may die."""
        self.moments += 1
        if self.moments in self.crash_at:
            self.crashes += 1
            raise Crash

    def build_tools(self) -> dict[str, ConfiguredTool]:
        async def look_up(tool: Tool, ctx: ToolContext, args: Number) -> str:
            self.record_execution(ctx.call_id)
            if args.n < 0:
                raise ToolError("negative")
            return f"saw {args.n}"

        async def send(tool: Tool, ctx: ToolContext, args: Number) -> str:
            self.record_execution(ctx.call_id)
            self.moment()
            return f"sent {args.n}"

        def note(tool: Tool, ctx: ToolContext, args: Number) -> str:
            self.record_execution(ctx.call_id)
            return f"noted {args.n}"

        kinds = [("look_up", "read", look_up), ("send", "write", send), ("note", "write", note)]
        return {name: tool(name, effect, run) for name, effect, run in kinds}

    def record_execution(self, call_id: str) -> None:
        if call_id not in self.started:
            raise Broken("executed before its start was recorded")
        self.executions.append(call_id)

    async def in_transaction(self, call: ToolCall, run: Callable[[], ToolOutput], seconds: float) -> ToolOutput:
        output = run()
        self.results[call.id] = output.text
        self.moment()
        return output

    async def find_consent(self, configured: ConfiguredTool, context: ToolContext, args: Any) -> Consent:
        return Consent("policy" if configured.tool.name in self.asks_for else None)

    def decide(self, choose: Callable[[str], bool]) -> None:
        """Decide about the calls that the run waits for, and drop its end: the next process continues it."""
        for request in self.ends.pop().requests:
            refused = None if choose(request.call.id) else ("rejected", "no")
            self.decided[request.call.id] = DecidedCall(request.call.arguments, None, refused)  # type: ignore[arg-type]

    def find_known_results(self, open_calls: list[ToolCall]) -> dict[str, ToolResult]:
        """Return the known results as `history.find_known_results` does."""
        known: dict[str, ToolResult] = {}
        for call in open_calls:
            if call.id in self.results:
                known[call.id] = ToolResult(call, "ok", self.results[call.id])
            elif call.id in self.started and self.started[call.id] != "look_up":
                known[call.id] = ToolResult(call, "interrupted", "It is not known what came of it.")
            elif call.id in self.decided and (refused := self.decided[call.id].result) and call.id not in self.started:
                known[call.id] = ToolResult(call, *refused)
        return known

    async def process(self, llm: ScriptedLLM, *, max_steps: int) -> None:
        """Simulate one process: rebuild the conversation, run the loop, store its steps. Raises `Crash` if it dies."""
        made = build_transcript(self.lines, system="S", agent_id=AGENT.id, run_id=RUN, chat=CHAT)
        context = ToolContext(Actor(name="Scribe"), None, None, RUN, "")
        box = Toolbox(
            self.build_tools(),
            context,
            self.in_transaction,
            self.find_consent,
            known_results=self.find_known_results(made.open_calls),
            decided_calls=self.decided,
            has_written=any(name != "look_up" for name in self.started.values()),
        )
        at = StepId(self.steps_done + 1, self.message_id)
        conversation = Conversation(made.turns, at, made.open_calls, made.later_turns, self.budget)
        reply: StepSaved | None = None
        steps = run_loop(
            conversation,
            llm,
            box,
            lambda turns: ModelRequest("m", list(turns), [tool.schema for tool in box.tools.values()]),
            max_steps=max_steps,
        )
        async with aclosing(steps):
            while True:
                try:
                    step = await steps.asend(reply)
                except StopAsyncIteration:
                    return
                self.moment()
                reply = None if isinstance(step, Chunk) else self.store(step)
                self.moment()

    def store(self, step: Any) -> StepSaved:
        self.stores += 1
        match step:
            case ToolsStarted(calls):
                self.started |= {call.id: call.name for call in calls}
            case ToolsFinished(results):
                self.lines += [self._result(result) for result in results]
            case ModelAnswered(at, answer):
                assert at.number == self.steps_done + 1
                assert at.message_id == self.message_id
                self._answer(at, answer)
            case ModelRetried(error):
                self.retries.append(error.code)
            case LoopEnded():
                self.ends.append(step)
                self.requested += [request.call.id for request in step.requests]
        news = []
        if isinstance(step, ToolsFinished) and self.stores in self.news_at:
            line = LogEntry(uuid4(), "TEXT_MESSAGE", ALICE.id, {"text": f"{self.news} {self.stores}"})
            self.lines.append(line)
            news = build_turns_of_others([line], agent_id=AGENT.id, chat=CHAT)
        return StepSaved(StepId(self.steps_done + 1, self.message_id), news, stop=self.stores == self.stop_at)

    def _answer(self, at: StepId, answer: Any) -> None:
        if answer.text:
            self.lines.append(LogEntry(at.message_id, "TEXT_MESSAGE", AGENT.id, {"text": answer.text}, RUN))
        for call in answer.calls:
            payload = {"call_id": call.id, "name": call.name, "arguments": call.arguments, "step": at.number}
            self.lines.append(LogEntry(uuid4(), "TOOL_CALL", AGENT.id, payload, RUN))
        self.steps_done, self.message_id = at.number, uuid4()

    def _result(self, outcome: ToolResult) -> LogEntry:
        payload = {"tool_call_id": outcome.call.id, "text": outcome.text, "status": outcome.status}
        return LogEntry(uuid4(), "TOOL_RESPONSE", AGENT.id, payload, RUN)

    def list_texts(self, type_: str = "TEXT_MESSAGE") -> list[str]:
        return [line.payload["text"] for line in self.lines if line.type == type_ and line.author_id == AGENT.id]

    def statuses(self) -> list[str]:
        return [line.payload["status"] for line in self.lines if line.type == "TOOL_RESPONSE"]
