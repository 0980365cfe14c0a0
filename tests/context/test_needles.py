"""Facts at random places of a long chat are in what the model reads when it is asked for them: with `retrieve`, and not without.

Each is asked in the words of the fact, and in words of the other language, which only embeddings find. The scripted model sees
nothing but the conversation that a run sends it; what it was sent is searched for the fact.
"""

import time

import pytest

from chats.models import Chat
from context.seeding import build_facts, create_messages
from embeddings.models import MessageEmbedding
from tests.chaos import IS_CHAOS, report
from tests.embeddings.conftest import embed_chat, set_embedding_model
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)

MESSAGES = 40_000 if IS_CHAOS else 2_000
FACTS = 50 if IS_CHAOS else 20
NEEDED = FACTS * 9 // 10
SEED = 20_262
"""Not the seed with which the retrieval was developed."""


@pytest.fixture
def facts(environment, engine):
    facts = build_facts(FACTS, seed=SEED)
    Workspace.objects.update(context_max_tokens=8_000, context_strategy="retrieve")
    create_messages(environment.team.chat.id, MESSAGES, facts=facts, seed=SEED)
    environment.model.script(text="I cannot say.")
    return facts


def count_found(environment, facts, how, read_question):
    """Ask for each fact, and return how many of them the model was sent."""
    found, started = 0, time.perf_counter()
    for fact in facts:
        environment.post(read_question(fact))
        environment.wait_until_idle()
        sent = next(one.body for one in reversed(environment.model.requests) if "messages" in one.body)
        found += any(fact.value in str(message["content"]) for message in sent["messages"])
    seconds = (time.perf_counter() - started) / len(facts)
    size = Chat.objects.get(pk=environment.team.chat.pk).version
    report(f"{how}: {found} of {len(facts)} facts among {size:,} messages, {seconds * 1000:.0f} ms for each run")
    return found


def test_facts_are_in_the_context_with_retrieve(environment, facts):
    assert count_found(environment, facts, "the same words", lambda fact: fact.question) >= NEEDED


def test_facts_that_are_asked_for_in_other_words_are_there_with_embeddings_only(environment, facts):
    without = count_found(environment, facts, "other words, no embeddings", lambda fact: fact.in_other_words)
    set_embedding_model(environment)
    embed_chat(environment.team)
    assert MessageEmbedding.objects.count() >= MESSAGES
    assert count_found(environment, facts, "other words, embeddings", lambda fact: fact.in_other_words) >= NEEDED
    assert count_found(environment, facts, "the same words, embeddings", lambda fact: fact.question) >= NEEDED
    assert without <= FACTS // 5


def test_they_are_not_there_when_older_messages_are_left_out(environment, facts):
    Workspace.objects.update(context_strategy="truncate")
    assert count_found(environment, facts[:10], "truncate", lambda fact: fact.question) <= 2
