"""Finding the older messages that match a request."""

import pytest

from context.retrieval import find_messages
from tests.embeddings.conftest import add_messages

pytestmark = pytest.mark.django_db
HOTELS = "Harbor Cedar Falcon Juniper Orchid Pelican Quartz Raven Sable Tundra Amber Vesper Willow Yarrow Zephyr Birch".split()


def test_a_question_asked_about_many_things_does_not_displace_its_answer(team):
    """Each question has more words of the request than the answer."""
    [answer, *_] = add_messages(
        team,
        "The deposit for the Lily suite is 4711 dollars.",
        *(f"Who knows how much the deposit for the {hotel} suite costs?" for hotel in HOTELS),
    )
    found = find_messages(team.chat.id, "Who knows how much the deposit for the Lily suite costs?", before_seq=1_000)
    assert answer.id in [one.id for one in found]
    assert len(found) == 10


def test_messages_with_the_same_words_are_all_found(team):
    rows = add_messages(team, *(f"The garage of {hotel} is open." for hotel in HOTELS[:9]))
    assert len(find_messages(team.chat.id, "garage", before_seq=1_000)) == len(rows)
