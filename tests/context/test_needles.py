"""Facts at random places of a long chat are in the context of the run that is asked for them: with `retrieve`, and not without."""

import time

import pytest

from chats.models import Chat
from context.seeding import build_facts, create_messages
from runs.kinds import get_kind
from runs.models import Run
from tests.chaos import IS_CHAOS, report
from tests.runs.test_takeover import claimed
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)

MESSAGES = 40_000 if IS_CHAOS else 2_000
FACTS = 50
NEEDED = 45


def ask(environment, question):
    """Return the text that the model reads when it is asked this, and what it was built from."""
    run = claimed(environment, text=question)
    prepared = get_kind(run).prepare(run)
    Run.objects.filter(pk=run.pk).update(state="completed")
    return "\n".join(turn.text for turn in prepared.transcript.turns), run.earlier.facts


def count_found(environment, facts):
    found = sum(fact.value in ask(environment, fact.question)[0] for fact in facts)
    report(f"{found} of {len(facts)} facts among {Chat.objects.get(pk=environment.team.chat.pk).version} messages")
    return found


@pytest.fixture
def long_chat(environment):
    facts = build_facts(FACTS)
    Workspace.objects.update(context_max_tokens=8_000, context_strategy="retrieve")
    create_messages(environment.team.chat.id, MESSAGES, facts=facts)
    return facts


def test_facts_of_a_long_chat_are_in_the_context_with_retrieve(environment, long_chat):
    started = time.perf_counter()
    assert count_found(environment, long_chat) >= NEEDED
    report(f"{(time.perf_counter() - started) / FACTS * 1000:.0f} ms for each question")


def test_they_are_not_there_when_older_messages_are_left_out(environment, long_chat):
    Workspace.objects.update(context_strategy="truncate")
    assert count_found(environment, long_chat[:10]) <= 2
