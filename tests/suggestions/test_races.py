"""Two people decide at once, on connections of their own: one of them does, and nothing is there twice (EDIT5)."""

import threading

import pytest
from django.db import connection, transaction

from agents.models import AgentSpec, Draft
from agents.services import drafts
from common.errors import AppError, Code
from common.ids import new_id
from suggestions import services as suggestions
from suggestions.models import Merge, Suggestion
from tests.concurrency import ConcurrentTransaction
from tests.people import make_team
from tests.suggestions.environment import BRIEFER, KINDER, LOUDER, SuggestionEnvironment, both, fresh

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def board(transactional_db):
    with transaction.atomic():
        return SuggestionEnvironment(make_team())


def at_once(count, work):
    """What each of `count` threads came to: its answer, or the code it was refused with."""
    gate, found = threading.Barrier(count), []

    def one(number):
        gate.wait(10)
        try:
            found.append(work(number))
        except AppError as error:
            found.append(error.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return found


def accept(board, made, id=None):
    return suggestions.accept_suggestion(board["alice"], made.id, id=id or new_id(), chat_id=board.chat.id)


def test_EDIT5_twenty_who_accept_at_once_accept_once(board):
    made = board.suggest()
    found = at_once(20, lambda number: accept(board, made).id)
    [merge] = Merge.objects.all()
    assert [one for one in found if one == merge.id] == [merge.id]
    assert found.count(Code.SUGGESTION_CLOSED) == 19
    assert (fresh(made).state, Draft.objects.count(), board.lines().count("DRAFT_MERGED")) == ("accepted", 1, 1)


def test_EDIT5_a_click_that_is_sent_five_times_is_one_merge(board):
    made, id = board.suggest(), new_id()
    assert at_once(5, lambda number: accept(board, made, id).id) == [id] * 5
    assert (Merge.objects.count(), board.lines().count("SUGGESTION_ACCEPTED")) == (1, 1)


def test_EDIT2_the_same_late_words_sent_five_times_are_one_suggestion(board):
    asked = {**board.where("bob"), "id": new_id(), "content": board.content(KINDER), "base_version": 1}
    assert at_once(5, lambda number: suggestions.suggest_text(**asked).id) == [asked["id"]] * 5
    assert (Suggestion.objects.count(), board.lines().count("SUGGESTION_CREATED")) == (1, 1)


def test_rejecting_and_withdrawing_at_once_is_one_of_them(board):
    made = board.suggest()
    deeds = [
        lambda: suggestions.reject_suggestion(board["alice"], made.id),
        lambda: suggestions.withdraw_suggestion(board["bob"], made.id),
    ]
    found = at_once(2, lambda number: deeds[number]().state)
    assert Code.SUGGESTION_CLOSED in found
    assert fresh(made).state in found
    assert len([line for line in board.lines() if line in ("SUGGESTION_REJECTED", "SUGGESTION_WITHDRAWN")]) == 1


def test_a_merge_waits_for_a_rejection_under_way_and_is_refused_then(board):
    made, other = board.suggest(), board.suggest(KINDER, "carol")
    with transaction.atomic():
        suggestions.reject_suggestion(board["alice"], made.id)
        merging = ConcurrentTransaction(lambda: board.merge(made, other))
    with pytest.raises(AppError) as refusal:
        merging.result()
    assert refusal.value.code == Code.SUGGESTION_CLOSED
    assert (Merge.objects.count(), fresh(other).merge) == (0, None)


def test_a_merge_against_a_save_loses_no_text(board):
    """Alice saves the draft that she holds while her merge is placed into the same room: either order, both are kept."""
    first, second = board.suggest(KINDER), board.suggest(BRIEFER, "carol")
    merge = board.merge(first, second)
    draft = board.draft(LOUDER, "alice")

    def save():
        return drafts.save_draft(**board.where(), revision=draft.revision, base_version=1).prompt

    def place():
        board.answer(merge, both())
        return "placed"

    found = at_once(2, lambda number: (save, place)[number]())
    assert "placed" in found
    assert (fresh(merge).state, fresh(first).state, fresh(second).state) == ("done", "accepted", "accepted")
    assert board.live().written["prompt"].startswith("Be very kind.")
    saved = AgentSpec.objects.filter(agent=board.scribe, prompt=LOUDER).exists()
    kept = fresh(draft).snapshots.filter(written__prompt=LOUDER).exists()
    assert (saved, kept) in ((True, False), (False, True))
    assert (LOUDER in found) == saved


def test_a_merge_that_ends_while_it_is_stopped_is_one_or_the_other(board):
    first, second = board.suggest(KINDER), board.suggest(BRIEFER, "carol")
    merge = board.merge(first, second)
    found = at_once(
        2, lambda number: (lambda: board.answer(merge, both()).state,
                           lambda: suggestions.stop_merge(board["alice"], merge.id).state)[number]()
    )  # fmt: skip
    state = fresh(merge).state
    assert state in ("done", "stopped")
    assert {fresh(one).state for one in (first, second)} == {"accepted" if state == "done" else "pending"}
    assert (board.live() is not None) == (state == "done")
    assert state in found


def test_chats_are_taken_in_one_order_so_that_two_merges_over_both_never_deadlock(board):
    with transaction.atomic():
        rooms = [board.room(f"Room {number}", board["bob"]) for number in range(2)]
    made = [[board.suggest(text, chat=room) for text in (KINDER, LOUDER)] for room in rooms]
    merges = [board.merge(made[0][number], made[1][number], chat=rooms[number]) for number in range(2)]
    answers = {"segments": [{"text": "Be loud and kind.", "from": ["s1", "s2"]}]}
    at_once(2, lambda number: board.answer(merges[number], answers))
    assert sorted(fresh(merge).state for merge in merges) == ["done", "failed"]  # Alice holds one draft at a time
    assert Draft.objects.filter(ended_at=None).count() == 1
