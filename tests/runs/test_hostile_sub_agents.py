"""Sub-agents under attack: hostile tasks, rights that are lost, injected instructions, and times (D9, D15, B12, FAIR8)."""

import json

import pytest
from django.db import transaction

from tests.people import make_agent
from tests.runs.test_sub_agents import allow

pytestmark = pytest.mark.django_db(transaction=True)

WRITE = {"name": "write_file", "arguments": json.dumps({"name": "notes.md", "text": "As told."})}


@pytest.fixture
def researcher(environment):
    """An agent of the workspace that is in no chat, and that Robin may give tasks to."""
    with transaction.atomic():
        agent = make_agent(environment.team.workspace, environment.team.alice, "Researcher", prompt="You research.")
    allow(environment.team.robin, agent.handle)
    return agent


def nest(depth):
    return "[" * depth + "]" * depth


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "context",
    [
        f'{{"a": {nest(40)}}}',
        f'{{"a": {nest(100_000)}}}',
        '{"a": NaN}',
        '{"a": 1e999}',
        f'{{"a": 1{"0" * 5000}}}',
        f'{{"a": {json.dumps("x" * 100_000)}}}',
        '{"a": "\\ud800"}',
    ],
    ids=["nested", "very nested", "NaN", "infinite", "long number", "long", "lone surrogate"],
)
def test_B12_a_context_that_cannot_be_stored_is_refused_to_the_model(environment, researcher, context):
    arguments = f'{{"name": "{researcher.handle}", "task": "find it", "context": {context}}}'
    environment.model.script(calls=[{"name": "delegate", "arguments": arguments}], then={"text": "I could not ask."})
    environment.post("@robin go")
    [caller] = environment.wait_until_idle()
    assert (caller.state, caller.error) == ("completed", "")
    [row] = environment.log("TOOL_RESPONSE")
    assert row.payload["status"] == "error"
    assert environment.list_answers() == ["I could not ask."]
