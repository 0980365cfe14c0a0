"""Steps become rows and frames: one fenced transaction each (architecture §6, guarantees §2.3).

The chat is taken first, so that what is read here (news, open calls) and what is written are one moment of the room.
Whoever is not the owner any more finds its run's row changed: `LeaseLost`, and nothing is written (B3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from agents.errors import LeaseLost
from agents.llm.exchange import ToolCall
from agents.llm.protocol import LLMError
from agents.models import Run, RunState, Step
from agents.permissions import hold_chat_of
from agents.runtime.answer_rows import Means, Partial, answer_rows, partial_rows
from agents.runtime.history import news_for
from agents.runtime.ledger import keep_answer, keep_failure
from agents.runtime.steps import Answered, Ended, Outcome, Saved, Settled, Started, StepId
from agents.services.claims import take_in
from agents.services.endings import ending, over, result_row
from agents.services.leases import lease_end
from agents.services.places import IN_ROOM
from chats.models import InChat, Message
from chats.seams import message_posted
from common.clock import now
from common.compiled import Compiled
from common.ids import new_id
from common.writing import insert


def at_work(shape: Callable[[QuerySet[Run]], QuerySet[Run]]) -> Compiled[Run]:
    """Asks for a run by id, attempt and owner."""

    def build(id: UUID, attempt: int, owner: str) -> QuerySet[Run]:
        return shape(Run.objects.filter(pk=id, attempt=attempt, lease_owner=owner, state=RunState.RUNNING))

    return Compiled(build, UUID, int, str)


_ALONE = at_work(lambda runs: runs)
_LOCKED = at_work(lambda runs: runs.select_for_update(no_key=True))
_WITH_ALL = at_work(lambda runs: runs.select_related("agent", "chat__workspace", "stopped_by"))


@dataclass(frozen=True)
class Recorder:
    """Writes for one claim of a run: `run` as it was claimed, with its agent, person, spec, chat and workspace."""

    run: Run
    means: Means

    @transaction.atomic
    def started(self, step: Started) -> Saved:
        """These calls are about to be made: known before they are, so that a crash in between shows (B15)."""
        run = self._mine(_LOCKED)
        fields: dict[str, Any] = {"number": run.steps_done, "kind": "tool", "state": "started", "attempt": run.attempt}
        steps = [Step(run=run, index=call.index, call_id=call.id, name=call.name, **fields) for call in step.calls]
        Step.objects.bulk_create(
            steps, update_conflicts=True, unique_fields=["run", "number", "kind", "index"], update_fields=["attempt"]
        )
        return saved(run)

    @transaction.atomic
    def settled(self, step: Settled) -> Saved:
        """What came of calls; and what was said in the room meanwhile is taken in (S1.2)."""
        run = self._hold()
        assert run.chat is not None
        rows = [_result(run, outcome) for outcome in step.outcomes]
        news = [] if run.is_compared else news_for(run)
        run.set(read_to=run.chat.version)
        _change(run, [*rows, *take_in(run)])
        return replace(saved(run), news=news)

    @transaction.atomic
    def answered(self, step: Answered) -> Saved:
        """The model's answer: what it said, its calls, the ledger; without calls, the end of the run."""
        run, answer = self._hold(), step.answer
        keep_step(run, step, self.means)
        keep_answer(run, step.step.number, answer, self.means)
        rows, said = answer_rows(run, step, self.means)
        count(run, step)
        assert run.chat is not None
        woken = message_posted(run.chat, said) if said and not run.is_compared else []
        _change(run, [*rows, *woken, *([] if answer.calls else _last_word(run, said))])
        return saved(run)

    @transaction.atomic
    def ended(self, end: Ended, partial: Partial | None = None, error: LLMError | None = None) -> None:
        """The run rests, is stopped or fails: what was said so far is kept as incomplete, calls get a result (B11, B16)."""
        IN_ROOM.hold(self.run)
        run = self._mine(_WITH_ALL)
        rows: list[InChat] = list(partial_rows(run, partial, self.means)) if partial else []
        if error is not None:
            keep_failure(run, error, self.means)
        if end.how == "waiting_approval":
            run.set(state=RunState.WAITING_APPROVAL, lease_owner="", lease_until=None)
        elif end.how == "stopped":
            rows += ending(run, RunState.STOPPED, agent=run.agent, by=run.stopped_by)
        else:
            rows += ending(run, RunState.FAILED, agent=run.agent, code=end.code, text=end.text)
        _change(run, rows)

    def in_transaction(self, call: ToolCall, work: Callable[[], str], seconds: float) -> str:
        """Run a tool that touches our database, together with the record that it was done: both or neither."""
        with transaction.atomic():
            _end_after(seconds + 1)
            text = work()
            mine = Step.objects.filter(run=self.run, call_id=call.id, state="started", attempt=self.run.attempt)
            if not mine.update(state="done", result={"status": "ok", "text": text}, ended_at=now()):
                raise LeaseLost("Somebody else has settled this call.")
        return text

    def _hold(self) -> Run:
        """The run as it is now, its chat held. Raises `LeaseLost`, `CannotGoOn`."""
        chat = hold_chat_of(self.run)
        run = self._mine(_ALONE)
        run.agent, run.chat = self.run.agent, chat
        return run

    def _mine(self, question: Compiled[Run]) -> Run:
        run = question.first(self.run.pk, self.run.attempt, self.run.lease_owner)
        if run is None:
            raise LeaseLost(f"Run {self.run.pk} is not ours any more.")
        return run.only_if(attempt=self.run.attempt, lease_owner=self.run.lease_owner, state=RunState.RUNNING)


def _end_after(seconds: float) -> None:
    """PostgreSQL ends this transaction by itself when it hangs: a thread cannot be killed, but it holds no lock."""
    limit = f"{round(seconds * 1000)}ms"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, true), "
            "set_config('idle_in_transaction_session_timeout', %s, true)",
            [limit, limit],
        )


def _change(run: Run, rows: Sequence[InChat]) -> None:
    """Write the rows and the run; as long as it works, it keeps its lease with it."""
    if run.state == RunState.RUNNING:
        run.set(lease_until=lease_end())
    IN_ROOM.write(run, rows)


def count(run: Run, step: Answered) -> None:
    """One step more, and what it took; the next message gets its id."""
    usage = step.answer.usage
    run.set(
        steps_done=step.step.number, message_id=new_id(), input_tokens=run.input_tokens + usage.input_tokens,
        output_tokens=run.output_tokens + usage.output_tokens, cost_micro=run.cost_micro + (usage.cost_micro or 0),
    )  # fmt: skip


def saved(run: Run) -> Saved:
    """Where the run is now."""
    assert run.message_id is not None
    return Saved(StepId(run.steps_done + 1, run.message_id), stop=run.stop_requested_at is not None)


def _last_word(run: Run, said: Message | None) -> list[InChat]:
    """The end of a run. Without a word, nobody would see that there was one: that is a failure, and shown as such."""
    if said is None:
        return ending(run, RunState.FAILED, agent=run.agent, code="empty_answer", text="The model gave no answer.")
    over(run, RunState.COMPLETED)
    return []


def _result(run: Run, outcome: Outcome) -> Message:
    """A call's result. A tool that was given up, and yet came to its end, has the last word."""
    result = {"status": outcome.status, "text": outcome.text}
    steps = Step.objects.filter(run=run, call_id=outcome.call.id)
    if not steps.filter(state="started").update(state="done", result=result, ended_at=now()):
        result = steps.values_list("result", flat=True).first() or result
    return result_row(run, call_id=outcome.call.id, name=outcome.call.name, seconds=outcome.seconds, **result)


def keep_step(run: Run, step: Answered, means: Means) -> None:
    """That the model has answered, and how."""
    result = {"message_id": str(step.step.message_id), "finish": step.answer.finish}
    kept = Step(
        run=run, number=step.step.number, kind="llm", state="done", attempt=run.attempt, name=means.model[:64],
        result=result, ended_at=now(),
    )  # fmt: skip
    insert([kept])
