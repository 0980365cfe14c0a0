"""An unexpected error while a merge or a summary is finished: it fails, and can be retried."""

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
from tests.jobs import answer_job, claim_job, fail_job
from tests.suggestions.environment import BRIEFER, KINDER, build_answer, list_jobs, reload

pytestmark = pytest.mark.django_db


@pytest.fixture
def broken_writes(monkeypatch):
    """A context manager in which every change of a chat raises an unexpected error after it was written."""

    @contextmanager
    def break_writes():
        save_changes = chats.save_changes

        def save_and_raise(*args, **kwargs):
            save_changes(*args, **kwargs)
            raise RuntimeError("an unexpected bug")

        with monkeypatch.context() as patched:
            patched.setattr(chats, "save_changes", save_and_raise)
            yield

    return break_writes


def start_merge(environment):
    suggestions_to_merge = [environment.suggest(KINDER, "bob"), environment.suggest(BRIEFER, "carol")]
    return *suggestions_to_merge, environment.merge(*suggestions_to_merge)


def test_a_merge_whose_end_cannot_be_written_fails_and_can_be_retried(environment, broken_writes, caplog):
    first, second, merge = start_merge(environment)
    with broken_writes(), caplog.at_level(logging.ERROR):
        merge = environment.fail_merge(merge)
    assert (merge.state, merge.error_code, merge.method) == ("failed", Code.INTERNAL, "")
    assert (Run.objects.get(kind="merge").state, get_merge_row(environment["alice"], merge.id).state) == (
        "failed",
        "failed",
    )
    assert (reload(first).state, reload(first).merge, reload(second).merge, environment.find_draft()) == (
        "pending",
        None,
        None,
        None,
    )
    assert "an unexpected bug" in caplog.text
    assert "bug" not in merge.error
    assert Notification.objects.filter(type="merge_failed", person=environment["alice"]).count() == 1
    retried = suggestions.retry_merge(environment["alice"], merge.id)
    assert (retried.state, len(list_jobs("merge"))) == ("waiting", 2)
    assert environment.answer_merge(retried, build_answer()).state == "done"


def test_a_merge_fails_even_if_its_end_cannot_be_reported(environment, monkeypatch, caplog):
    *_, merge = start_merge(environment)

    def save_and_raise(ended):
        raise RuntimeError("no report")

    monkeypatch.setattr(hooks.merge_ended, "_listeners", (save_and_raise,))
    with caplog.at_level(logging.ERROR):
        merge = environment.fail_merge(merge)
    assert (merge.state, merge.error_code) == ("failed", Code.INTERNAL)
    assert "no report" in caplog.text


def test_an_answer_that_cannot_be_written_changes_nothing_and_the_job_fails_next(environment, broken_writes):
    """The worker then ends the run as failed, and the suggestions are merged line by line."""
    first, second, merge = start_merge(environment)
    run = claim_job(merge.run)
    with broken_writes(), pytest.raises(RuntimeError):
        answer_job(run, "{}")
    assert (reload(merge).state, Run.objects.get(pk=run.pk).state) == ("waiting", "running")
    merge.run = run
    assert (environment.fail_merge(merge).method, reload(first).state) == ("text", "accepted")


def test_a_summary_that_cannot_be_written_fails_and_can_be_retried(environment, broken_writes, caplog):
    suggestion = environment.suggest()
    [run] = list_jobs("summary")
    with broken_writes(), caplog.at_level(logging.ERROR):
        fail_job(run)
    assert (reload(suggestion).summary_state, Run.objects.get(pk=run.pk).state) == ("failed", "failed")
    assert "an unexpected bug" in caplog.text
    retried = suggestions.summarize_suggestion(environment["bob"], suggestion.id)
    assert retried.summary_state == "pending"
