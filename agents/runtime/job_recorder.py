"""The steps of a job, stored: no log and no frames, the same fence and the same ledger as in a chat."""

from dataclasses import dataclass

from django.db import transaction

from agents.llm.protocol import LLMError
from agents.models import Run, RunState
from agents.runtime.answer_rows import Partial, stamp_of
from agents.runtime.ledger import keep_answer, keep_failure
from agents.runtime.recorder import Recorder, at_work, count, keep_step, saved
from agents.runtime.steps import Answered, Ended, Saved, Settled
from agents.services.jobs import check_person
from agents.services.leases import lease_end
from agents.services.places import AS_JOB

_WITH_ALL = at_work(lambda runs: runs.select_related("agent", "on_behalf_of", "stopped_by"))


@dataclass(frozen=True)
class JobRecorder(Recorder):
    """Writes for one claim of a job. Its end is told before its row is touched: listeners take chats, and a run comes after
    those in the order of locks."""

    @transaction.atomic
    def settled(self, step: Settled) -> Saved:
        """It has no tools: what it called all the same was refused, and is remembered nowhere."""
        run = self._mine(_WITH_ALL)
        self._keep(run)
        return saved(run)

    @transaction.atomic
    def answered(self, step: Answered) -> Saved:
        """The answer, and with it the end. Raises `CannotGoOn` when the person lost their place meanwhile."""
        run, answer = self._mine(_WITH_ALL), step.answer
        check_person(run)
        keep_step(run, step, self.means)
        keep_answer(run, step.step.number, answer, self.means)
        count(run, step)
        run.set(stamp=stamp_of(run, self.means, answer.usage).model_dump(mode="json"))
        if answer.calls:
            self._keep(run)
        elif answer.text.strip():
            AS_JOB.complete(run, answer.text)
        else:
            AS_JOB.end(run, RunState.FAILED, code="empty_answer", text="The model gave no answer.")
        return saved(run)

    @transaction.atomic
    def ended(self, end: Ended, partial: Partial | None = None, error: LLMError | None = None) -> None:
        """It is stopped or fails; half an answer is none."""
        run = self._mine(_WITH_ALL)
        if error is not None:
            keep_failure(run, error, self.means)
        if end.how == "stopped":
            AS_JOB.end(run, RunState.STOPPED, by=run.stopped_by)
        else:
            AS_JOB.end(run, RunState.FAILED, code=end.code, text=end.text)

    def _keep(self, run: Run) -> None:
        AS_JOB.write(run.set(lease_until=lease_end()))
