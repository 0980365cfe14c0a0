"""A kind of wait that an app registers: a call of its tool has a result once something has happened."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from django.db import transaction

from chats import services as chats
from common.clock import now
from common.writing import RowUpdate
from llm.messages import ToolCall
from runs.models import Run
from runs.runtime import waits
from runs.runtime.dispatch import dispatch_run
from runs.runtime.steps import ToolResult, WaitingCall
from runs.runtime.waits import WaitKind, register_wait_kind
from tests.people import make_agent
from tools.interface import Tool, ToolArgs, ToolConfig, Wait
from tools.registry import registry

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class LampWait(Wait):
    kind = "lamp"


class WatchLamp(Tool):
    """Wait until the lamp is on."""

    name = "watch_lamp"
    effect = "read"
    wait_kind = LampWait.kind
    Args = ToolArgs

    def build_wait(self, args: ToolArgs, config: ToolConfig) -> Wait:
        return LampWait()


class LampWaits(WaitKind[LampWait]):
    """Waits for a lamp. `started` has the ids of what was waited for."""

    name = LampWait.kind

    def __init__(self) -> None:
        self.started: list[object] = []
        self.is_on = False

    def find_refusal(self, run: Run, wait: LampWait, others: Sequence[LampWait]) -> str:
        return "There is only one lamp." if others else ""

    def start(self, update: RowUpdate[Run], calls: Sequence[WaitingCall]) -> list[chats.RowChange]:
        self.started += [waiting.wait.id for waiting in calls]
        update.set(state="waiting_child", lease_owner="", lease_until=None)
        return []

    def find_results(self, run: Run, calls: Sequence[ToolCall]) -> dict[str, ToolResult]:
        watching = [call for call in calls if call.name == WatchLamp.name and self.is_on]
        return {call.id: ToolResult(call, "ok", "The lamp is on.") for call in watching}

    def switch_on(self) -> None:
        self.is_on = True
        with transaction.atomic():
            run = Run.objects.get(state="waiting_child")
            chats.lock_chat(run.get_chat_id())
            dispatch_run(run)
            chats.save_changes(run.get_chat_id(), [RowUpdate(run).set(state="queued", dispatched_at=now())])


@pytest.fixture
def lamp(monkeypatch):
    monkeypatch.setitem(registry, WatchLamp.name, WatchLamp())
    monkeypatch.setattr(waits, "_kinds", dict(waits._kinds))
    lamp = LampWaits()
    register_wait_kind(lamp)
    with pytest.raises(ValueError, match="two kinds"):
        register_wait_kind(LampWaits())
    return lamp


@pytest.mark.usefixtures("receiving_engine")
def test_a_run_waits_for_what_an_app_has_registered(environment, lamp):
    """A call that waits for something of another kind is handled when the run goes on."""
    team = environment.team
    with transaction.atomic():
        watcher = make_agent(team.workspace, team.alice, "Watcher", tools=["watch_lamp", "delegate"])
        chats.add_participant(team.alice, team.chat.id, watcher.id)
    watch = {"name": "watch_lamp", "arguments": "{}"}
    task = {"name": "delegate", "arguments": json.dumps({"name": "browser", "task": "Look."})}
    environment.model.script(match="Look.", text="I see it.")
    environment.model.script(match="tell me", calls=[watch, watch, task], then={"text": "It is on."})
    environment.post("@watcher tell me")
    environment.wait(lambda: Run.objects.filter(state="waiting_child").exists())
    [run] = environment.runs()
    assert (len(lamp.started), run.lease_owner) == (1, "")
    [refused] = environment.log("TOOL_RESPONSE")
    assert (refused.payload["status"], refused.payload["text"]) == ("error", "There is only one lamp.")

    lamp.switch_on()
    run, child = environment.wait_until_idle()
    assert [(one.kind, one.state) for one in (run, child)] == [("chat", "completed"), ("sub_agent", "completed")]
    results = [row.payload["text"] for row in environment.log("TOOL_RESPONSE") if row.run_id == run.id]
    assert results[1] == "The lamp is on."
    assert json.loads(results[2])["summary"] == "I see it."
    assert (len(lamp.started), environment.list_answers(by=watcher)) == (1, ["It is on."])
