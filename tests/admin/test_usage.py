"""The ledger, budgets and prices in the admin: what operators read, and what they may change."""

import re

import pytest

from actors.operators import Level
from actors.services import set_access_level
from events.models import AuditRecord
from tests.admin.environment import build_path, sign_in_as
from tests.factories.usage import BalanceFactory, BudgetFactory, LLMCallFactory, ModelPriceFactory, ReservationFactory
from usage.models import Balance, Budget, LLMCall, ModelPrice, Reservation
from usage.services.budgets import MAX_MICRO


def add_budget(environment, client=None, **fields):
    fields = {"workspace": environment.team.workspace.pk, "scope": "workspace", "period": "day"} | fields
    fields = {"limit_micro": "5", "refuses_unpriced": "on"} | fields
    return (client or environment.client).post(build_path(Budget, "add"), fields, follow=True)


def change(environment, row, client=None, **fields):
    return (client or environment.client).post(build_path(type(row), row.pk, "change"), fields, follow=True)


def delete(environment, row, client=None):
    return (client or environment.client).post(build_path(type(row), row.pk, "delete"), {"post": "yes"}, follow=True)


@pytest.mark.parametrize("level", [Level.READER, Level.OPERATOR])
def test_operators_and_readers_read_the_ledger_and_nobody_changes_it(environment, level):
    call = LLMCallFactory.create(workspace=environment.team.workspace, model="gpt-read", cost_micro=1_234_567)
    balance = BalanceFactory.create(budget__workspace=environment.team.workspace, spent_micro=7)
    reservation = ReservationFactory.create(balance=balance, holder_id=call.pk, amount_micro=3)
    set_access_level(environment.operator, environment.team.charlie, level=level)
    client = sign_in_as(environment.team.charlie)
    assert "$1.2346" in client.get(build_path(LLMCall)).text
    for row in (call, balance, reservation):
        assert client.get(build_path(type(row), row.pk, "change")).status_code == 200
        assert client.post(build_path(type(row), row.pk, "change"), {"cost_micro": 0}).status_code == 403
        assert delete(environment, row, client).status_code == 403
        assert client.get(build_path(type(row), "add")).status_code == 403
    assert LLMCall.objects.get().cost_micro == 1_234_567
    assert (Balance.objects.get().spent_micro, Reservation.objects.get().amount_micro) == (7, 3)


def test_an_operator_sets_changes_and_deletes_a_budget_which_is_audited(environment):
    add_budget(environment, scope="person", subject=environment.team.bob.pk)
    budget = Budget.objects.get()
    assert (budget.by_operator, budget.subject, budget.limit_micro) == (True, environment.team.bob, 5_000_000)
    page = environment.client.get(build_path(Budget, budget.pk, "change")).text
    assert re.search(r'name="limit_micro" value="5"', page)
    change(environment, budget, limit_micro="7.25", scope="agent")
    budget.refresh_from_db()
    assert (budget.limit_micro, budget.scope, budget.revision) == (7_250_000, "person", 2)
    assert budget.refuses_unpriced is False  # an unchecked box is not sent
    delete(environment, budget)
    assert not Budget.objects.exists()
    actions = AuditRecord.objects.filter(actor=environment.operator, object_id=budget.pk).order_by("pk")
    assert [record.action for record in actions if record.action != "admin.opened"] == [
        "budget.created",
        "budget.changed",
        "budget.deleted",
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"limit_micro": -1},
        {"limit_micro": MAX_MICRO // 10**6 + 1},
        {"limit_micro": "1.0000001"},
        {"limit_micro": "", "limit_tokens": -1},
        {"limit_micro": "", "limit_tokens": ""},
        {"limit_micro": "5", "limit_tokens": "5"},
        {"scope": "run_tree"},
        {"period": "run"},
        {"scope": "person", "subject": "charlie"},
        {"scope": "person", "subject": "robin"},
        {"scope": "workspace", "subject": "alice"},
        {"workspace": ""},
    ],
)
def test_a_budget_that_makes_no_sense_is_refused_with_a_reason(environment, fields):
    if name := fields.get("subject"):
        fields = fields | {"subject": environment.team[name].pk}
    page = add_budget(environment, **fields)
    assert page.status_code == 200
    assert 'id="budget_form"' in page.text
    assert not Budget.objects.exists()


def test_a_second_budget_for_the_same_calls_is_refused(environment):
    add_budget(environment)
    assert "There is such a budget already." in add_budget(environment).text
    assert Budget.objects.count() == 1
    add_budget(environment, limit_micro="", limit_tokens="2000000")  # in the other unit
    assert sorted(Budget.objects.values_list("limit_micro", "limit_tokens"), key=str) == [
        (5_000_000, None),
        (None, 2_000_000),
    ]
    assert "2,000,000 tokens" in environment.client.get(build_path(Budget)).text


def test_an_operator_reads_the_budgets_and_prices_of_editors_and_cannot_change_them(environment):
    budget = BudgetFactory.create(workspace=environment.team.workspace, limit_micro=5)
    price = ModelPriceFactory.create(workspace=environment.team.workspace)
    for row in (budget, price):
        assert environment.client.get(build_path(type(row), row.pk, "change")).status_code == 200
        assert change(environment, row, limit_micro=9, input_micro=9, output_micro=9).status_code == 403
        assert delete(environment, row).status_code == 403
    budget.refresh_from_db()
    price.refresh_from_db()
    assert (budget.limit_micro, budget.revision, price.input_micro, price.revision) == (5, 1, 1_000_000, 1)


def test_rows_of_editors_cannot_be_deleted_with_selected_rows_of_operators(environment):
    workspace = environment.team.workspace
    budgets = [BudgetFactory.create(workspace=workspace, by_operator=by_operator) for by_operator in (True, False)]
    prices = [ModelPriceFactory.create(workspace=of) for of in (None, workspace)]
    for rows in (budgets, prices):
        fields = {"action": "delete_selected", "_selected_action": [str(row.pk) for row in rows], "post": "yes"}
        answer = environment.client.post(build_path(type(rows[0])), fields, follow=True)
        assert "Editors have set this; only they change it." in answer.text
        assert type(rows[0]).objects.count() == 2
        of_operators = fields | {"_selected_action": [str(rows[0].pk)]}
        environment.client.post(build_path(type(rows[0])), of_operators, follow=True)
        assert [row.pk for row in type(rows[0]).objects.all()] == [rows[1].pk]


def test_a_price_of_an_operator_is_for_all_workspaces_and_within_limits(environment):
    path = build_path(ModelPrice, "add")
    fields = {"provider": "openai", "model": "gpt", "input_micro": "2", "output_micro": "0.3"}
    for wrong in ({"input_micro": -1}, {"output_micro": MAX_MICRO // 10**6 + 1}, {"provider": "none"}):
        assert environment.client.post(path, fields | wrong).status_code == 200
    assert not ModelPrice.objects.exists()
    environment.client.post(path, fields)
    price = ModelPrice.objects.get()
    assert (price.workspace, price.input_micro, price.output_micro) == (None, 2_000_000, 300_000)
    change(environment, price, input_micro="0.000004", output_micro="0", model="other")
    price.refresh_from_db()
    assert (price.model, price.input_micro, price.output_micro) == ("gpt", 4, 0)
    delete(environment, price)
    assert not ModelPrice.objects.exists()


def test_a_reader_sets_nothing(environment):
    set_access_level(environment.operator, environment.team.charlie, level=Level.READER)
    client = sign_in_as(environment.team.charlie)
    budget = BudgetFactory.create(workspace=environment.team.workspace, by_operator=True, limit_micro=5)
    assert add_budget(environment, client, scope="agent").status_code == 403
    assert change(environment, budget, client, limit_micro=9).status_code == 403
    assert delete(environment, budget, client).status_code == 403
    assert Budget.objects.get().limit_micro == 5
