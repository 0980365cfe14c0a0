"""Budgets: what is reserved and settled, and that they are never exceeded under races (RUN21)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import close_old_connections, connection, transaction

from common.secrets import Secret
from llm.messages import Answer, ModelRequest, Turn, Usage
from llm.protocol import Endpoint, SetPrice
from tests.factories.usage import BudgetFactory, LLMCallFactory
from usage.errors import BudgetUsedUp
from usage.models import Balance, LLMCall, Reservation
from usage.owners import UsageOwner
from usage.rules import read_rules, resolve_model
from usage.services import record_call, release_reservations, reserve
from usage.services.reservations import estimate_max_cost

ENDPOINT = Endpoint("openai_compatible", "http://x/v1", Secret(""), "workspace", price=SetPrice(1.0, 2.0))
REQUEST = ModelRequest("m", [Turn("user", "x" * 360)], parameters={"max_tokens": 440})
ONE = 2 * 440 + 118  # 90 + 4 tokens, a quarter more, at 1; and 440 tokens at 2


def build_usage_owner(team, **fields):
    run_id = uuid4()
    fields = {"run_id": run_id, "tree_id": run_id, "agent_id": team.robin.id} | fields
    return UsageOwner(team.workspace.id, team.alice.id, **fields)


def resolve(team, owner, endpoint=ENDPOINT):
    return resolve_model(endpoint, "m", owner, read_rules(team.workspace.id))


def ask(team, cost=None, **fields):
    """Reserve a request and, unless `cost` is null, record its answer."""
    owner = build_usage_owner(team, **fields)
    model = resolve(team, owner)
    reserve(model, REQUEST, holder_id=owner.run_id, attempt=owner.attempt)
    if cost is not None:
        answer = Answer("x", "", (), Usage(1, 1, cost), "stop", "m")
        with transaction.atomic():
            record_call(owner, model, answer)
    return owner


def read_balances():
    return list(Balance.objects.order_by("pk").values_list("budget__scope", "spent_micro", "reserved_micro"))


def test_the_most_that_a_request_may_cost_is_reserved(team):
    assert estimate_max_cost(resolve(team, build_usage_owner(team)), REQUEST) == ONE
    unlimited = ModelRequest("m", REQUEST.turns)
    assert estimate_max_cost(resolve(team, build_usage_owner(team)), unlimited) == 118 + 2 * 8_192


def test_a_reservation_is_replaced_by_the_cost(team):
    BudgetFactory.create(workspace=team.workspace, limit_micro=10 * ONE)
    ask(team)
    assert read_balances() == [("workspace", 0, ONE)]
    ask(team, cost=77)
    assert read_balances() == [("workspace", 77, ONE)]
    assert LLMCall.objects.get().cost_micro == 77


def test_all_budgets_or_none_are_reserved(team):
    BudgetFactory.create(workspace=team.workspace, limit_micro=10 * ONE)
    BudgetFactory.create(workspace=team.workspace, scope="person", period="month", limit_micro=10 * ONE)
    BudgetFactory.create(workspace=team.workspace, scope="agent", limit_micro=10 * ONE)
    BudgetFactory.create(workspace=team.workspace, scope="run_tree", period="run", limit_micro=ONE)
    owner = ask(team)
    assert sorted(read_balances()) == [(scope, 0, ONE) for scope in ("agent", "person", "run_tree", "workspace")]
    before = read_balances()
    with pytest.raises(BudgetUsedUp) as error:
        ask(team, tree_id=owner.tree_id)
    assert (error.value.refusal.scope, error.value.refusal.needed_micro) == ("run_tree", ONE)
    assert read_balances() == before
    assert Reservation.objects.count() == 4
    ask(team)  # of another tree


def test_the_budget_of_one_person_replaces_that_of_each(team):
    BudgetFactory.create(workspace=team.workspace, scope="person", limit_micro=ONE)
    own = BudgetFactory.create(workspace=team.workspace, scope="person", subject=team.alice, limit_micro=2 * ONE)
    assert [budget.id for budget in resolve(team, build_usage_owner(team)).budgets] == [own.id]
    ask(team)
    ask(team)
    with pytest.raises(BudgetUsedUp) as error:
        ask(team)
    assert error.value.refusal.subject_name == team.alice.name


def test_a_budget_of_an_operator_counts_what_the_operators_key_pays(team):
    BudgetFactory.create(workspace=team.workspace, by_operator=True, limit_micro=0)
    assert resolve(team, build_usage_owner(team)).budgets == ()
    paid = Endpoint("openai_compatible", None, Secret(""), "system", price=SetPrice(1.0, 2.0))
    [budget] = resolve(team, build_usage_owner(team), paid).budgets
    assert budget.subject_id == team.workspace.id


def test_what_was_spent_before_the_budget_was_set_counts(team):
    LLMCallFactory.create(workspace=team.workspace, cost_micro=3 * ONE)
    LLMCallFactory.create(workspace=team.workspace, cost_micro=ONE, on_behalf_of=team.bob)
    LLMCallFactory.create(workspace=team.elsewhere, cost_micro=ONE)
    BudgetFactory.create(workspace=team.workspace, limit_micro=5 * ONE)
    ask(team)
    assert read_balances() == [("workspace", 4 * ONE, ONE)]
    with pytest.raises(BudgetUsedUp):
        ask(team)


def test_a_budget_begins_again_at_midnight_in_the_time_zone_of_the_workspace(team, monkeypatch):
    team.workspace.time_zone = "Asia/Taipei"
    team.workspace.save()
    BudgetFactory.create(workspace=team.workspace, scope="workspace", period="month", limit_micro=ONE)
    times = [datetime(2030, 11, 30, 15, 59, tzinfo=UTC), datetime(2030, 11, 30, 16, 0, tzinfo=UTC)]
    monkeypatch.setattr("usage.services.reservations.now", lambda: times[0])
    ask(team)
    with pytest.raises(BudgetUsedUp) as error:
        ask(team)
    assert error.value.refusal.ends_at == times[1]
    times.pop(0)
    ask(team)
    assert [str(day) for day in Balance.objects.order_by("starts_on").values_list("starts_on", flat=True)] == [
        "2030-11-01",
        "2030-12-01",
    ]


def test_a_call_that_costs_nothing_or_has_no_price_is_not_limited(team, django_assert_num_queries):
    BudgetFactory.create(workspace=team.workspace, limit_micro=0)
    for price in (None, SetPrice(0.0, 0.0)):
        endpoint = Endpoint("openai_compatible", "http://x/v1", Secret(""), "workspace", price=price)
        assert resolve(team, build_usage_owner(team), endpoint).budgets == ()
    with pytest.raises(BudgetUsedUp):
        ask(team)


def test_a_released_reservation_costs_nothing(team):
    BudgetFactory.create(workspace=team.workspace, limit_micro=ONE)
    ask(team)
    release_reservations(list(Reservation.objects.values_list("pk", flat=True)))
    assert (read_balances(), Reservation.objects.count()) == ([("workspace", 0, 0)], 0)
    ask(team)


def test_the_editors_are_warned_once_when_most_of_a_budget_is_spent(team, monkeypatch):
    warned: list[Any] = []
    monkeypatch.setattr("usage.services.reservations.budget_warning.call", warned.append)
    BudgetFactory.create(workspace=team.workspace, limit_micro=10 * ONE)
    for share, count in ((7, 0), (1, 1), (1, 1)):
        ask(team, cost=share * ONE)
        assert len(warned) == count
    assert warned[0].spent_micro == 8 * ONE


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("scopes", [["workspace"], ["workspace", "person", "agent"]])
def test_RUN21_fifty_calls_at_once_reserve_a_budget_for_ten(team, scopes):
    for scope in scopes:
        BudgetFactory.create(workspace=team.workspace, scope=scope, limit_micro=10 * ONE)

    def call(number):
        close_old_connections()
        try:
            ask(team, cost=ONE if number % 2 else None)
        except BudgetUsedUp:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(50) as threads:
        reserved = sum(threads.map(call, range(50)))
    assert reserved == 10
    for _, spent, reserved in read_balances():
        assert spent + reserved == 10 * ONE
    assert LLMCall.objects.count() * ONE == read_balances()[0][1]
