"""How much of a chat is read at the start of a run: the messages that may fit, however long the chat is."""

import pytest

from runs.kinds.chat import COMPARISON
from runs.models import Run
from runs.runtime.history import read_log, read_new_turns
from tests.queries import record_statements
from tests.recorder import prepare_run
from tests.runs.test_takeover import claim, claimed

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "word " * 20_000


def post_long_messages(environment, number=30):
    for _ in range(number):
        environment.post(LONG, by=environment.team.bob, wake="nobody")


def test_FAIR3_only_the_messages_that_may_fit_are_read_from_a_long_chat(environment, settings):
    settings.LLM_CONTEXT_SIZE = 8_000
    read = []
    for number in (8, 30):
        post_long_messages(environment, number)
        run = claim(environment, text="hello")
        prepare_run(run)
        with record_statements() as asked:
            made = prepare_run(run)
        read.append((len(asked.statements), asked.count_rows("chats_message")))
        assert made.transcript.turns[-1].text.endswith("hello")
        Run.objects.update(state="completed")
    # The second time there is one more short message: the question of the last run.
    # Three of them are about the older messages: the summary, important events, and how the agent has read the chat so far.
    assert read[0][0] == read[1][0] == 5
    assert read[0][1] <= read[1][1] <= 6


def test_a_larger_model_gets_more_of_the_chat(environment):
    post_long_messages(environment)
    run = claimed(environment, text="hello")
    sizes = [len(read_log(run, tokens)) for tokens in (8_000, 32_000, 128_000, 1_000_000)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 6
    assert sizes[-1] == 31


def test_the_message_that_the_run_answers_is_read_however_old_it_is(environment):
    question = environment.post("What is the colour of this?")
    post_long_messages(environment)
    run = claimed(environment, text="and?")
    assert run.trigger_id == question.id
    lines = read_log(run, 8_000)
    assert (lines[0].id, lines[0].payload["text"]) == (question.id, "What is the colour of this?")
    assert lines[-1].payload["text"] == "and?"
    assert len(lines) < 7


def test_each_side_of_a_comparison_reads_its_question_and_the_messages_before_it_that_may_fit(environment):
    post_long_messages(environment)
    run = claimed(environment, text="hello")
    environment.post("later")
    lines = read_log(run, 8_000, with_later_messages=COMPARISON.reads_later_messages)
    assert lines[-1].payload["text"] == "hello"
    assert len(lines) < 6


def test_FAIR3_only_the_newest_messages_of_others_that_may_fit_are_read(environment, settings):
    settings.LLM_MAX_CONTEXT = 8_000
    run = claimed(environment, text="hello")
    post_long_messages(environment)
    environment.post("last word")
    with record_statements() as asked:
        turns = read_new_turns(run)
    assert [turn.text.split()[1] for turn in turns[-2:]] == ["word", "last"]
    assert asked.count_rows("chats_message") == len(turns) < 6
