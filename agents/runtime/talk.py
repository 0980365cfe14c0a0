"""The conversation of one run as it grows: what was said, which calls are open, and when enough is enough."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid5

from agents.llm.exchange import Answer, ToolCall, Turn
from agents.runtime.steps import Ended, Outcome, Saved, StepId
from common.text import storable

MAX_ARGUMENTS = 250_000
"""Characters; longer arguments are cut for storing, and refused (B12)."""
MAX_FAULTS = 3
"""Answers in a row whose calls were all malformed, or tools that broke, after which the run fails."""

LIMITS = {
    "step_limit": "It reached the limit of {max_steps} steps.",
    "malformed_calls": "The model called tools in a way that cannot be understood, three times in a row.",
    "tools_broken": "Tools failed inside three times.",
}


@dataclass
class Talk:
    """`turns` end with the open calls' assistant turn, if there are open calls; `later` is what was said after it."""

    turns: list[Turn]
    step: StepId
    open: list[ToolCall] = field(default_factory=list)
    later: list[Turn] = field(default_factory=list)
    stop: bool = False
    cut: bool = False
    bad_answers: int = 0
    broken_tools: int = 0
    _faults: list[str] = field(default_factory=list)

    def say(self, answer: Answer, saved: Saved) -> None:
        """The model's answer is part of the conversation."""
        self.turns.append(Turn("assistant", answer.text, calls=answer.calls))
        self.open = list(answer.calls)
        self.cut = answer.finish == "length"
        self._go_on(saved)

    def settle(self, outcomes: Sequence[Outcome], saved: Saved) -> None:
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
        self._go_on(saved)

    def end(self, max_steps: int) -> Ended | None:
        """Why the model is not to be asked now; nothing when it is."""
        if self.stop:
            return Ended("stopped")
        if self.open:
            return Ended("waiting_approval")
        limit = self._limit(max_steps)
        return Ended("failed", limit, LIMITS[limit].format(max_steps=max_steps)) if limit else None

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

    def _go_on(self, saved: Saved) -> None:
        self.step = saved.step
        self.stop = self.stop or saved.stop


def call_id_of(message_id: UUID, index: int) -> str:
    """Our id of a call: the same whenever the step is made again, unlike the provider's."""
    return f"call_{uuid5(message_id, f'call:{index}').hex}"


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
