"""Runs whose calls are limited by budgets: refusals, retries, crashes, and what the chat shows (RUN21)."""

from typing import Any

import pytest

from agents.services import drafts
from notifications.models import Notification
from runs.models import Run
from runs.services.leases import release_dead_reservations
from runs.services.runs import retry_run, stop_run
from tests.factories.usage import BalanceFactory, BudgetFactory, ModelPriceFactory
from tests.usage.test_usage import sign_in
from usage.models import Balance, Budget, LLMCall, ModelPrice, Reservation
from usage.services.reservations import MIN_OUTPUT
from waking.services.wake import preview_wakes
from workspaces.models import Credential

pytestmark = pytest.mark.django_db(transaction=True)

LIMITS: dict[str, dict[str, Any]] = {
    "micro": {"limit_micro": 2_000},
    "tokens": {"limit_micro": None, "limit_tokens": 2_000},
}


@pytest.fixture
def priced(environment):
    """The team, whose model costs a dollar a million tokens of the question, and two of the answer."""
    ModelPriceFactory.create(workspace=environment.team.workspace)
    return environment


def read_balance():
    return Balance.objects.values_list("spent_micro", "reserved_micro").get()


@pytest.mark.usefixtures("engine")
def test_the_cost_of_each_request_is_settled(priced):
    BudgetFactory.create(workspace=priced.team.workspace)
    priced.model.script(text="one two three")
    priced.post("hello")
    [run] = priced.wait_until_idle()
    assert (run.state, run.cost_micro) == ("completed", 11 + 2 * 3)
    assert read_balance() == (17, 0)
    assert LLMCall.objects.get().cost_micro == 17
    assert not Reservation.objects.exists()


@pytest.mark.usefixtures("engine")
def test_a_run_whose_budget_is_used_up_fails_before_it_asks_the_model(priced):
    budget = BudgetFactory.create(workspace=priced.team.workspace, limit_micro=100)
    priced.post("hello")
    [run] = priced.wait_until_idle()
    assert (run.state, run.error_code) == ("failed", "budget_used_up")
    [line] = priced.log("RUN_FAILED")
    refusal = line.payload["budget"]
    assert (refusal["budget_id"], refusal["scope"], refusal["period"]) == (str(budget.id), "workspace", "day")
    assert refusal["subject_id"] == str(priced.team.workspace.id)
    # What the shortest answer would need, and what is left: it says neither that the budget is used up nor that it is spent.
    assert (refusal["spent_micro"], refusal["limit_micro"], refusal["left_micro"]) == (0, 100, 100)
    assert 2 * MIN_OUTPUT < refusal["needed_micro"] < 2 * 1_000
    assert "does not cover this call" in run.error
    assert refusal["ends_at"] is not None
    assert (priced.model.requests, LLMCall.objects.count(), Reservation.objects.count()) == ([], 0, 0)


@pytest.mark.usefixtures("engine")
def test_the_chat_does_not_say_what_a_person_has_spent(priced):
    budget = BudgetFactory.create(workspace=priced.team.workspace, scope="person", limit_micro=123_456)
    BalanceFactory.create(budget=budget, subject_id=priced.team.alice.id, spent_micro=123_356)
    priced.post("hello")
    [run] = priced.wait_until_idle()
    assert (run.state, run.error_code) == ("failed", "budget_used_up")
    [line] = priced.log("RUN_FAILED")
    refusal = line.payload["budget"]
    assert (refusal["scope"], refusal["subject_id"]) == ("person", str(priced.team.alice.id))
    assert refusal["revision"] == 1
    assert not {"limit_micro", "spent_micro", "left_micro"} & {
        name for name, value in refusal.items() if value is not None
    }
    stored = f"{line.payload} {run.error}"
    assert not any(amount in stored for amount in ("123456", "123356", "$0.12", "$0.0001"))


@pytest.mark.usefixtures("engine")
def test_what_was_written_before_the_budget_was_used_up_stays(priced):
    ModelPrice.objects.update(output_micro=1_000_000_000)
    BudgetFactory.create(workspace=priced.team.workspace, limit_micro=MIN_OUTPUT * 1_000 + 3_000)
    priced.model.script(text="I look at the clock.", calls=[{"name": "current_time", "arguments": "{}"}])
    priced.post("hello")
    [run] = priced.wait_until_idle()
    assert (run.state, run.error_code, run.steps_done) == ("failed", "budget_used_up", 1)
    texts = [message.text for message in priced.log("TEXT_MESSAGE")]
    assert texts == ["hello", "I look at the clock."]
    assert read_balance() == (run.cost_micro, 0)
    assert run.cost_micro == 11 + 5 * 1_000


@pytest.mark.usefixtures("engine")
def test_editors_are_notified_once_at_80_percent(priced):
    team = priced.team
    BudgetFactory.create(workspace=team.workspace, limit_micro=25_200)
    priced.model.script(count=12_500)
    for _ in range(2):
        priced.post("hello")
        priced.wait_until_idle(30)
    assert [run.error_code for run in priced.runs()] == ["", "budget_used_up"]
    rows = Notification.objects.filter(type="budget_warning")
    assert [(row.person, row.excerpt) for row in rows] == [(team.alice, "$0.03 / $0.03")]


@pytest.mark.usefixtures("engine")
def test_an_answer_that_the_budget_cuts_is_asked_for_shorter_and_says_so_in_its_stamp(priced):
    BudgetFactory.create(workspace=priced.team.workspace, limit_micro=2_000)
    priced.model.script(count=5_000)
    priced.post("hello")
    [run] = priced.wait_until_idle(30)
    most = priced.model.requests[0].body["max_tokens"]
    assert (run.state, MIN_OUTPUT < most < 1_000) == ("completed", True)
    answer = priced.log("TEXT_MESSAGE")[-1].payload
    assert (answer["incomplete"], answer["stamp"]["cut_at_tokens"], answer["stamp"]["output_tokens"]) == (
        True,
        most,
        most,
    )
    assert read_balance() == (11 + 2 * most, 0)
    # A shortened request whose answer ends by itself was not cut.
    Budget.objects.update(limit_micro=11 + 2 * most + 3_000)
    priced.model.script(text="one two three")
    priced.post("hello again")
    priced.wait_until_idle()
    assert priced.model.requests[-1].body["max_tokens"] < 1_500
    assert priced.log("TEXT_MESSAGE")[-1].payload["stamp"].get("cut_at_tokens") is None


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("script", "texts"),
    [
        ({"thinking": "I think about it.", "tokens": [""]}, []),
        ({"text": "I look.", "calls": [{"name": "current_time", "arguments": "{}"}]}, ["I look."]),
    ],
    ids=["without a text", "with calls"],
)
@pytest.mark.parametrize("unit", LIMITS)
def test_an_answer_that_a_budget_cut_before_it_can_be_used_ends_the_run(priced, unit, script, texts):
    budget = BudgetFactory.create(workspace=priced.team.workspace, **LIMITS[unit])
    # A larger budget is not the one that is named.
    BudgetFactory.create(workspace=priced.team.workspace, limit_micro=1_000_000, period="month")
    priced.model.script(**script, finish="length", usage={"prompt_tokens": 11, "completion_tokens": 300})
    priced.post("hello")
    [run] = priced.wait_until_idle()
    assert (run.state, run.error_code, len(priced.model.requests)) == ("failed", "budget_used_up", 1)
    refusal = priced.log("RUN_FAILED")[0].payload["budget"]
    assert (refusal["budget_id"], refusal[f"limit_{unit}"]) == (str(budget.id), 2_000)
    assert refusal[f"needed_{unit}"] > 2_000 > refusal[f"left_{unit}"] >= 0
    assert [message.text for message in priced.log("TEXT_MESSAGE")[1:]] == texts
    assert (priced.log("TOOL_CALL"), Reservation.objects.count()) == ([], 0)
    assert set(Balance.objects.values_list("spent_micro", "spent_tokens")) == {(611, 311)}
    assert [(call.output_tokens, call.cost_micro) for call in LLMCall.objects.all()] == [(300, 611)]


@pytest.mark.usefixtures("engine")
def test_a_run_tree_on_a_model_without_a_price_ends_at_its_limit_of_tokens(environment):
    """An agent that calls tools without end, on a server of one's own: only steps and seconds would end it otherwise."""
    limit = 3_000
    budget = BudgetFactory.create(
        workspace=environment.team.workspace, scope="run_tree", period="run", limit_micro=None, limit_tokens=limit
    )
    used = {"prompt_tokens": 700, "completion_tokens": 200}
    for _ in range(8):
        environment.model.script(text="I look.", calls=CLOCK, usage=used, times=1)
    environment.post("hello")
    [run] = environment.wait_until_idle(30)
    assert (run.state, run.error_code) == ("failed", "budget_used_up")
    assert 1 <= run.steps_done < 8
    [line] = environment.log("RUN_FAILED")
    refusal = line.payload["budget"]
    assert (refusal["budget_id"], refusal["period"], refusal["limit_tokens"]) == (str(budget.id), "run", limit)
    assert refusal["spent_tokens"] == 900 * run.steps_done <= limit
    assert refusal["needed_tokens"] > refusal["left_tokens"] == limit - refusal["spent_tokens"]
    assert (len(environment.model.requests), run.cost_micro) == (run.steps_done, 0)
    balance = Balance.objects.get()
    assert (balance.spent_tokens, balance.reserved_tokens) == (refusal["spent_tokens"], 0)


@pytest.mark.usefixtures("engine")
def test_a_member_cannot_avoid_a_budget_by_naming_a_model_without_a_price_in_a_draft(priced):
    """A suggester writes the model of a draft and applies it: it is refused there, and in a run if the budget is newer."""
    team = priced.team
    ModelPrice.objects.update(model="scripted")
    content = team.robin.current_spec.parse_content().model_copy(update={"model": "m-without-price"})
    draft = drafts.claim_draft(team.bob, team.chat.id, team.robin.id, content=content)
    api = sign_in(team.bob)
    path = f"chats/{team.chat.id}/agents/{team.robin.id}/draft/apply"
    BudgetFactory.create(workspace=team.workspace, scope="person", limit_micro=10**9)
    answer = api("POST", path, {"revision": draft.revision})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (429, "price_unknown")
    assert error["message"] == "No price is known for m-without-price; an editor can set one."
    draft.refresh_from_db()
    assert (draft.applied, draft.apply_count, priced.log("DRAFT_APPLIED")) == (None, 0, [])
    budget = Budget.objects.get()
    budget.delete()
    assert api("POST", path, {"revision": draft.revision}).status_code == 200
    BudgetFactory.create(workspace=team.workspace, scope="person", limit_micro=10**9)
    [effect] = preview_wakes(team.bob, team.chat.id, text="@robin hello")
    assert (effect.effect, effect.reason) == ("wakes", "price_unknown")
    priced.post("@robin hello", by=team.bob)
    [run] = priced.wait_until_idle()
    assert (run.state, run.error_code, run.error) == ("failed", "price_unknown", error["message"])
    refusal = priced.log("RUN_FAILED")[0].payload["budget"]
    assert (refusal["unpriced_model"], refusal["price_set_by"]) == ("m-without-price", "editor")
    assert (priced.model.requests, LLMCall.objects.count()) == ([], 0)
    # An editor sets the price, and the retry is answered.
    ModelPriceFactory.create(workspace=team.workspace, model="m-without-price")
    retry_run(actor=team.bob, run_id=run.id)
    assert priced.wait_until_idle()[-1].state == "completed"


CLOCK = [{"name": "current_time", "arguments": '{"timezone": "Asia/Tokyo"}'}]


@pytest.mark.usefixtures("engine")
def test_a_price_that_is_changed_during_a_run_applies_to_the_next_run(priced):
    BudgetFactory.create(workspace=priced.team.workspace, limit_micro=10_000_000)
    priced.model.script(text="done", match="hello")
    priced.model.script(calls=CLOCK, first=0.5, match="hello", times=1)
    priced.post("hello")
    priced.wait(lambda: priced.model.requests)
    ModelPrice.objects.update(input_micro=100_000_000, output_micro=200_000_000)
    priced.wait_until_idle()
    first, second = LLMCall.objects.order_by("pk")
    assert [call.cost_micro for call in (first, second)] == [11 + 2 * first.output_tokens, 11 + 2 * 1]
    priced.post("hello")
    priced.wait_until_idle()
    assert LLMCall.objects.order_by("-pk")[0].cost_micro == 100 * (11 + 2 * 1)
    assert read_balance() == (sum(call.cost_micro or 0 for call in LLMCall.objects.all()), 0)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "reported",
    [
        {"prompt_tokens": -5, "completion_tokens": -(10**9)},
        {"prompt_tokens": 10**18, "completion_tokens": 10**18},
        {"prompt_tokens": float("nan"), "completion_tokens": float("inf")},
        {"prompt_tokens": "1; DROP TABLE", "completion_tokens": None},
        {"prompt_tokens": [1], "completion_tokens": {"a": 1}, "prompt_tokens_details": 7},
        {"prompt_tokens_details": {"cached_tokens": 10**18}, "completion_tokens_details": "x"},
        {"prompt_tokens": 10_000_000, "completion_tokens": 10_000_000},
    ],
)
def test_a_hostile_report_of_usage_neither_breaks_the_run_nor_gives_money_back(priced, reported):
    BudgetFactory.create(workspace=priced.team.workspace, limit_micro=10**12)
    priced.model.script(text="done", usage=reported)
    priced.post("hello")
    [run] = priced.wait_until_idle()
    assert (run.state, run.attempt, run.crashes) == ("completed", 1, 0)
    call = LLMCall.objects.get()
    assert call.input_tokens > 0 <= call.output_tokens
    assert 0 <= (call.cost_micro or 0) <= 30_000_000
    assert read_balance() == (call.cost_micro, 0)


@pytest.mark.usefixtures("engine")
def test_every_request_is_in_the_ledger_however_it_ends(priced):
    """Answers, calls of tools, an answer that breaks off and is requested again, errors of the provider, an answer without a
    report, a reported usage of zero, and a stopped run: the entries, the runs and the balance have the same sum."""
    BudgetFactory.create(workspace=priced.team.workspace)
    BudgetFactory.create(workspace=priced.team.workspace, scope="person", period="month")
    scripts: list[list[dict[str, Any]]] = [
        [{"text": "one two three"}],
        [{"text": "I look.", "calls": CLOCK}, {"text": "It is late."}],
        [{"mode": "cut", "text": "one two three four five", "after": 3}, {"text": "at last"}],
        [{"mode": "cleancut", "text": "one two three four five", "after": 3}, {"mode": "cut", "text": "a b c d"}],
        [{"mode": "status", "status": 400}],
        [{"mode": "errframe", "text": "one two three four", "after": 3, "status": 400}],
        [{"text": "nothing is reported", "usage": False}],
        [{"text": "for free", "usage": {"prompt_tokens": 0, "completion_tokens": 0}}],
    ]
    for number, script in enumerate(scripts):
        for each in reversed(script):
            priced.model.script(**each, match=f"message {number}", times=1)
        priced.post(f"message {number}")
        priced.wait_until_idle(30)
    priced.model.script(mode="drip", count=400, every=0.02, match="stop me")
    priced.post("stop me")
    run = priced.wait(lambda: priced.runs(state="running"))[0]
    priced.wait(lambda: priced.model.requests[-1].mode == "drip")
    stop_run(actor=priced.team.alice, run_id=run.id)
    runs = priced.wait_until_idle()

    calls = LLMCall.objects.all()
    assert sum(call.tries for call in calls) == len(priced.model.requests)
    for name in ("input_tokens", "output_tokens", "cost_micro"):
        for run in runs:
            assert sum(getattr(call, name) or 0 for call in calls if call.run_id == run.id) == getattr(run, name)
    spent = sum(call.cost_micro or 0 for call in calls)
    assert set(Balance.objects.values_list("spent_micro", "reserved_micro")) == {(spent, 0)}
    assert spent > 0
    assert not Reservation.objects.exists()
    assert {call.error_code for call in calls} >= {"", "cut", "bad_request", "stopped"}


@pytest.mark.usefixtures("engine")
def test_a_process_that_shuts_down_settles_what_it_had_asked(priced):
    BudgetFactory.create(workspace=priced.team.workspace)
    priced.model.script(mode="drip", count=400, every=0.05)
    priced.post("hello")
    priced.wait(lambda: priced.model.requests)
    priced.engine.stop()
    [run] = priced.runs()
    call = LLMCall.objects.get()
    assert (run.state, call.error_code, call.attempt, run.cost_micro) == ("queued", "stopped", 1, call.cost_micro)
    assert run.cost_micro > 0
    assert (read_balance(), Reservation.objects.count()) == ((call.cost_micro, 0), 0)


@pytest.mark.usefixtures("engine")
def test_a_budget_of_the_operator_limits_what_the_key_of_the_operator_pays(priced, settings):
    team = priced.team
    BudgetFactory.create(workspace=team.workspace, by_operator=True, limit_micro=100)
    ModelPriceFactory.create(workspace=None)
    priced.post("paid by the workspace")
    [run] = priced.wait_until_idle()
    assert (run.state, Balance.objects.count()) == ("completed", 0)
    Credential.objects.all().delete()
    settings.SYSTEM_MODEL = {
        "provider": "openai_compatible",
        "api_base": priced.model.api_base,
        "key": "operators-key-0001",
        "models": ("scripted",),
    }
    requests = len(priced.model.requests)
    priced.post("paid by the operator")
    *_, run = priced.wait_until_idle()
    assert (run.state, run.error_code) == ("failed", "budget_used_up")
    assert len(priced.model.requests) == requests
    # Editors cannot make the model of the operator cheap: their price does not apply to it.
    ModelPrice.objects.filter(workspace=team.workspace).update(input_micro=0, output_micro=0)
    priced.post("cheap?")
    *_, run = priced.wait_until_idle()
    assert (run.error_code, len(priced.model.requests)) == ("budget_used_up", requests)
    Budget.objects.update(limit_micro=10**6)
    priced.post("raised")
    *_, run = priced.wait_until_idle()
    assert (run.state, LLMCall.objects.get(run_id=run.id).paid_by) == ("completed", "system")
    assert read_balance() == (run.cost_micro, 0)


@pytest.mark.stack
def test_RUN21_what_a_killed_worker_had_reserved_is_released(priced, start_worker):
    BudgetFactory.create(workspace=priced.team.workspace)
    priced.model.script(mode="nofirst", times=1)
    worker = start_worker()
    priced.post("hello")
    priced.wait(Reservation.objects.exists)
    assert read_balance()[1] > 0
    worker.kill()
    priced.model.script(text="at last")
    start_worker()
    [run] = priced.wait_until_idle(30)
    assert (run.state, run.attempt > 1) == ("completed", True)
    priced.wait(lambda: not Reservation.objects.exists())
    assert read_balance() == (LLMCall.objects.get().cost_micro, 0)


def test_the_reservation_of_a_running_run_is_not_released(priced):
    budget = BudgetFactory.create(workspace=priced.team.workspace)
    balance = Balance.objects.create(budget=budget, subject_id=priced.team.workspace.id, reserved_micro=5)
    priced.post("hello")
    run = priced.runs()[0]
    Run.objects.filter(pk=run.pk).update(state="running", attempt=2, lease_until=run.created_at)
    fields = {
        "balance": balance,
        "amount_micro": 5,
        "holder_id": run.id,
        "expires_at": run.created_at.replace(year=2100),
    }
    Reservation.objects.create(attempt=2, **fields)
    release_dead_reservations()
    assert Reservation.objects.count() == 1
    Run.objects.filter(pk=run.pk).update(attempt=3)
    release_dead_reservations()
    assert (Reservation.objects.count(), read_balance()) == (0, (0, 0))
