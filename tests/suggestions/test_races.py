"""Concurrent decisions on separate connections: one of them succeeds, and nothing is created twice (EDIT5)."""

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
from tests.jobs import claim_job
from tests.people import make_team
from tests.suggestions.environment import BRIEFER, KINDER, LOUDER, SuggestionEnvironment, build_answer, reload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def environment(transactional_db):
    with transaction.atomic():
        return SuggestionEnvironment(make_team())


def run_concurrently(count, call):
    """Run the call in `count` threads at the same time, and return the result or the error code of each."""
    barrier, results = threading.Barrier(count), []

    def run_one(number):
        barrier.wait(60)
        try:
            results.append(call(number))
        except AppError as error:
            results.append(error.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=run_one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def accept(environment, suggestion, id=None):
    return suggestions.accept_suggestion(
        environment["alice"], suggestion.id, id=id or new_id(), chat_id=environment.chat.id
    )[0]


def test_EDIT5_twenty_concurrent_accepts_accept_once(environment):
    suggestion = environment.suggest()
    results = run_concurrently(20, lambda number: accept(environment, suggestion).id)
    [merge] = Merge.objects.all()
    assert [one for one in results if one == merge.id] == [merge.id]
    assert results.count(Code.SUGGESTION_CLOSED) == 19
    assert (
        reload(suggestion).state,
        Draft.objects.count(),
        environment.list_system_messages().count("DRAFT_MERGED"),
    ) == ("accepted", 1, 1)


def test_EDIT5_five_equal_concurrent_requests_are_one_merge(environment):
    suggestion, id = environment.suggest(), new_id()
    assert run_concurrently(5, lambda number: accept(environment, suggestion, id).id) == [id] * 5
    assert (Merge.objects.count(), environment.list_system_messages().count("SUGGESTION_ACCEPTED")) == (1, 1)


def test_EDIT2_five_equal_concurrent_requests_are_one_suggestion(environment):
    arguments = {
        **environment.draft_args("bob"),
        "id": new_id(),
        "content": environment.build_content(KINDER),
        "base_version": 1,
    }
    assert run_concurrently(5, lambda number: suggestions.suggest_spec(**arguments)[0].id) == [arguments["id"]] * 5
    assert (Suggestion.objects.count(), environment.list_system_messages().count("SUGGESTION_CREATED")) == (1, 1)


def test_of_a_concurrent_rejection_and_withdrawal_one_succeeds(environment):
    suggestion = environment.suggest()
    calls = [
        lambda: suggestions.reject_suggestion(environment["alice"], suggestion.id),
        lambda: suggestions.withdraw_suggestion(environment["bob"], suggestion.id),
    ]
    results = run_concurrently(2, lambda number: calls[number]().state)
    assert Code.SUGGESTION_CLOSED in results
    assert reload(suggestion).state in results
    assert (
        len(
            [
                line
                for line in environment.list_system_messages()
                if line in ("SUGGESTION_REJECTED", "SUGGESTION_WITHDRAWN")
            ]
        )
        == 1
    )


def test_a_merge_waits_for_a_concurrent_rejection_and_is_then_refused(environment):
    suggestion, other = environment.suggest(), environment.suggest(KINDER, "carol")
    with transaction.atomic():
        suggestions.reject_suggestion(environment["alice"], suggestion.id)
        merging = ConcurrentTransaction(lambda: environment.merge(suggestion, other))
    with pytest.raises(AppError) as refusal:
        merging.result()
    assert refusal.value.code == Code.SUGGESTION_CLOSED
    assert (Merge.objects.count(), reload(other).merge) == (0, None)


def test_a_merge_and_a_concurrent_save_lose_no_text(environment):
    """Alice saves her locked draft while her merge creates its draft in the same chat. In either order, both texts are kept."""
    first, second = environment.suggest(KINDER), environment.suggest(BRIEFER, "carol")
    merge = environment.merge(first, second)
    draft = environment.claim_draft(LOUDER, "alice")

    def save():
        return drafts.save_draft(**environment.draft_args(), revision=draft.revision, base_version=1).content["prompt"]

    def finish():
        environment.answer_merge(merge, build_answer())
        return "finished"

    results = run_concurrently(2, lambda number: (save, finish)[number]())
    assert "finished" in results
    assert (reload(merge).state, reload(first).state, reload(second).state) == ("done", "accepted", "accepted")
    assert environment.find_draft().written["prompt"].startswith("Be very kind.")
    is_saved = AgentSpec.objects.filter(agent=environment.scribe, content__prompt=LOUDER).exists()
    is_in_snapshot = reload(draft).snapshots.filter(written__prompt=LOUDER).exists()
    assert (is_saved, is_in_snapshot) in ((True, False), (False, True))
    assert (LOUDER in results) == is_saved


def test_a_merge_that_ends_while_it_is_stopped_is_either_done_or_stopped(environment):
    first, second = environment.suggest(KINDER), environment.suggest(BRIEFER, "carol")
    merge = environment.merge(first, second)
    merge.run = claim_job(merge.run)
    results = run_concurrently(
        2,
        lambda number: (
            lambda: environment.answer_merge(merge, build_answer()).state,
            lambda: suggestions.stop_merge(environment["alice"], merge.id).state,
        )[number](),
    )
    state = reload(merge).state
    assert state in ("done", "stopped")
    assert {reload(one).state for one in (first, second)} == {"accepted" if state == "done" else "pending"}
    assert (environment.find_draft() is not None) == (state == "done")
    assert state in results


def test_two_merges_over_the_same_chats_do_not_deadlock(environment):
    with transaction.atomic():
        chats = [environment.create_chat(f"Room {number}", environment["bob"]) for number in range(2)]
    suggestion = [[environment.suggest(text, chat=chat) for text in (KINDER, LOUDER)] for chat in chats]
    merges = [
        environment.merge(suggestion[0][number], suggestion[1][number], chat=chats[number]) for number in range(2)
    ]
    answers = {"segments": [{"text": "Be loud and kind.", "from": ["s1", "s2"]}]}
    run_concurrently(2, lambda number: environment.answer_merge(merges[number], answers))
    assert sorted(reload(merge).state for merge in merges) == ["done", "failed"]  # Alice can lock one draft at a time
    assert Draft.objects.filter(ended_at=None).count() == 1
