"""The frames with the agents that have started or stopped working."""

import asyncio
import json

import pytest

from common.db_executor import DatabaseExecutor
from runs.models import Run
from runs.services import claims
from tests.realtime.recording import Recording
from worker.agent_states import AgentStateReporter

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def recorded_frames(environment):
    with Recording(f"workspace:{environment.team.workspace.id}") as recorded_frames:
        yield recorded_frames


def list_states(recorded_frames):
    """Return the published names: of agents that work, and of agents that have stopped."""
    frames = [json.loads(one["text"]) for one in recorded_frames.get_received() if one.get("kind") == "agent_states"]
    return [(frame["working"], frame["idle"]) for frame in frames]


@pytest.mark.usefixtures("engine")
def test_a_workspace_is_notified_when_an_agent_starts_and_stops_working(environment, recorded_frames):
    robin = str(environment.team.robin.id)
    environment.model.script(mode="drip", count=60, every=0.05)
    environment.post("hello")
    received: list[tuple[list[str], list[str]]] = []

    def has_ended():
        received.extend(list_states(recorded_frames))
        return ([], [robin]) in received

    environment.wait(has_ended)
    assert received == [([robin], []), ([], [robin])]


@pytest.fixture
def reporter(environment):
    return AgentStateReporter(DatabaseExecutor(1, "test"))


def test_states_are_published_in_one_frame_and_again_only_when_another_process_has_changed_them(
    environment, recorded_frames, reporter
):
    environment.add_agent("Scribe")
    environment.post("@robin @scribe hello")
    runs = [run.row for waiting in environment.runs() if (run := claims.claim_run(waiting.id, "there:1:a"))]
    agents = sorted(str(run.agent_id) for run in runs)
    reporter.add_runs(runs)
    asyncio.run(reporter.report_changes())
    [(working, idle)] = list_states(recorded_frames)
    assert (sorted(working), idle) == (agents, [])
    Run.objects.update(state="completed", lease_until=None)
    asyncio.run(reporter.report_changes())
    [(working, idle)] = list_states(recorded_frames)
    assert (working, sorted(idle)) == ([], agents)
    for _ in range(2):
        asyncio.run(reporter.report_changes())
    assert list_states(recorded_frames) == []
