"""The sidebar's "at work": told when it changes, several agents together, and never left as it was."""

import asyncio
import json

import pytest

from common.db_executor import DatabaseExecutor
from runs.models import Run
from runs.services import claims
from runs.worker.agent_states import AgentStateReporter
from tests.realtime.recording import Recording

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def recording(workroom):
    with Recording(f"workspace:{workroom.team.workspace.id}") as recording:
        yield recording


def told(recording):
    """What was told so far: the names of the agents that work, and of those that do not any more."""
    frames = [json.loads(one["text"]) for one in recording.heard() if one.get("kind") == "agent_states"]
    return [(frame["working"], frame["idle"]) for frame in frames]


@pytest.mark.usefixtures("engine")
def test_a_workspace_hears_that_an_agent_works_and_that_it_does_not_any_more(workroom, recording):
    robin = str(workroom.team.robin.id)
    workroom.model.script(mode="drip", count=60, every=0.05)
    workroom.say("hello")
    heard: list[tuple[list[str], list[str]]] = []

    def has_ended():
        heard.extend(told(recording))
        return ([], [robin]) in heard

    workroom.wait(has_ended)
    assert heard == [([robin], []), ([], [robin])]


@pytest.fixture
def reporter(workroom):
    return AgentStateReporter(DatabaseExecutor(1, "test"))


def test_agents_are_told_together_and_again_only_when_another_process_has_changed_them(workroom, recording, reporter):
    workroom.add_agent("Scribe")
    workroom.say("@robin @scribe hello")
    runs = [run for waiting in workroom.runs() if (run := claims.claim_run(waiting.id, "there:1:a"))]
    agents = sorted(str(run.agent_id) for run in runs)
    reporter.note(runs)
    asyncio.run(reporter.report())
    [(working, idle)] = told(recording)
    assert (sorted(working), idle) == (agents, [])
    Run.objects.update(state="completed", lease_until=None)
    asyncio.run(reporter.report())
    [(working, idle)] = told(recording)
    assert (working, sorted(idle)) == ([], agents)
    for _ in range(2):
        asyncio.run(reporter.report())
    assert told(recording) == []
