"""The values that the loop and the runner exchange: tool calls, their results, and events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from approvals.services import ApprovalRequest
from events.payloads import BudgetRefusal, ToolData
from events.rows import ToolEffect
from llm.messages import Answer, ToolCall, Turn
from llm.protocol import LLMError
from tools.interface import Wait

ToolStatus = Literal["ok", "error", "rejected", "interrupted", "timeout", "stopped"]


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call. `error_kind`: `call` (malformed) or `tool` (an exception). `data`: for the web app.
    `quotes_agents`: the text contains texts of agents, so no URL in it counts as read (SEC9)."""

    call: ToolCall
    status: ToolStatus
    text: str
    seconds: float | None = None
    error_kind: Literal["", "call", "tool"] = ""
    data: ToolData | None = None
    quotes_agents: bool = False


@dataclass(frozen=True)
class Batch:
    """Calls that the loop handles together: one call; several that only read; or several whose results are `known`, which are not
    executed."""

    calls: tuple[ToolCall, ...]
    known: tuple[ToolResult, ...] = ()
    effect: ToolEffect = "read"


@dataclass(frozen=True)
class WaitingCall:
    """A call, and what it waits for instead of having a result."""

    call: ToolCall
    wait: Wait


@dataclass(frozen=True)
class StepId:
    """The number of a step and the id of its message, which is fixed before the first chunk."""

    number: int
    message_id: UUID


@dataclass(frozen=True)
class ToolsStarted:
    """These calls are about to be made."""

    calls: tuple[ToolCall, ...]
    effect: ToolEffect = "read"


@dataclass(frozen=True)
class ToolsFinished:
    """These calls have results."""

    results: tuple[ToolResult, ...]


@dataclass(frozen=True)
class ModelAnswered:
    """The model answered. An answer without calls ends the run, unless it has `problems`: then the model is asked again."""

    step: StepId
    answer: Answer
    problems: str = ""


@dataclass(frozen=True)
class ModelRetried:
    """The model is asked once more for the same answer, because of this error. What was streamed of it is discarded."""

    error: LLMError


@dataclass(frozen=True)
class LoopEnded:
    """The run ends without an answer, or waits: for people to decide about `requests`, or for what the calls `waits` wait for."""

    how: Literal["stopped", "failed", "waiting_approval", "waiting_child"]
    code: str = ""
    text: str = ""
    budget: BudgetRefusal | None = None
    requests: tuple[ApprovalRequest, ...] = ()
    waits: tuple[WaitingCall, ...] = ()


LoopEvent = ToolsStarted | ToolsFinished | ModelAnswered | ModelRetried | LoopEnded
"""What the loop yields besides chunks, so that the runner stores it before the loop continues."""


@dataclass(frozen=True)
class StepSaved:
    """The reply of the runner once an event is stored: the next step, new messages of others, whether to stop. `withdrawn_text`: a
    part of the system text that the model may not read any more."""

    next_step: StepId
    new_turns: Sequence[Turn] = ()
    stop: bool = False
    withdrawn_text: str = ""
