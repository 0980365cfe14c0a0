"""Merges by a model whose answer follows a schema: forced calls, JSON, repairs, and what ends them."""

import json

import pytest

from common.bounded import BoundedMap
from llm import structured
from runs.models import Run, Step
from suggestions.merge_answer import InvalidReason
from suggestions.services import stop_merge
from tests.factories.usage import BudgetFactory
from tests.runs.test_jobs_end_to_end import done
from tests.suggestions.environment import BRIEFER, KINDER, SuggestionEnvironment, build_answer, build_segment, reload
from usage.models import Balance, LLMCall, Reservation
from workspaces.models import Credential

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

VALID = json.dumps(build_answer())
CHINESE = KINDER.replace("Be very kind.", "要非常友善 🌞，用廣東話。")


@pytest.fixture
def board(environment, monkeypatch):
    monkeypatch.setattr(structured, "_techniques", BoundedMap(10_000))
    return SuggestionEnvironment(environment.team)


@pytest.fixture
def suggestions(environment, board):
    """Two suggestions, whose summaries are written. The requests so far are forgotten."""
    return suggest(environment, board)


def suggest(environment, board, first=KINDER):
    made = board.suggest(first), board.suggest(BRIEFER, "carol")
    done(environment)
    environment.model.reset()
    return made


def script(environment, *answers):
    """Let the model give these answers in order: scripts that were added later come first."""
    for answer in reversed(answers):
        environment.model.script(**({"text": answer} if isinstance(answer, str) else answer), times=1)


def call(arguments, name="submit_merge"):
    return {"calls": [{"name": name, "arguments": arguments}]}


def merge(environment, board, suggestions):
    """Merge the suggestions, and return the merge once it has ended."""
    started = board.merge(*suggestions)
    done(environment)
    return reload(started)


def get_bodies(environment):
    return [recorded.body for recorded in environment.model.requests]


def assert_asked(environment, count, run):
    """Check that so many requests were made, each with a step and a ledger entry, and that no reservation is left."""
    assert len(environment.model.requests) == count
    assert list(Step.objects.filter(run=run).values_list("number", "kind").order_by("number")) == [
        (number, "llm") for number in range(1, count + 1)
    ]
    assert LLMCall.objects.filter(run_id=run.id, error_code="").count() == count
    assert run.steps_done == count
    assert not Reservation.objects.filter(holder_id=run.id).exists()


@pytest.mark.parametrize("answer", [call(VALID), VALID, f"```json\n{VALID}\n```", call(json.dumps(VALID))])
def test_an_answer_that_is_valid_at_once_is_used(environment, board, suggestions, answer):
    script(environment, answer)
    merged = merge(environment, board, suggestions)
    assert (merged.state, merged.method, merged.fallback_code) == ("done", "agent", "")
    assert_asked(environment, 1, merged.run)
    [body] = get_bodies(environment)
    assert body["tool_choice"] == {"type": "function", "function": {"name": "submit_merge"}}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["submit_merge"]
    assert board.find_draft().written["prompt"].startswith("Be very kind.\n")


@pytest.mark.parametrize(
    ("invalid", "told"),
    [
        (call('{"segments": "none"}'), "- segments: "),
        ("I merged them.", "not JSON"),
        (json.dumps({"segments": [build_segment("Own words.\n")]}), "neither in production nor in a suggestion"),
        (call(json.dumps({"segments": [build_segment("Be kind.\n", "s9")]})), "not a suggestion (s9)"),
        (call("[" * 100_000), "not JSON"),
    ],
)
def test_an_invalid_answer_is_repaired(environment, board, suggestions, invalid, told):
    script(environment, invalid, call(VALID))
    merged = merge(environment, board, suggestions)
    assert (merged.state, merged.method, merged.fallback_code) == ("done", "agent", "")
    assert_asked(environment, 2, merged.run)
    messages = get_bodies(environment)[1]["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert told in messages[-1]["content"]
    assert len(messages[2]["content"]) < structured.MAX_REPEATED + 100


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ("Nothing.", InvalidReason.NO_JSON),
        (call('{"segments": []}'), InvalidReason.WRONG_SHAPE),
        (call(json.dumps({"segments": [build_segment("Own words.\n")]})), InvalidReason.OWN_WORDS),
        (call("x" * 1_200_000), InvalidReason.TOO_LONG),
    ],
)
def test_three_invalid_answers_are_merged_line_by_line_and_the_reason_is_kept(
    environment, board, suggestions, last, reason
):
    script(environment, "First.", call('{"segments": 2}'), last, call(VALID))
    merged = merge(environment, board, suggestions)
    assert (merged.state, merged.method) == ("done", "text")
    assert merged.fallback_code == reason
    assert merged.fallback
    assert_asked(environment, 3, merged.run)


def test_each_request_is_charged_to_the_budgets(environment, board, suggestions):
    budget = BudgetFactory.create(workspace=environment.team.workspace, limit_micro=None, limit_tokens=1_000_000)
    script(environment, "Nothing.", call(VALID))
    merged = merge(environment, board, suggestions)
    assert (merged.method, merged.run.steps_done) == ("agent", 2)
    spent = sum(one.input_tokens + one.output_tokens for one in LLMCall.objects.all())  # the summaries, too
    assert list(Balance.objects.filter(budget=budget).values_list("spent_tokens", flat=True)) == [spent]
    assert not Reservation.objects.exists()


def test_a_repair_that_a_budget_refuses_ends_the_job(environment, board, suggestions):
    budget = BudgetFactory.create(workspace=environment.team.workspace, limit_micro=None, limit_tokens=100_000)
    usage = {"prompt_tokens": 100_000, "completion_tokens": 1}
    script(environment, {"text": "Nothing.", "usage": usage}, call(VALID))
    merged = merge(environment, board, suggestions)
    assert (merged.state, merged.method, merged.fallback_code) == ("done", "text", "budget_used_up")
    assert (merged.run.steps_done, len(environment.model.requests)) == (1, 1)
    assert Balance.objects.get(budget=budget).spent_tokens > 100_000


@pytest.mark.parametrize("refusals", [1, 2])
def test_a_model_without_tools_is_asked_for_json(environment, board, suggestions, refusals):
    refusal = {"mode": "status", "status": 400, "error": "tools are not supported"}
    script(environment, *[refusal] * refusals, "No.", VALID)
    merged = merge(environment, board, suggestions)
    assert (merged.state, merged.method) == ("done", "agent")
    assert merged.run.steps_done == LLMCall.objects.filter(run_id=merged.run_id).count() == 2
    *_, first, second = get_bodies(environment)
    for body in (first, second):
        assert "tools" not in body
        assert "tool_choice" not in body
        assert ("response_format" in body) is (refusals == 1)
        assert '"segments"' in body["messages"][0]["content"]


def test_an_answer_in_chinese_with_emoji_is_used(environment, board):
    chosen = suggest(environment, board, CHINESE)
    answer = build_answer()
    answer["segments"][0]["text"] = CHINESE.split("\n")[0] + "\n"
    script(environment, call(json.dumps(answer, ensure_ascii=False)))
    assert merge(environment, board, chosen).method == "agent"
    assert board.find_draft().written["prompt"].startswith("要非常友善 🌞，用廣東話。\n")


def test_the_demo_model_is_asked_once_for_a_text(environment, board, suggestions):
    Credential.objects.all().delete()
    merged = merge(environment, board, suggestions)
    assert (merged.state, merged.method, merged.fallback_code) == ("done", "text", "demo_model")
    assert merged.run.steps_done == 1


def test_a_merge_is_stopped_before_its_repair(environment, board, suggestions):
    script(environment, "Nothing.", {"mode": "stall", "after": 1})
    started = board.merge(*suggestions)
    environment.engine.submit([started.run_id])
    environment.wait(lambda: len(environment.model.requests) == 2)
    stop_merge(board["alice"], started.id)
    environment.wait_until_idle()
    run = Run.objects.get(pk=started.run_id)
    assert (run.state, run.steps_done, reload(started).state) == ("stopped", 1, "stopped")
    assert LLMCall.objects.filter(run_id=run.id).count() == 2


def test_repairs_are_counted_over_all_attempts_of_a_run(environment, board, suggestions):
    """After a crash, the next worker asks anew, but not more often."""
    started = board.merge(*suggestions)
    Run.objects.filter(pk=started.run_id).update(steps_done=2)
    script(environment, "Nothing.", call(VALID))
    done(environment)
    assert reload(started).fallback_code == InvalidReason.NO_JSON
    assert len(environment.model.requests) == 1
