"""The checker of invariants finds each of the faults that it checks for."""

import pytest
from django.db import connection

from chats.models import Message
from runs.models import Run, Step
from tests import invariants

pytestmark = pytest.mark.django_db(transaction=True)

CALL = {"name": "current_time", "arguments": '{"timezone": "UTC"}'}
FAULTS = {
    "a running run has a lease that is extended": "UPDATE runs_run SET state = 'running', lease_until = now() - interval '1 h'",
    "an ended run has no lease and an end time": "UPDATE runs_run SET lease_owner = 'here:1:a'",
    "a run has no more crashes than attempts": "UPDATE runs_run SET crashes = 9",
    "a message has a unique number, which is not above the chat's version": "UPDATE chats_chat SET version = 1",
    "no row of a chat has a version above the chat's": "UPDATE runs_run SET version = 999",
    "the number of pinned messages of a chat is that of its rows": "UPDATE chats_chat SET pin_count = 1",
    "a message belongs to one step": "UPDATE runs_step SET result = '{\"message_id\": \"m\"}' WHERE kind = 'llm'",
    "every tool call of an ended run has one result": "DELETE FROM chats_message WHERE type = 'TOOL_RESPONSE'",
    "all steps of a completed run are done": "UPDATE runs_step SET state = 'started' WHERE kind = 'tool'",
    "no message of a completed run is incomplete": (
        "UPDATE chats_message SET payload = payload || '{\"incomplete\": true}' WHERE run_id IS NOT NULL"
    ),
    "the tokens of a run are those of its ledger entries": "UPDATE runs_run SET output_tokens = output_tokens + 1",
}


@pytest.fixture
def done(environment, engine):
    """A completed run with a call, which breaks no invariant."""
    environment.model.script(text="It is late.")
    environment.model.script(calls=[CALL], times=1)
    environment.post("What time is it?")
    environment.wait_until_idle()
    engine.stop()
    assert (
        Run.objects.get().state,
        Step.objects.count(),
        Message.objects.filter(run_id=Run.objects.get().pk).count(),
    ) == ("completed", 3, 3)
    invariants.check()


@pytest.mark.usefixtures("done")
@pytest.mark.parametrize("name", FAULTS)
def test_a_row_that_breaks_an_invariant_is_found(name):
    with connection.cursor() as cursor:
        cursor.execute(FAULTS[name])
    assert name in invariants.find_broken()


def test_every_invariant_without_a_database_constraint_is_tested():
    assert set(invariants.INVARIANTS) - set(FAULTS) == {"a concurrency key has at most one running run"}
