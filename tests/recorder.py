"""Store the steps of a claimed run as a worker does, without a worker and a model."""

from collections.abc import Callable

from llm.messages import ToolCall
from llm.protocol import LLMError
from runs.kinds import get_kind
from runs.models import Run
from runs.runtime.messages import PartialMessage
from runs.runtime.steps import LoopEnded, ModelAnswered, StepSaved, ToolsFinished, ToolsStarted
from tools.interface import ToolOutput
from usage.owners import ResolvedModel


class Recorder:
    """Records the steps of one attempt of a run, with one model."""

    def __init__(self, run: Run, model: ResolvedModel) -> None:
        self._run, self._model, self._kind = run, model, get_kind(run)

    def record_tool_start(self, step: ToolsStarted) -> StepSaved:
        return self._kind.record_tool_start(self._run, step)

    def record_tool_results(self, step: ToolsFinished) -> StepSaved:
        return self._kind.record_tool_results(self._run, step)

    def record_answer(self, step: ModelAnswered) -> StepSaved:
        return self._kind.record_answer(self._run, self._model, step)

    def record_loop_end(
        self, end: LoopEnded, partial: PartialMessage | None = None, error: LLMError | None = None
    ) -> None:
        self._kind.record_loop_end(self._run, self._model, end, partial, error)

    def run_in_transaction(self, call: ToolCall, work: Callable[[], ToolOutput], seconds: float) -> ToolOutput:
        return self._kind.run_in_transaction(self._run, call, work, seconds)
