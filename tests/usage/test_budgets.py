"""Budgets: what is reserved and settled, and that they are never exceeded under races (RUN21)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import close_old_connections, connection, transaction

from common.secrets import Secret
from llm.messages import Answer, ModelRequest, Turn, Usage
from llm.prices import estimate_usage, get_price
from llm.protocol import Endpoint, SetPrice
from tests.factories.usage import BudgetFactory, LLMCallFactory, ModelPriceFactory
from usage.errors import BudgetUsedUp, PriceUnknown
from usage.models import Balance, Budget, LLMCall, Reservation
from usage.owners import Amounts, UsageOwner
from usage.rules import read_rules, resolve_model
from usage.services import record_call, release_reservations, reserve
from usage.services.reservations import MIN_OUTPUT, estimate_max_usage

ENDPOINT = Endpoint("openai_compatible", "http://x/v1", Secret(""), "workspace", price=SetPrice(1.0, 2.0))
REQUEST = ModelRequest("m", [Turn("user", "x" * 360)], parameters={"max_tokens": 440})
ONE = 2 * 440 + 118  # 90 + 4 tokens, a quarter more, at 1; and 440 tokens at 2


def build_usage_owner(team, **fields):
    run_id = uuid4()
    fields = {"run_id": run_id, "tree_id": run_id, "agent_id": team.robin.id} | fields
    return UsageOwner(team.workspace.id, team.alice.id, **fields)


def resolve(team, owner, endpoint=ENDPOINT):
    return resolve_model(endpoint, "m", owner, read_rules(team.workspace.id))


def ask(team, cost=None, tokens=2, **fields):
    """Reserve a request and, unless `cost` is null, record its answer."""
    owner = build_usage_owner(team, **fields)
    model = resolve(team, owner)
    reserve(model, REQUEST, holder_id=owner.run_id, attempt=owner.attempt)
    if cost is not None:
        answer = Answer("x", "", (), Usage(tokens - 1, 1, cost), "stop", "m")
        with transaction.atomic():
            record_call(owner, model, answer)
    return owner


def read_balances():
    return list(Balance.objects.order_by("pk").values_list("budget__scope", "spent_micro", "reserved_micro"))


def test_the_most_that_a_request_may_cost_is_reserved(team):
    assert estimate_max_usage(resolve(team, build_usage_owner(team)), REQUEST) == Amounts(ONE, 118 + 440)
    unlimited = ModelRequest("m", REQUEST.turns)
    assert estimate_max_usage(resolve(team, build_usage_owner(team)), unlimited) == Amounts(
        118 + 2 * 8_192, 118 + 8_192
    )


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


def test_a_call_that_costs_nothing_is_not_limited_by_a_budget_in_dollars(team, settings):
    settings.EMBEDDED = True
    BudgetFactory.create(workspace=team.workspace, limit_micro=0)
    free = replace(ENDPOINT, price=SetPrice(0.0, 0.0))
    local = replace(ENDPOINT, api_base="http://localhost:11434/v1", price=None)
    demo = Endpoint("demo", None, Secret(""), "demo")
    own = replace(ENDPOINT, paid_by="person", price=None)
    for endpoint in (free, local, demo, own):
        assert resolve(team, build_usage_owner(team), endpoint).budgets == ()
    with pytest.raises(BudgetUsedUp):
        ask(team)


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai_compatible", "any"), ("openai", "gpt-4o-of-nobody"), ("openai", "ft:gpt-4o:us"), ("bedrock", "x")],
)
def test_a_model_whose_price_is_not_known_is_refused_by_a_budget_in_dollars(team, provider, model):
    endpoint = Endpoint(provider, None, Secret(""), "workspace")
    budget = BudgetFactory.create(workspace=team.workspace, scope="person", limit_micro=10**12)
    resolved = resolve_model(endpoint, model, build_usage_owner(team), read_rules(team.workspace.id))
    request = ModelRequest(model, REQUEST.turns)
    with pytest.raises(PriceUnknown, match=f"^No price is known for {model}; an editor can set one.$") as error:
        reserve(resolved, request, holder_id=uuid4(), attempt=1)
    assert (error.value.refusal.budget_id, error.value.refusal.subject_name) == (budget.id, "Alice")
    assert (Reservation.objects.count(), Balance.objects.count()) == (0, 0)
    # A budget that ignores such models counts nothing, as does one in dollars beside one in tokens.
    Budget.objects.update(refuses_unpriced=False)
    reserve(resolved, request, holder_id=uuid4(), attempt=1)
    assert resolve_model(endpoint, model, build_usage_owner(team), read_rules(team.workspace.id)).budgets == ()


def test_the_price_of_a_model_that_the_operators_key_pays_is_set_by_an_operator(team):
    BudgetFactory.create(workspace=team.workspace)
    ModelPriceFactory.create(workspace=team.workspace)
    paid = Endpoint("openai_compatible", None, Secret(""), "system")
    with pytest.raises(PriceUnknown, match="an operator can set one"):
        reserve(resolve(team, build_usage_owner(team), paid), REQUEST, holder_id=uuid4(), attempt=1)


def test_a_model_that_is_listed_without_a_price_per_token_has_no_known_price(team):
    """litellm lists models that are billed by the request or in tiers without `input_cost_per_token`: they are not free."""
    BudgetFactory.create(workspace=team.workspace)
    endpoint = Endpoint("openai_compatible", "https://api.perplexity.ai", Secret(""), "workspace")
    name = "preset/pro-search"
    assert get_price(endpoint, name) is not None
    resolved = resolve_model(endpoint, name, build_usage_owner(team), read_rules(team.workspace.id))
    assert [budget.refuses_model for budget in resolved.budgets] == [True]
    assert estimate_usage(endpoint, ModelRequest(name, REQUEST.turns), "x").cost_micro is None


# --- budgets in tokens --------------------------------------------------------------------------------------------------


TOKENS = 118 + 440


def in_tokens(team, limit, **fields):
    return BudgetFactory.create(workspace=team.workspace, limit_micro=None, limit_tokens=limit, **fields)


@pytest.mark.parametrize("price", [None, SetPrice(0.0, 0.0), SetPrice(1.0, 2.0)])
def test_a_budget_in_tokens_limits_every_model(team, price):
    in_tokens(team, 2 * TOKENS + 5)
    endpoint = replace(ENDPOINT, price=price)
    for used in (TOKENS, 5):
        owner = build_usage_owner(team)
        model = resolve(team, owner, endpoint)
        reserve(model, REQUEST, holder_id=owner.run_id, attempt=1)
        with transaction.atomic():
            record_call(owner, model, Answer("x", "", (), Usage(used - 1, 1), "stop", "m"))
    reserve(model, REQUEST, holder_id=uuid4(), attempt=1)
    with pytest.raises(BudgetUsedUp) as error:
        reserve(model, REQUEST, holder_id=uuid4(), attempt=1)
    refusal = error.value.refusal
    assert (refusal.limit_tokens, refusal.spent_tokens) == (2 * TOKENS + 5, TOKENS + 5)
    assert (refusal.needed_tokens, refusal.left_tokens, refusal.needed_micro) == (TOKENS, 0, None)
    balance = Balance.objects.get()
    assert (balance.spent_tokens, balance.reserved_tokens) == (TOKENS + 5, TOKENS)


def test_a_budget_in_tokens_of_one_person_does_not_replace_that_in_dollars_of_each(team):
    BudgetFactory.create(workspace=team.workspace, scope="person", limit_micro=ONE)
    in_tokens(team, 10 * TOKENS, scope="person", subject=team.alice)
    ask(team)
    with pytest.raises(BudgetUsedUp) as error:
        ask(team)
    assert error.value.refusal.needed_micro == ONE
    assert sorted(Balance.objects.values_list("reserved_micro", "reserved_tokens")) == [(ONE, TOKENS)] * 2


def test_the_tokens_that_were_used_before_the_budget_was_set_count(team):
    LLMCallFactory.create(workspace=team.workspace, input_tokens=300, output_tokens=200)
    LLMCallFactory.create(workspace=team.workspace, input_tokens=10**6, paid_by="person")
    in_tokens(team, 500 + TOKENS)
    ask(team)
    assert Balance.objects.get().spent_tokens == 500
    with pytest.raises(BudgetUsedUp):
        ask(team)


# --- shorter answers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limit",
    [{"limit_micro": 118 + 2 * 300}, {"limit_micro": None, "limit_tokens": 118 + 300}],
    ids=["dollars", "tokens"],
)
def test_the_answer_is_shortened_to_what_is_left_before_a_request_is_refused(team, limit):
    budget = BudgetFactory.create(workspace=team.workspace, **limit)
    model = resolve(team, build_usage_owner(team))
    with pytest.raises(BudgetUsedUp):
        reserve(model, REQUEST, holder_id=uuid4(), attempt=1)
    sent = reserve(model, REQUEST, holder_id=uuid4(), attempt=1, may_shorten=True)
    assert dict(sent.parameters) == {"max_tokens": 300}
    balance = Balance.objects.get()
    assert (balance.reserved_micro, balance.reserved_tokens) == (118 + 2 * 300, 118 + 300)
    # Below the shortest answer, the request is refused with what that one would need.
    Balance.objects.update(reserved_micro=0, reserved_tokens=0)
    Budget.objects.filter(limit_tokens=None).update(limit_micro=117 + 2 * MIN_OUTPUT)
    Budget.objects.filter(limit_micro=None).update(limit_tokens=117 + MIN_OUTPUT)
    with pytest.raises(BudgetUsedUp) as error:
        reserve(model, REQUEST, holder_id=uuid4(), attempt=1, may_shorten=True)
    refusal, in_dollars = error.value.refusal, budget.limit_tokens is None
    needed, left = (
        (refusal.needed_micro, refusal.left_micro) if in_dollars else (refusal.needed_tokens, refusal.left_tokens)
    )
    assert (needed, left) == ((118 + 2 * MIN_OUTPUT, 117 + 2 * MIN_OUTPUT) if in_dollars else (374, 373))
    assert Reservation.objects.count() == 1


def test_an_answer_that_is_asked_to_be_short_is_not_shortened(team):
    BudgetFactory.create(workspace=team.workspace, limit_micro=118 + 2 * 100)
    model = resolve(team, build_usage_owner(team))
    short = replace(REQUEST, parameters={"max_tokens": 101})
    with pytest.raises(BudgetUsedUp):
        reserve(model, short, holder_id=uuid4(), attempt=1, may_shorten=True)
    exact = replace(REQUEST, parameters={"max_tokens": 100})
    assert reserve(model, exact, holder_id=uuid4(), attempt=1, may_shorten=True) is exact


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
@pytest.mark.parametrize("unit", ["dollars", "tokens"])
def test_RUN21_fifty_calls_at_once_reserve_a_budget_for_ten(team, scopes, unit):
    limit = {"limit_micro": 10 * ONE} if unit == "dollars" else {"limit_micro": None, "limit_tokens": 10 * TOKENS}
    for scope in scopes:
        BudgetFactory.create(workspace=team.workspace, scope=scope, **limit)

    def call(number):
        close_old_connections()
        try:
            ask(team, cost=ONE if number % 2 else None, tokens=TOKENS)
        except BudgetUsedUp:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(50) as threads:
        reserved = sum(threads.map(call, range(50)))
    assert reserved == 10
    for balance in Balance.objects.all():
        assert balance.spent_micro + balance.reserved_micro == 10 * ONE
        assert balance.spent_tokens + balance.reserved_tokens == 10 * TOKENS
    assert LLMCall.objects.count() * ONE == read_balances()[0][1]
