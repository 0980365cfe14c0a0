"""A mistake of ours while a merge or a summary is settled: it ends all the same, and can be tried again."""

import logging
from contextlib import contextmanager

import pytest

from chats import services as chats
from common.errors import Code
from notifications.models import Notification
from runs.models import Run
from suggestions import hooks
from suggestions import services as suggestions
from suggestions.selectors import get_merge_row
from tests.jobs import answer_job, begin_job, fail_job
from tests.suggestions.environment import BRIEFER, KINDER, both, fresh, jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def broken_writes(monkeypatch):
    """A context in which whatever changes a chat raises what nobody foresaw, after it was done."""

    @contextmanager
    def breaks():
        real = chats.save_changes

        def breaking(*args, **kwargs):
            real(*args, **kwargs)
            raise RuntimeError("a mistake of ours")

        with monkeypatch.context() as patched:
            patched.setattr(chats, "save_changes", breaking)
            yield

    return breaks


def two(board):
    made = [board.suggest(KINDER, "bob"), board.suggest(BRIEFER, "carol")]
    return *made, board.merge(*made)


def test_a_merge_that_cannot_be_settled_has_failed_and_is_tried_again(board, broken_writes, caplog):
    first, second, merge = two(board)
    with broken_writes(), caplog.at_level(logging.ERROR):
        merge = board.fail(merge)
    assert (merge.state, merge.error_code, merge.method) == ("failed", Code.INTERNAL, "")
    assert (Run.objects.get(origin="merge").state, get_merge_row(board["alice"], merge.id).state) == (
        "failed",
        "failed",
    )
    assert (fresh(first).state, fresh(first).merge, fresh(second).merge, board.live()) == ("pending", None, None, None)
    assert "a mistake of ours" in caplog.text
    assert "a mistake" not in merge.error
    assert Notification.objects.filter(type="merge_failed", person=board["alice"]).count() == 1
    again = suggestions.retry_merge(board["alice"], merge.id)
    assert (again.state, len(jobs("merge"))) == ("waiting", 2)
    assert board.answer(again, both()).state == "done"


def test_a_merge_ends_also_when_telling_is_what_is_broken(board, monkeypatch, caplog):
    *_, merge = two(board)

    def breaking(ended):
        raise RuntimeError("no bell")

    monkeypatch.setattr(hooks.merge_ended, "_listeners", (breaking,))
    with caplog.at_level(logging.ERROR):
        merge = board.fail(merge)
    assert (merge.state, merge.error_code) == ("failed", Code.INTERNAL)
    assert "no bell" in caplog.text


def test_an_answer_that_cannot_be_settled_leaves_all_as_it_was_and_the_job_fails_next(board, broken_writes):
    """The run and the merge agree: the worker stores the failure of the run, and hears here that line by line it goes."""
    first, second, merge = two(board)
    run = begin_job(merge.run)
    with broken_writes(), pytest.raises(RuntimeError):
        answer_job(run, "{}")
    assert (fresh(merge).state, Run.objects.get(pk=run.pk).state) == ("waiting", "running")
    merge.run = run
    assert (board.fail(merge).method, fresh(first).state) == ("text", "accepted")


def test_a_summary_that_cannot_be_shown_has_failed_and_is_asked_for_again(board, broken_writes, caplog):
    made = board.suggest()
    [run] = jobs("summary")
    with broken_writes(), caplog.at_level(logging.ERROR):
        fail_job(run)
    assert (fresh(made).summary_state, Run.objects.get(pk=run.pk).state) == ("failed", "failed")
    assert "a mistake of ours" in caplog.text
    again = suggestions.summarize_suggestion(board["bob"], made.id)
    assert again.summary_state == "pending"
