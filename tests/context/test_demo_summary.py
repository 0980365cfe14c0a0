"""A workspace without a key has a working summary: the demo model writes it, and the next run reads it."""

import pytest

from chats.models import Message
from context import services as context
from context.selectors import build_summary_row
from tests.embeddings.conftest import add_messages
from workspaces.models import Credential

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_demo_model_writes_a_summary_that_cites_messages(environment, engine):
    team = environment.team
    Credential.objects.all().delete()
    texts = [f"note {number} " + "lorem ipsum " * 10 for number in range(24)]
    texts[7] = "We decided that the deposit is 28,000."
    rows = add_messages(team, *texts)
    summary = context.start_due_summary(team.chat.id, team.alice.id, budget=1_000)
    assert summary is not None
    assert summary.job_id is not None
    engine.submit([summary.job_id])
    environment.wait(lambda: build_summary_row(team.chat).state != "writing", 20)
    row = build_summary_row(team.chat)
    assert (row.state, row.error_code) == ("ready", None)
    assert row.sentences
    numbers = dict(Message.objects.filter(pk__in=[one.pk for one in rows]).values_list("seq", "pk"))
    for sentence in row.sentences:
        for source in sentence.sources:
            assert numbers[source.seq] == source.message_id
    assert row.model == "demo"
