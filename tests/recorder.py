"""Prepare a claimed run and store its steps as a worker does, without a worker and a model."""

from collections.abc import Callable

from llm.messages import ToolCall
from llm.protocol import LLMError
from runs.kinds import get_kind
from runs.kinds.base import PreparedRun
from runs.models import Run
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.messages import PartialMessage
from runs.runtime.steps import LoopEnded, ModelAnswered, StepSaved, ToolsFinished, ToolsStarted
from tools.interface import ToolOutput
from usage.owners import ResolvedModel


def prepare_run(run: ClaimedRun | Run) -> PreparedRun:
    """Prepare a claimed run. Of a mere row, nothing that its claim has read is known."""
    claimed = run if isinstance(run, ClaimedRun) else ClaimedRun(run)
    return get_kind(claimed.row).prepare(claimed)


class Recorder:
    """Records the steps of one attempt of a run, with one model."""

    def __init__(self, run: ClaimedRun | Run, model: ResolvedModel) -> None:
        self._claimed = run if isinstance(run, ClaimedRun) else ClaimedRun(run)
        self._model, self._kind = model, get_kind(self._claimed.row)

    def record_tool_start(self, step: ToolsStarted) -> StepSaved:
        return self._kind.record_tool_start(self._claimed, step)

    def record_tool_results(self, step: ToolsFinished) -> StepSaved:
        return self._kind.record_tool_results(self._claimed, step)

    def record_answer(self, step: ModelAnswered) -> StepSaved:
        return self._kind.record_answer(self._claimed, self._model, step)

    def record_loop_end(
        self, end: LoopEnded, partial: PartialMessage | None = None, error: LLMError | None = None
    ) -> None:
        self._kind.record_loop_end(self._claimed, self._model, end, partial, error)

    def run_in_transaction(self, call: ToolCall, work: Callable[[], ToolOutput], seconds: float) -> ToolOutput:
        return self._kind.run_in_transaction(self._claimed, call, work, seconds)
