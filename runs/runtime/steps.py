"""The data of a run: its calls and its steps. No database, no network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from events.payloads import WebPageData
from llm.messages import Answer, ToolCall, Turn
from llm.protocol import LLMError


@dataclass(frozen=True)
class ToolResult:
    """What came of a tool call. `fault`: the call was malformed and not made, or the tool itself broke (our bug). `data` is
    for the screen."""

    call: ToolCall
    status: Literal["ok", "error", "rejected", "interrupted", "timeout", "stopped"]
    text: str
    seconds: float | None = None
    fault: Literal["", "call", "tool"] = ""
    data: WebPageData | None = None


@dataclass(frozen=True)
class Batch:
    """Calls settled together: one, or several that only read. `known`: said about them without making them."""

    calls: tuple[ToolCall, ...]
    known: tuple[ToolResult, ...] = ()


@dataclass(frozen=True)
class StepId:
    """Where we are: the id of the message that is being made is fixed before its first byte (S2.4)."""

    number: int
    message_id: UUID


# --- what the loop yields, each before its effect or right after it -------------------------------------------------


@dataclass(frozen=True)
class ToolsStarted:
    """These calls are about to be made."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True)
class ToolsFinished:
    """This came of these calls."""

    outcomes: tuple[ToolResult, ...]


@dataclass(frozen=True)
class ModelAnswered:
    """The model answered. Without a call, it is the run's last word."""

    step: StepId
    answer: Answer


@dataclass(frozen=True)
class ModelRetried:
    """The model is asked once more for the same answer, because of this error: what was shown of it counts no longer."""

    error: LLMError


@dataclass(frozen=True)
class RunEnded:
    """The run ends, or rests, otherwise than by an answer."""

    how: Literal["stopped", "failed", "waiting_approval"]
    code: str = ""
    text: str = ""


Step = ToolsStarted | ToolsFinished | ModelAnswered | ModelRetried | RunEnded


@dataclass(frozen=True)
class StepSaved:
    """What the driver says once a step is stored: where we are next, what was said meanwhile, whether to stop."""

    step: StepId
    news: Sequence[Turn] = ()
    stop: bool = False
