"""Summaries and merges from the request to their result, with an engine and a model."""

import json

import pytest

from runs.models import Run
from suggestions.models import Suggestion
from tests.suggestions.environment import BRIEFER, KINDER, LOUDER, SuggestionEnvironment, build_answer, reload
from workspaces.models import Credential

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


@pytest.fixture
def board(environment):
    return SuggestionEnvironment(environment.team)


def done(environment):
    """Return all jobs once they have ended, after submitting them to the engine as Celery would."""
    environment.engine.submit(list(Run.objects.filter(state="queued").values_list("pk", flat=True)))
    environment.wait_until_idle(20)


@pytest.mark.parametrize(("language", "begins"), [("en", "Counted by the demo model"), ("zh-hant", "示範模型數出來的")])
def test_without_a_key_a_suggestion_gets_a_summary_in_the_language_of_its_author(environment, board, language, begins):
    Credential.objects.all().delete()
    board["bob"].language = language
    board["bob"].save()
    suggestion = board.suggest(BRIEFER)
    done(environment)
    suggestion = reload(suggestion)
    assert (suggestion.summary_state, suggestion.summary_run.agent.handle) == ("ready", "summarizer")
    assert suggestion.summary.startswith(begins)
    assert board.get_system_message("SUGGESTION_CREATED")["summary"] == suggestion.summary


def test_a_merge_by_a_model_becomes_a_draft(environment, board):
    first, second = board.suggest(KINDER), board.suggest(BRIEFER, "carol")
    done(environment)
    environment.model.script(text=json.dumps(build_answer()), match="Merge the prompts")
    merge = board.merge(first, second)
    done(environment)
    merge = reload(merge)
    assert (merge.state, merge.method, merge.error) == ("done", "agent", "")
    assert [segment["contributors"] for segment in merge.result["segments"] if segment["contributors"]] == [
        [str(first.id)],
        [str(second.id)],
    ]
    assert reload(first).state == reload(second).state == "accepted"


def test_without_a_key_a_merge_is_made_line_by_line_and_says_why(environment, board):
    Credential.objects.all().delete()
    merge = board.merge(board.suggest(KINDER), board.suggest(BRIEFER, "carol"))
    done(environment)
    merge = reload(merge)
    assert (merge.state, merge.method) == ("done", "text")
    assert merge.error
    draft = board.find_draft()
    assert draft is not None
    assert draft.written["prompt"] == KINDER.replace("Be brief.", "Use one sentence.")


def test_many_summaries_and_answers_in_one_chat_cause_no_deadlock(environment, board):
    """Both lock the chat before the run: there is no deadlock, and each hook is called once."""
    environment.model.script(text="A short answer.", every=0.01)
    for number in range(8):
        board.suggest(LOUDER + f"LogEntry {number}.\n", "bob" if number % 2 else "carol")
        environment.post(f"hello {number}", by=board["bob"], chat=board.chat)
    done(environment)
    assert set(Run.objects.values_list("state", flat=True)) == {"completed"}
    assert not Run.objects.exclude(crashes=0).exists()
    assert {(one.summary_state, one.summary) for one in Suggestion.objects.all()} == {("ready", "A short answer.")}
