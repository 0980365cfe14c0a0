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


def test_a_text_that_was_written_again_has_the_rank_of_its_best_copy(team):
    """Each other text has fewer words of the request than the first, and each copy of it counts less than the one before."""
    text = "The deposit for the suite is 4711 dollars."
    rows = add_messages(team, *[text] * 12, *(f"The garage of {hotel} takes dollars." for hotel in HOTELS[:3]))
    found = find_messages(team.chat.id, "deposit suite dollars", before_seq=1_000)
    assert [one.text for one in found][0] == text
    assert (found[0].id, len(found)) == (rows[11].id, 4)
