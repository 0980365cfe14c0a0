"""Browser, the sub-agent that comes with the release: it reads pages for other agents."""

import json

import pytest
from django.db import transaction

from actors.models import Actor
from runs.models import Run
from tests.factories.agents import add_tool_use
from tests.people import make_agent
from workspaces.models import Credential

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("receiving_engine")]


def delegate(name, task="find it"):
    return {"name": "delegate", "arguments": json.dumps({"name": name, "task": task})}


def test_browser_does_a_task_of_an_agent_that_names_no_sub_agents(environment):
    add_tool_use(environment.team.robin.current_spec, "delegate")
    clock = {"name": "current_time", "arguments": '{"timezone": "UTC"}'}
    environment.model.script(calls=[delegate("browser")], then={"text": "It is late, says Browser."})
    environment.model.script(system="You are Browser.", calls=[clock], then={"text": "It is late."})
    environment.post("@robin what is it?")
    caller, child = environment.wait_until_idle()
    assert (caller.state, child.state, child.agent.handle) == ("completed", "completed", "browser")
    assert (child.agent.is_shipped, child.payer) == (True, environment.team.workspace)
    assert child.limits["max_steps"] == 10
    assert environment.list_answers() == ["It is late, says Browser."]
    result = json.loads(environment.log("TOOL_RESPONSE")[-1].payload["text"])
    assert (result["ok"], result["summary"]) == (True, "It is late.")
    [described] = [
        tool for tool in environment.model.requests[0].body["tools"] if tool["function"]["name"] == "delegate"
    ]
    assert "browser: Browser. Finds and reads web pages" in described["function"]["description"]


def test_an_agent_that_stops_accepting_tasks_fails_those_that_it_has_not_begun(environment):
    team = environment.team
    with transaction.atomic():
        researcher = make_agent(team.workspace, team.alice, "Researcher", prompt="You research.")
    add_tool_use(team.robin.current_spec, "delegate", custom_config={"allowed_sub_agents": [researcher.handle]})
    environment.model.script(system="You research.", text="Never.")
    # Robin has its tools already while its model is slow to answer.
    environment.model.script(first=1.0, calls=[delegate(researcher.handle)], then={"text": "Nobody did it."})
    environment.post("@robin go")
    environment.wait(lambda: len(environment.model.requests) == 1)
    Actor.objects.filter(pk=researcher.pk).update(accepts_tasks=False)
    caller, child = environment.wait_until_idle()
    assert (child.state, child.error_code, child.attempt) == ("failed", "no_tasks", 0)
    assert child.error == "This agent does not accept tasks of other agents any more."
    assert caller.state == "completed"
    [result] = [json.loads(row.payload["text"]) for row in environment.log("TOOL_RESPONSE")]
    assert (result["ok"], result["error"]) == (False, child.error)
    assert environment.list_answers() == ["Nobody did it."]
    assert Run.objects.count() == 2


def test_without_a_key_the_demo_model_plays_both_agents(environment):
    Credential.objects.all().delete()
    add_tool_use(environment.team.robin.current_spec, "delegate")
    environment.post("@robin ask Browser to find the tides.")
    caller, child = environment.wait_until_idle(20)
    assert [(run.state, run.agent.handle) for run in (caller, child)] == [
        ("completed", "robin"),
        ("completed", "browser"),
    ]
    [answer] = environment.list_answers()
    assert answer.startswith("browser did the task, and says: I am the demo model, and I play Browser. I have read:")
