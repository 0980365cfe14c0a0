"""The conversation of one run as it grows: what was said, which calls are open, and when enough is enough."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import UUID, uuid5

from common.text import storable
from llm.messages import Answer, ToolCall, Turn
from llm.protocol import LLMError
from runs.runtime.context import estimate_tokens_of_turns, shorten
from runs.runtime.steps import RunEnded, StepId, StepSaved, ToolResult

MAX_ARGUMENTS = 250_000
"""Characters; longer arguments are cut for storing, and refused (B12)."""
BROKEN_OFF = ("cut", "server", "timeout_idle")
"""Codes of errors in the middle of an answer: its provider broke it off, or sends nothing more."""
MAX_FAULTS = 3
"""Answers in a row whose calls were all malformed, or tools that broke, after which the run fails."""

LIMITS = {
    "step_limit": "It reached the limit of {max_steps} steps.",
    "malformed_calls": "The model called tools in a way that cannot be understood, three times in a row.",
    "tools_broken": "Tools failed inside three times.",
}


@dataclass
class Conversation:
    """`turns` end with the open calls' assistant turn, if there are open calls; `later` is what was said after it.

    `budget`: the tokens that `turns` may take beside the system text. Without one, nothing is ever left out of them.
    """

    turns: list[Turn]
    step: StepId
    open: list[ToolCall] = field(default_factory=list)
    later: list[Turn] = field(default_factory=list)
    budget: int | None = None
    stop: bool = False
    cut: bool = False
    build_retried_side: bool = False
    shortened: bool = False
    bad_answers: int = 0
    broken_tools: int = 0
    _faults: list[str] = field(default_factory=list)

    def say(self, answer: Answer, saved: StepSaved) -> None:
        """The model's answer is part of the conversation."""
        self.turns.append(Turn("assistant", answer.text, calls=answer.calls))
        self.open = list(answer.calls)
        self.cut = answer.finish == "length"
        self.build_retried_side = self.shortened = False
        self.go_on(saved)

    def settle(self, outcomes: Sequence[ToolResult], saved: StepSaved) -> None:
        """Calls have come to something; once all have, what was said meanwhile follows."""
        settled = {outcome.call.id for outcome in outcomes}
        self.open = [call for call in self.open if call.id not in settled]
        self.turns += [Turn("tool", outcome.text, call_id=outcome.call.id) for outcome in outcomes]
        self._faults += [outcome.fault for outcome in outcomes]
        self.later += saved.news
        if not self.open:
            self._count_faults()
            self.turns += self.later
            self.later = []
            self._keep_to_budget()
        self.go_on(saved)

    def may_ask_again(self, error: LLMError, *, was_shown: bool, has_written: bool) -> bool:
        """Return whether the model is asked again after this error; if so, the conversation has been shortened where needed.

        `was_shown`: a part of the answer was streamed. Before that, `llm.retry` repeats requests.
        """
        if error.code == "context_too_long" and not self.shortened and self.budget is not None:
            self.shortened = True
            before, self.turns = self.turns, shorten(self.turns)
            return estimate_tokens_of_turns(self.turns) < estimate_tokens_of_turns(before)
        if not was_shown or error.code not in BROKEN_OFF or self.build_retried_side or has_written:
            return False
        self.build_retried_side = True
        return True

    def _keep_to_budget(self) -> None:
        """Leave out the oldest turns when results and new messages have made the conversation too long."""
        if self.budget is not None and estimate_tokens_of_turns(self.turns[1:]) > self.budget:
            self.turns = shorten(self.turns, self.budget)

    def end(self, max_steps: int) -> RunEnded | None:
        """CancelReason the model is not to be asked now; nothing when it is."""
        if self.stop:
            return RunEnded("stopped")
        if self.open:
            return RunEnded("waiting_approval")
        limit = self._limit(max_steps)
        return RunEnded("failed", limit, LIMITS[limit].format(max_steps=max_steps)) if limit else None

    def _limit(self, max_steps: int) -> str:
        if self.bad_answers >= MAX_FAULTS:
            return "malformed_calls"
        if self.broken_tools >= MAX_FAULTS:
            return "tools_broken"
        return "step_limit" if self.step.number > max_steps else ""

    def _count_faults(self) -> None:
        self.bad_answers = self.bad_answers + 1 if all(fault == "call" for fault in self._faults) else 0
        self.broken_tools += self._faults.count("tool")
        self._faults = []

    def go_on(self, saved: StepSaved) -> None:
        """Take in where the run stands."""
        self.step = saved.step
        self.stop = self.stop or saved.stop


def row_id_of(message_id: UUID, part: Literal["text", "thinking", "arguments"], index: int = 0) -> UUID:
    """Return the id of the row that a part of a step becomes: the same whenever the step is made again."""
    if part == "text":
        return message_id
    return uuid5(message_id, "thinking" if part == "thinking" else f"call:{index}")


def call_id_of(message_id: UUID, index: int) -> str:
    """Return our id of a call: the same whenever the step is made again, unlike the provider's."""
    return f"call_{row_id_of(message_id, 'arguments', index).hex}"


def numbered(answer: Answer, step: StepId) -> Answer:
    """The answer as it is kept: its calls under our ids, and no character that cannot be stored."""
    calls = tuple(
        replace(
            call, id=call_id_of(step.message_id, index), index=index, name=storable(call.name)[:64],
            arguments=storable(call.arguments[: MAX_ARGUMENTS + 1]),
        )
        for index, call in enumerate(answer.calls)
    )  # fmt: skip
    return replace(answer, text=storable(answer.text), thinking=storable(answer.thinking), calls=calls)
