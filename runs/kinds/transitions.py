"""Set what a run becomes, and build the rows of its end. Nothing here is written yet."""

from datetime import timedelta
from functools import lru_cache
from typing import Any, Literal
from uuid import UUID, uuid5

from django.conf import settings
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from actors.models import Actor
from chats import services as chats
from chats.models import Message
from common.clock import now
from common.ids import new_id
from common.writing import RowUpdate
from events.payloads import SystemMessageType, ToolCallPayload, ToolResponsePayload, WebPageData, dump_payload
from runs.errors import LeaseLost
from runs.models import Run, RunState, Step

TEXT = {
    RunState.STOPPED: "The work was stopped before this call came to an end.",
    RunState.FAILED: "The work broke off before this call came to an end.",
}


def get_lease_end() -> Combinable:
    """Return the end of a lease that begins now, by PostgreSQL's clock."""
    return _in_seconds(settings.RUN_LEASE)


@lru_cache(maxsize=8)
def _in_seconds(seconds: float) -> Combinable:
    return Now() + timedelta(seconds=seconds)


def build_run_update(run: Run, **only_if: Any) -> RowUpdate[Run]:
    """Return an empty update of a run. Writing it raises `LeaseLost` unless the stored run matches `only_if` (RUN3)."""
    return RowUpdate(run, only_if=only_if, error=LeaseLost)


def start_attempt(update: RowUpdate[Run], owner: str) -> RowUpdate[Run]:
    """Set the run to a new attempt of this process. Its start and its message's id are those of the first attempt."""
    run = update.row
    return update.set(
        state=RunState.RUNNING,
        attempt=run.attempt + 1,
        lease_owner=owner,
        lease_until=get_lease_end(),
        started_at=run.started_at or now(),
        message_id=run.message_id or new_id(),
    )


def build_closing_changes(
    update: RowUpdate[Run], state: Literal[RunState.STOPPED, RunState.FAILED], *, agent: Actor, by: Actor | None = None,
    code: str = "", text: str = "",
) -> list[chats.RowChange]:  # fmt: skip
    """Build the changes of a run's end without an answer: results of open calls, the system message, the run itself."""
    run = update.row
    type_: SystemMessageType = "RUN_STOPPED" if state == RunState.STOPPED else "RUN_FAILED"
    line = chats.system_line(
        run.get_chat_id(), type_, actor=by, target=agent, run_id=run.id, code=code or None, note=text[:600]
    )
    finish_run(update, state, code=code, text=text)
    return [*_results_of_open_calls(run, state), line, update]


def finish_run(update: RowUpdate[Run], state: RunState, *, code: str = "", text: str = "") -> RowUpdate[Run]:
    """Set the run to a final state, without a lease."""
    return update.set(
        state=state, ended_at=now(), lease_owner="", lease_until=None, error_code=code[:40], error=text[:600]
    )


def list_open_calls(run: Run) -> list[ToolCallPayload]:
    """The calls of this run that have no result in the log, in the order they were made."""
    rows = Message.objects.filter(run_id=run.id, type__in=["TOOL_CALL", "TOOL_RESPONSE"]).order_by("seq")
    payloads = [(type_, payload) for type_, payload in rows.values_list("type", "payload")]
    settled = {payload["tool_call_id"] for type_, payload in payloads if type_ == "TOOL_RESPONSE"}
    calls = [ToolCallPayload.model_validate(payload) for type_, payload in payloads if type_ == "TOOL_CALL"]
    return [call for call in calls if call.call_id not in settled]


def build_result_row(
    run: Run, *, call_id: str, name: str, status: str, text: str, seconds: float | None = None,
    data: WebPageData | None = None,
) -> Message:  # fmt: skip
    """The line of a call's result, not yet written. Its id follows from the call's, so that it can be there only once."""
    response = ToolResponsePayload.model_validate(
        {"tool_call_id": call_id, "name": name, "status": status, "text": text, "seconds": seconds, "data": data}
    )
    return Message(
        id=uuid5(UUID(call_id.removeprefix("call_")), "result"), chat_id=run.get_chat_id(), author_id=run.agent_id,
        type="TOOL_RESPONSE", payload=dump_payload("TOOL_RESPONSE", response), run_id=run.id, created_at=now(),
    )  # fmt: skip


def _results_of_open_calls(run: Run, state: RunState) -> list[Message]:
    status = "stopped" if state == RunState.STOPPED else "interrupted"
    done = dict(Step.objects.filter(run=run, kind="tool", state="done").values_list("call_id", "result"))
    return [
        build_result_row(
            run, call_id=call.call_id, name=call.name,
            **(done.get(call.call_id) or {"status": status, "text": TEXT[state]}),
        )
        for call in list_open_calls(run)
    ]  # fmt: skip
