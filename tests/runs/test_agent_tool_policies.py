"""The policy of a workspace for a public agent as a tool, in runs."""

import json

import pytest
from django.db import transaction

from agents.services.shipped import get_shipped_agent
from approvals.models import Approval
from common.errors import Invalid
from events.rows import Policy
from publishing import services as publishing
from runs.models import Run
from tests.factories.agents import add_tool_use
from tests.people import make_agent
from tests.publishing.publications import LISTING
from tools import services as tools
from tools.registry import build_agent_tool_name

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("receiving_engine")]

TASK = '{"task": "find it"}'
WRITE = {"name": "write_file", "arguments": json.dumps({"name": "notes.md", "text": "As told."})}


@pytest.fixture
def name(environment):
    """The name of a public agent of another workspace, which Robin has as a tool."""
    team = environment.team
    with transaction.atomic():
        source = make_agent(team.elsewhere, team.charlie, "Source", prompt="You are public.")
        public = publishing.publish_agent(team.charlie, source.id, name="Public", handle="public", **LISTING)
    name = build_agent_tool_name(public.id)
    add_tool_use(team.robin.current_spec, name)
    environment.delete_bob_from_chat()
    return name


def set_policy(environment, name, policy):
    tools.set_policy(environment.team.alice, environment.team.workspace.id, name, policy=policy)


def test_a_task_waits_for_a_click_before_it_starts_if_the_policy_is_ask(environment, name):
    set_policy(environment, name, Policy.ASK)
    call = {"name": name, "arguments": TASK}
    environment.model.script(calls=[call, call], then={"text": "Done."})
    environment.model.script(match="find it", text="Found.")
    environment.post("@robin go")
    first, second = environment.wait_until_waiting()
    assert {(one.tool, one.reason) for one in (first, second)} == {(name, "policy")}
    assert not Run.objects.filter(parent__isnull=False).exists()
    # Edited arguments are checked by the schema of the tool before anything is decided.
    with pytest.raises(Invalid):
        environment.decide(first, "approved", arguments='{"task": 7}')
    assert Approval.objects.filter(decision=None).count() == 2
    environment.decide(first, "approved")
    environment.decide(second, "refused")
    caller, child = environment.wait_until_idle()
    assert (caller.state, child.state, child.input["text"]) == ("completed", "completed", "find it")
    statuses = [row.payload["status"] for row in environment.log("TOOL_RESPONSE") if row.run_id == caller.id]
    assert sorted(statuses) == ["ok", "rejected"]


def test_a_tool_that_is_off_is_neither_offered_nor_called(environment, name):
    set_policy(environment, name, Policy.OFF)
    environment.model.script(calls=[{"name": name, "arguments": TASK}], then={"text": "I cannot."})
    environment.post("@robin go")
    [run] = environment.wait_until_idle()
    assert run.state == "completed"
    assert name not in json.dumps(environment.model.requests[0].body.get("tools", []))
    [result] = environment.log("TOOL_RESPONSE")
    assert (result.payload["status"], result.payload["text"][:17]) == ("error", "There is no tool ")


def test_delegate_asks_before_a_task_for_an_agent_whose_policy_is_ask_and_gives_none_to_one_that_is_off(environment):
    """Browser comes with the release, so `delegate` can call it as well as its own tool."""
    environment.delete_bob_from_chat()
    browser = build_agent_tool_name(get_shipped_agent("browser").pk)
    add_tool_use(environment.team.robin.current_spec, "delegate")
    call = {"name": "delegate", "arguments": '{"name": "browser", "task": "find it"}'}
    set_policy(environment, browser, Policy.ASK)
    environment.model.script(calls=[call], then={"text": "Done."})
    environment.post("@robin go")
    [approval] = environment.wait_until_waiting()
    assert (approval.tool, approval.reason) == ("delegate", "policy")
    assert not Run.objects.filter(parent__isnull=False).exists()
    environment.decide(approval, "refused")
    environment.wait_until_idle()
    set_policy(environment, browser, Policy.OFF)
    environment.model.script(calls=[call], then={"text": "I cannot."})
    environment.post("@robin again")
    environment.wait_until_idle()
    statuses = [row.payload["status"] for row in environment.log("TOOL_RESPONSE")]
    assert statuses == ["rejected", "error"]
    assert not Run.objects.filter(parent__isnull=False).exists()


def test_FAIR8_auto_skips_no_question_that_the_texts_of_others_need(environment, name):
    """`auto` starts the task at once. What its caller writes afterwards still waits for a click."""
    add_tool_use(environment.team.robin.current_spec, "write_file")
    set_policy(environment, name, Policy.AUTO)
    environment.model.script(match="@robin go", calls=[{"name": name, "arguments": TASK}], then={"calls": [WRITE]})
    environment.model.script(match="find it", text="Found.")
    environment.post("@robin go")
    [approval] = environment.wait_until_waiting()
    caller, child = environment.runs()
    assert (caller.state, child.state) == ("waiting_approval", "completed")
    assert (approval.run_id, approval.tool, approval.reason) == (caller.id, "write_file", "outside")
