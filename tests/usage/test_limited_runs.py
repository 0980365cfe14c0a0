"""Runs whose calls are limited by budgets: refusals, retries, crashes, and what the chat shows (RUN21)."""

import pytest

from notifications.models import Notification
from runs.models import Run
from runs.services.leases import release_dead_reservations
from tests.factories.usage import BudgetFactory, ModelPriceFactory
from usage.models import Balance, LLMCall, ModelPrice, Reservation

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def priced(environment):
    """The team, whose model costs a dollar a million tokens of the question, and two of the answer."""
    ModelPriceFactory.create(workspace=environment.team.workspace)
    return environment


def read_balance():
    return Balance.objects.values_list("spent_micro", "held_micro").get()


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
    assert (refusal["spent_micro"], refusal["limit_micro"], refusal["needed_micro"] > 2 * 8_192) == (0, 100, True)
    assert refusal["ends_at"] is not None
    assert (priced.model.requests, LLMCall.objects.count(), Reservation.objects.count()) == ([], 0, 0)


@pytest.mark.usefixtures("engine")
def test_what_was_written_before_the_budget_was_used_up_stays(priced):
    ModelPrice.objects.update(output_micro=1_000_000_000)
    BudgetFactory.create(workspace=priced.team.workspace, limit_micro=8_195_000)
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
    BudgetFactory.create(workspace=team.workspace, limit_micro=30_000)
    priced.model.script(count=12_500)
    for _ in range(2):
        priced.post("hello")
        priced.wait_until_idle(30)
    assert [run.error_code for run in priced.runs()] == ["", "budget_used_up"]
    rows = Notification.objects.filter(type="budget_warning")
    assert [(row.person, row.excerpt) for row in rows] == [(team.alice, "$0.03 / $0.03")]


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
    balance = Balance.objects.create(budget=budget, subject_id=priced.team.workspace.id, held_micro=5)
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
