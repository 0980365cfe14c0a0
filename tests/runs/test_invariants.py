"""The checker of invariants finds each of the faults that it checks for."""

import pytest
from django.db import connection

from chats.models import Message
from runs.models import Run, Step
from tests import invariants

pytestmark = pytest.mark.django_db(transaction=True)

CALL = {"name": "current_time", "arguments": '{"timezone": "UTC"}'}
FAULTS = {
    "a run at work has a lease that is kept": "UPDATE runs_run SET state = 'running', lease_until = now() - interval '1 h'",
    "a run that is over belongs to nobody": "UPDATE runs_run SET lease_owner = 'here:1:a'",
    "a run has not crashed more often than it was begun": "UPDATE runs_run SET crashes = 9",
    "a message has its number alone, and the chat has counted it": "UPDATE chats_chat SET version = 1",
    "what changes in a chat is counted by it": "UPDATE runs_run SET version = 999",
    "an agent says one thing in a step": "UPDATE runs_step SET result = '{\"message_id\": \"m\"}' WHERE kind = 'llm'",
    "every call has one result": "DELETE FROM chats_message WHERE type = 'TOOL_RESPONSE'",
    "a run that was completed has done all its steps": "UPDATE runs_step SET state = 'started' WHERE kind = 'tool'",
    "nothing that was completed was cut": (
        "UPDATE chats_message SET payload = payload || '{\"incomplete\": true}' WHERE run_id IS NOT NULL"
    ),
    "a run costs what the ledger says": "UPDATE runs_run SET output_tokens = output_tokens + 1",
}


@pytest.fixture
def done(environment, engine):
    """A completed run with a call, which breaks no invariant."""
    environment.model.script(text="It is late.")
    environment.model.script(calls=[CALL], times=1)
    environment.post("What time is it?")
    environment.wait_until_idle()
    engine.stop()
    assert (Run.objects.get().state, Step.objects.count(), Message.objects.filter(run_id=Run.objects.get().pk).count()) == (
        "completed", 3, 3
    )  # fmt: skip
    invariants.check()


@pytest.mark.usefixtures("done")
@pytest.mark.parametrize("name", FAULTS)
def test_a_row_that_breaks_an_invariant_is_found(name):
    with connection.cursor() as cursor:
        cursor.execute(FAULTS[name])
    assert name in invariants.find_broken()


def test_every_invariant_without_a_database_constraint_is_tested():
    assert set(invariants.INVARIANTS) - set(FAULTS) == {"one run at a time works for a concurrency key"}
