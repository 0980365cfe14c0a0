"""How a run ends otherwise than by its answer: what is kept of it, and the line that says so."""

from typing import Literal
from uuid import UUID, uuid5

from actors.models import Actor
from agents.models import Run, RunState, Step
from chats import services as chats
from chats.models import InChat, Message
from common.clock import now
from events.payloads import ToolCall, ToolResponse, checked_payload

TEXT = {
    RunState.STOPPED: "The work was stopped before this call came to an end.",
    RunState.FAILED: "The work broke off before this call came to an end.",
}


def ending(
    run: Run, state: Literal[RunState.STOPPED, RunState.FAILED], *, agent: Actor, by: Actor | None = None,
    code: str = "", text: str = "",
) -> list[InChat]:  # fmt: skip
    """The rows of an end, not yet written: results for calls that have none, the line in the log, the run itself.

    The caller holds the chat.
    """
    type_ = "RUN_STOPPED" if state == RunState.STOPPED else "RUN_FAILED"
    line = chats.system_line(
        run.room_id, type_, actor=by, target=agent, run_id=run.id, code=code or None, note=text[:600]
    )
    over(run, state, code=code, text=text)
    return [*_results_of_open_calls(run, state), line, run]


def over(run: Run, state: RunState, *, code: str = "", text: str = "") -> Run:
    """A run that is over, not yet written: nobody holds it any more."""
    return run.set(
        state=state, ended_at=now(), lease_owner="", lease_until=None, error_code=code[:40], error=text[:600]
    )


def open_calls(run: Run) -> list[ToolCall]:
    """The calls of this run that have no result in the log, in the order they were made."""
    rows = Message.objects.filter(run_id=run.id, type__in=["TOOL_CALL", "TOOL_RESPONSE"]).order_by("seq")
    payloads = [(type_, payload) for type_, payload in rows.values_list("type", "payload")]
    settled = {payload["tool_call_id"] for type_, payload in payloads if type_ == "TOOL_RESPONSE"}
    calls = [ToolCall.model_validate(payload) for type_, payload in payloads if type_ == "TOOL_CALL"]
    return [call for call in calls if call.call_id not in settled]


def result_row(run: Run, *, call_id: str, name: str, status: str, text: str, seconds: float | None = None) -> Message:
    """The line of a call's result, not yet written. Its id follows from the call's, so that it can be there only once."""
    payload = checked_payload(
        "TOOL_RESPONSE",
        ToolResponse.model_validate(
            {"tool_call_id": call_id, "name": name, "status": status, "text": text, "seconds": seconds}
        ).model_dump(),
    )
    return Message(
        id=uuid5(UUID(call_id.removeprefix("call_")), "result"), chat_id=run.room_id, author_id=run.agent_id,
        type="TOOL_RESPONSE", payload=payload, run_id=run.id, created_at=now(),
    )  # fmt: skip


def _results_of_open_calls(run: Run, state: RunState) -> list[Message]:
    status = "stopped" if state == RunState.STOPPED else "interrupted"
    done = dict(Step.objects.filter(run=run, kind="tool", state="done").values_list("call_id", "result"))
    return [
        result_row(
            run, call_id=call.call_id, name=call.name,
            **(done.get(call.call_id) or {"status": status, "text": TEXT[state]}),
        )
        for call in open_calls(run)
    ]  # fmt: skip
