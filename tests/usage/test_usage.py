"""What the ledger says of a workspace: sums, who sees them, and the export."""

import csv
import io
import re
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from events.rows import UsageRow
from tests.api.client import Api
from tests.factories.agents import AgentSpecFactory
from tests.factories.usage import BalanceFactory, BudgetFactory, LLMCallFactory, ModelPriceFactory
from tests.people import make_agent
from usage import services as usage
from usage.api.csv_export import write_csv
from usage.models import Balance, Budget, LLMCall, ModelPrice
from usage.selectors import list_budgets

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


def read_usage(team, group="agent", *, by=None):
    return sign_in(by or team.alice)("GET", f"workspaces/{team.workspace.id}/usage?{NOVEMBER}&group={group}").json()


def test_the_sums_of_a_month(team, calls):
    run_id = uuid4()
    calls(run_id=run_id, model="a")
    calls(run_id=run_id, model="b", is_draft=True, cost_micro=50)
    calls(cost_micro=None, error_code="stopped")
    calls(paid_by="demo", cost_micro=0, error_code="server")
    LLMCallFactory.create(workspace=team.elsewhere, cost_micro=9)
    report = read_usage(team)
    expected = {
        "runs": 3,
        "calls": 4,
        "stopped_calls": 1,
        "failed_calls": 1,
        "unpriced_calls": 1,
        "input_tokens": 40,
        "output_tokens": 20,
        "cost_micro": 150,
        "draft_micro": 50,
        "pace_micro": None,
        "pace_until": None,
    }
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
    first, second = read_usage(team, "tree")["rows"]
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


@pytest.mark.parametrize("group", ["agent", "version", "person", "model", "tree"])
def test_the_number_of_queries_does_not_grow(team, calls, group, django_assert_num_queries):
    api = sign_in(team.alice)
    path = f"workspaces/{team.workspace.id}/usage?{NOVEMBER}&group={group}"
    count = 6 if group == "tree" else 5  # the agents of the chart
    calls()
    api("GET", path)
    with django_assert_num_queries(count):
        api("GET", path)
    for number in range(20):
        calls(day=number + 1, model=f"m{number}", agent=make_agent(team.workspace, team.alice, f"Agent {number}"))
    with django_assert_num_queries(count):
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


def export(team, group, *, by=None):
    path = f"workspaces/{team.workspace.id}/usage.csv?{NOVEMBER}&group={group}"
    answer = sign_in(by or team.alice)("GET", path)
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.content.decode().removeprefix("\ufeff"))))


@pytest.mark.parametrize("group", ["agent", "version", "person", "model", "tree"])
def test_the_sum_of_the_export_is_that_of_the_page(team, calls, group):
    for number in range(30):
        agent = make_agent(team.workspace, team.alice, f"Agent {number}")
        calls(
            day=number % 28 + 1, model=f"m{number}", agent=agent, spec=agent.current_spec, cost_micro=10**number % 997
        )
    calls(cost_micro=None)
    LLMCallFactory.create(workspace=team.workspace, step_number=0, cost_micro=5)
    LLMCall.objects.filter(run_id=None).update(created_at=datetime(2029, 11, 9, tzinfo=UTC))
    report, rows = read_usage(team, group), export(team, group)
    totals = report["totals"]
    assert len({(row["day"], row["id"]) for row in rows}) == len(rows)
    assert all(re.fullmatch(r"2029-11-\d\d", row["day"]) for row in rows)
    assert sum(round(float(row["cost in USD"]) * 1e6) for row in rows) == totals["cost_micro"] > 0
    for column, name in (("calls", "calls"), ("input tokens", "input_tokens"), ("runs", "runs")):
        assert sum(int(row[column]) for row in rows) == totals[name]
    for part in ("rows", "days"):
        assert sum(row["cost_micro"] for row in report[part]) == totals["cost_micro"]


def test_the_chart_has_the_largest_groups_and_one_row_for_the_others_of_each_day(team, calls):
    for number in range(15):
        calls(day=3, model=f"m{number:02}", cost_micro=1_000 - number)
    days = read_usage(team, "model")["days"]
    assert [row["key"] for row in days] == [*(f"m{number:02}" for number in range(12)), "others"]
    assert (days[-1]["calls"], days[-1]["cost_micro"]) == (3, 988 + 987 + 986)


def test_usage_by_version_has_one_row_for_each_version_and_one_for_the_applied_drafts(team, calls):
    first = team.robin.current_spec
    calls(spec=first, cost_micro=3)
    calls(spec=first, cost_micro=4)
    for number in range(2):
        draft = AgentSpecFactory.create(
            agent=team.robin, origin="applied", author=team.alice, prompt=f"r{number}", base_version=1
        )
        calls(spec=draft, is_draft=True, cost_micro=1)
    rows = read_usage(team, "version")["rows"]
    assert [(row["key"], row["name"], row["version"], row["cost_micro"]) for row in rows] == [
        (f"{team.robin.id}:1", team.robin.name, 1, 7),
        (f"{team.robin.id}:draft", team.robin.name, None, 2),
    ]
    assert [(row["name"], row["version"]) for row in export(team, "version")] == [("Robin", "1"), ("Robin", "")]


def test_an_export_with_too_many_rows_is_refused_and_not_cut(team, calls, monkeypatch):
    monkeypatch.setattr("usage.selectors.MAX_EXPORTED_ROWS", 2)
    calls(day=1)
    calls(day=2)
    assert len(export(team, "agent")) == 2
    calls(day=3)
    refused = sign_in(team.alice)("GET", f"workspaces/{team.workspace.id}/usage.csv?{NOVEMBER}")
    assert (refused.status_code, refused.json()["error"]["message"]) == (400, "This period has more than 2 rows.")


def test_a_suggester_exports_only_their_own_usage_of_people(team, calls):
    calls()
    calls(on_behalf_of=team.bob, cost_micro=7)
    assert [row["name"] for row in export(team, "person")] == ["Alice", "Bob"]
    assert [row["name"] for row in export(team, "person", by=team.bob)] == ["Bob"]


def test_the_budgets_of_a_workspace_and_what_is_spent(team, django_assert_num_queries):
    BalanceFactory.create(budget__workspace=team.workspace, spent_micro=7, reserved_micro=2)
    daily = BudgetFactory.create(workspace=team.workspace, scope="person", period="day")
    BalanceFactory.create(budget=daily, subject_id=team.alice.id, spent_micro=50)
    BalanceFactory.create(budget=daily, subject_id=team.bob.id, spent_micro=40)
    BudgetFactory.create(workspace=team.workspace, scope="person", subject=team.alice, period="month")
    path = f"workspaces/{team.workspace.id}/budgets"
    api = sign_in(team.alice)
    api("GET", path)
    with django_assert_num_queries(5):
        rows = api("GET", path).json()["results"]
    assert [(row["scope"], row["subject_name"], row["spent_micro"], row["reserved_micro"]) for row in rows] == [
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


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_budget_that_is_deleted_after_it_was_changed_is_not_found(team, monkeypatch, method):
    def delete_and_list(actor, workspace_id):
        usage.delete_budget(team.alice, Budget.objects.get().id)
        return list_budgets(actor, workspace_id)

    monkeypatch.setattr("usage.api.views.list_budgets", delete_and_list)
    if method == "POST":
        path = f"workspaces/{team.workspace.id}/budgets"
        body = {"scope": "workspace", "period": "day", "limit_micro": 9}
    else:
        path = f"budgets/{BudgetFactory.create(workspace=team.workspace).id}"
        body = {"limit_micro": 9, "revision": 1}
    answer = sign_in(team.alice)(method, path, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


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


@given(st.text("=+-@＝＋－＠;,|\t\r\n\"' a|", max_size=12))
@example("x;=1+1")
@example('x;"=1+1"')
@example("a\n=1+1")
@example(";\t =1+1")
def test_no_cell_of_the_export_is_a_formula_whatever_separates_the_cells_of_a_spreadsheet(name):
    sums = {"runs": 1, "calls": 1, "unpriced_calls": 0, "input_tokens": 1, "output_tokens": 1}
    text = write_csv([UsageRow(key="x", name=name, **sums, cost_micro=1, draft_micro=0)])
    for separator in ",;\t|":
        rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator)
        assert not [cell for row in rows for cell in row if cell.lstrip(' "').startswith(tuple("=+-@＝＋－＠"))]


@pytest.mark.parametrize("beginning", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_a_text_that_a_spreadsheet_would_execute_gets_an_apostrophe(beginning):
    sums = {"runs": 1, "calls": 1, "unpriced_calls": 0, "input_tokens": 1, "output_tokens": 1}
    row = UsageRow(key="x", name=f"{beginning}SUM(1)", **sums, cost_micro=1, draft_micro=0)
    _, [_, _, name, *_] = csv.reader(io.StringIO(write_csv([row]), newline=""))
    assert name == f"'{beginning}SUM(1)"
