"""A chat with a local model server: little context, a slow first word, a reason with each word, and a restart in between."""

import pytest

from llm.retry import _breakers
from tests.llm.adapter import events
from tests.llm.test_model_tests import no_tests_running, of_process, start_and_run, wait_for

__all__ = ["no_tests_running", "of_process"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine", "of_process")]

SIZE = 2_048
WORDS = ("The ", "boiler ", "is ", "on ", "the ", "roof.")
LOCAL = {"mode": "events", "events": events(*WORDS), "context_size": SIZE, "first": 0.3}


def test_a_chat_of_several_turns_gets_whole_answers(environment, no_tests_running, settings):
    settings.LLM_RESTART_DELAYS = (0.01, 0.02, 0.04)
    model = environment.model
    _breakers.clear()
    model.script(**LOCAL)
    model.script(mode="models", models=[{"id": "scripted", "meta": {"n_ctx": SIZE}}])
    done = wait_for(environment, start_and_run(environment, model, no_tests_running))
    assert (done.ok, done.context_sizes) == (True, {"scripted": SIZE})
    for turn in range(5):
        if turn == 2:
            model.script(mode="status", status=503, error="Loading model", times=2)
        environment.post(f"{turn}. " + "It drips from the pipe again. " * 40)
        runs = environment.wait_until_idle()
        assert {run.state for run in runs} == {"completed"}
    assert environment.list_answers() == ["".join(WORDS)] * 5
    payloads = [row.payload for row in environment.log("TEXT_MESSAGE") if row.author == environment.team.robin]
    assert not any(payload.get("incomplete") for payload in payloads)
    # No request was too long: the size was known from the start.
    assert not any(((payload["stamp"].get("context") or {}).get("is_shortened")) for payload in payloads)
    statuses = [request.mode for request in model.requests]
    assert statuses == ["events"] * 3 + ["status"] * 2 + ["events"] * 3


def test_a_server_that_lists_nothing_is_learnt_by_its_first_refusal(environment):
    model = environment.model
    _breakers.clear()
    model.script(**LOCAL | {"first": 0.0})
    for turn in range(4):
        environment.post(f"{turn}. " + "It drips from the pipe again. " * 90)
        environment.wait_until_idle()
    assert environment.list_answers() == ["".join(WORDS)] * 4
    sizes = [len(str(request.body["messages"])) // 4 for request in model.requests]
    refused = [size for size in sizes if size > SIZE]
    # Only the answer in which the chat became too long was asked for more than once.
    assert len(sizes) - len(refused) == 4
    assert len(refused) <= 2
