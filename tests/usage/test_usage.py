"""What the ledger says of a workspace: sums, who sees them, and the export."""

import csv
import io
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.api.client import Api
from tests.factories.usage import BalanceFactory, BudgetFactory, LLMCallFactory, ModelPriceFactory
from tests.people import make_agent
from usage.models import Balance, Budget, LLMCall, ModelPrice

NOVEMBER = "starts_on=2029-11-01&ends_on=2029-11-30"


@pytest.fixture
def calls(team):
    """Return a function that records a call at a time of November 2029, of robin for Alice."""

    def record(day=5, hour=12, **fields):
        run_id = fields.pop("run_id", uuid4())
        fields = {"agent": team.robin, "on_behalf_of": team.alice, "tree_id": run_id, "cost_micro": 100} | fields
        call = LLMCallFactory.create(
            workspace=team.workspace, run_id=run_id, input_tokens=10, output_tokens=5, **fields
        )
        LLMCall.objects.filter(pk=call.pk).update(created_at=datetime(2029, 11, day, hour, tzinfo=UTC))
        return call

    return record


def sign_in(person):
    api = Api()
    api.client.force_login(person)
    return api


def read_usage(team, group="agent", *, by=None, query=NOVEMBER):
    return sign_in(by or team.alice)("GET", f"workspaces/{team.workspace.id}/usage?{query}&group={group}").json()


def test_the_sums_of_a_month(team, calls):
    run_id = uuid4()
    calls(run_id=run_id, model="a")
    calls(run_id=run_id, model="b", is_draft=True, cost_micro=50)
    calls(cost_micro=None, error_code="stopped")
    calls(paid_by="demo", cost_micro=0, error_code="server")
    LLMCallFactory.create(workspace=team.elsewhere, cost_micro=9)
    report = read_usage(team)
    expected = {
        "runs": 3, "calls": 4, "stopped_calls": 1, "failed_calls": 1, "unpriced_calls": 1, "input_tokens": 40,
        "output_tokens": 20, "cost_micro": 150, "draft_micro": 50, "pace_micro": None, "pace_until": None,
    }  # fmt: skip
    assert report["totals"] == expected
    [row] = report["rows"]
    assert (row["name"], row["key"], row["models"]) == (team.robin.name, str(team.robin.id), ["a", "b", "gpt"])
    assert (row["runs"], row["cost_micro"], row["draft_micro"]) == (3, 150, 50)


def test_a_day_begins_at_midnight_in_the_time_zone_of_the_workspace(team, calls):
    team.workspace.time_zone = "Asia/Taipei"
    team.workspace.save()
    calls(day=4, hour=15)
    calls(day=4, hour=16)
    calls(day=30, hour=16)  # in December
    days = [(row["day"], row["cost_micro"]) for row in read_usage(team)["days"]]
    assert days == [("2029-11-04", 100), ("2029-11-05", 100)]


def test_a_chain_is_a_run_with_all_runs_that_it_starts(team, calls):
    helper = make_agent(team.workspace, team.alice, "Helper")
    tree_id = uuid4()
    calls(tree_id=tree_id)
    calls(tree_id=tree_id, agent=helper)
    calls()
    first, second = read_usage(team, "chain")["rows"]
    assert (first["runs"], first["cost_micro"], first["name"]) == (2, 200, f"Helper → {team.robin.name}")
    assert second["runs"] == 1


def test_a_suggester_sees_the_agents_and_their_own_usage_only(team, calls):
    calls()
    calls(on_behalf_of=team.bob, cost_micro=7)
    assert [row["name"] for row in read_usage(team, "person")["rows"]] == ["Alice", "Bob"]
    seen = read_usage(team, "person", by=team.bob)
    assert [(row["name"], row["cost_micro"]) for row in [*seen["rows"], *seen["days"]]] == [("Bob", 7), ("Bob", 7)]
    assert read_usage(team, by=team.bob)["rows"][0]["cost_micro"] == 107


def test_a_period_of_more_than_a_year_is_refused(team):
    refused = sign_in(team.alice)(
        "GET", f"workspaces/{team.workspace.id}/usage?starts_on=2029-01-01&ends_on=2030-01-02"
    )
    assert refused.status_code == 400
    refused = sign_in(team.alice)(
        "GET", f"workspaces/{team.workspace.id}/usage?starts_on=2029-01-02&ends_on=2029-01-01"
    )
    assert refused.status_code == 400


@pytest.mark.parametrize("group", ["agent", "person", "model", "chain"])
def test_the_number_of_queries_does_not_grow(team, calls, group, django_assert_num_queries):
    api = sign_in(team.alice)
    path = f"workspaces/{team.workspace.id}/usage?{NOVEMBER}&group={group}"
    calls()
    api("GET", path)
    with django_assert_num_queries(6):
        api("GET", path)
    for number in range(20):
        calls(day=number + 1, model=f"m{number}", agent=make_agent(team.workspace, team.alice, f"Agent {number}"))
    with django_assert_num_queries(6):
        api("GET", path)


def test_the_export_has_the_same_rows_and_no_formulas(team, calls):
    team.robin.name = "=HYPERLINK(1)"
    team.robin.save()
    calls(agent=make_agent(team.workspace, team.alice, "客服排班"), cost_micro=1_234_567, day=2)
    calls(model="@sum", cost_micro=1)
    answer = sign_in(team.alice)("GET", f"workspaces/{team.workspace.id}/usage.csv?{NOVEMBER}")
    assert answer["Content-Disposition"] == 'attachment; filename="usage-2029-11-01-2029-11-30.csv"'
    text = answer.content.decode()
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [(row["day"], row["name"], row["models"], row["cost in USD"]) for row in rows] == [
        ("2029-11-02", "客服排班", "gpt", "1.234567"),
        ("2029-11-05", "'=HYPERLINK(1)", "'@sum", "0.000001"),
    ]


def test_the_budgets_of_a_workspace_and_what_is_spent(team, django_assert_num_queries):
    BalanceFactory.create(budget__workspace=team.workspace, spent_micro=7, held_micro=2)
    each = BudgetFactory.create(workspace=team.workspace, scope="person", period="day")
    BalanceFactory.create(budget=each, subject_id=team.alice.id, spent_micro=50)
    BalanceFactory.create(budget=each, subject_id=team.bob.id, spent_micro=40)
    BudgetFactory.create(workspace=team.workspace, scope="person", subject=team.alice, period="month")
    path = f"workspaces/{team.workspace.id}/budgets"
    api = sign_in(team.alice)
    api("GET", path)
    with django_assert_num_queries(6):
        rows = api("GET", path).json()["results"]
    assert [(row["scope"], row["subject_name"], row["spent_micro"], row["held_micro"]) for row in rows] == [
        ("workspace", "", 7, 2),
        ("person", "Alice", 50, 0),
        ("person", "Alice", 0, 0),
    ]
    rows = sign_in(team.bob)("GET", path).json()["results"]
    assert [(row["subject_name"], row["spent_micro"]) for row in rows] == [("", 7), ("Bob", 40)]


def test_a_new_budget_contains_what_was_spent_before(team):
    LLMCallFactory.create(workspace=team.workspace, cost_micro=30)
    body = {"scope": "workspace", "period": "month", "limit_micro": 100}
    answer = sign_in(team.alice)("POST", f"workspaces/{team.workspace.id}/budgets", body)
    assert (answer.status_code, answer.json()["spent_micro"]) == (201, 30)
    again = sign_in(team.alice)("POST", f"workspaces/{team.workspace.id}/budgets", body)
    assert (again.status_code, Budget.objects.count(), Balance.objects.count()) == (409, 1, 1)


@pytest.mark.parametrize(
    "body",
    [
        {"scope": "run_tree", "period": "day"},
        {"scope": "agent", "period": "run"},
        {"scope": "workspace", "period": "day", "subject": "alice"},
        {"scope": "agent", "period": "day", "subject": "alice"},
        {"scope": "person", "period": "day", "subject": "charlie"},
        {"scope": "person", "period": "day", "limit_micro": -1},
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(team, body):
    subject = {"subject_id": str(team[body.pop("subject")].id)} if "subject" in body else {}
    body = {"limit_micro": 5} | body | subject
    assert sign_in(team.alice)("POST", f"workspaces/{team.workspace.id}/budgets", body).status_code == 400
    assert not Budget.objects.exists()


def test_editors_see_the_budget_of_an_operator_and_cannot_change_it(team):
    budget = BudgetFactory.create(workspace=team.workspace, by_operator=True, limit_micro=5)
    api = sign_in(team.alice)
    [row] = api("GET", f"workspaces/{team.workspace.id}/budgets").json()["results"]
    assert row["by_operator"] is True
    assert api("PATCH", f"budgets/{budget.id}", {"limit_micro": 9, "revision": 1}).status_code == 403
    assert api("DELETE", f"budgets/{budget.id}").status_code == 403
    assert Budget.objects.get().limit_micro == 5


def test_a_stale_change_of_a_budget_is_refused(team):
    budget = BudgetFactory.create(workspace=team.workspace, limit_micro=5)
    api = sign_in(team.alice)
    assert api("PATCH", f"budgets/{budget.id}", {"limit_micro": 9, "revision": 1}).json()["limit_micro"] == 9
    assert api("PATCH", f"budgets/{budget.id}", {"limit_micro": 7, "revision": 1}).status_code == 409
    assert Budget.objects.get().limit_micro == 9


def test_a_price_is_set_once_for_each_model(team):
    ModelPriceFactory.create(provider="openai")
    path = f"workspaces/{team.workspace.id}/prices"
    api = sign_in(team.alice)
    body = {"provider": "openai", "model": "gpt", "input_micro": 5, "output_micro": 6}
    api("PUT", path, body)
    api("PUT", path, body | {"output_micro": 7})
    rows = api("GET", path).json()["results"]
    assert [(row["model"], row["output_micro"], row["by_operator"]) for row in rows] == [
        ("", 2_000_000, True),
        ("gpt", 7, False),
    ]
    of_operator = next(row for row in rows if row["by_operator"])
    assert api("DELETE", f"prices/{of_operator['id']}").status_code == 404
    assert ModelPrice.objects.count() == 2
