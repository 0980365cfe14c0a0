"""Random trees of runs, with several calls under way: the ledger is the sum of the usage, and no balance exceeds its budget."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm.messages import Answer, Usage
from llm.protocol import LLMError
from tests.factories.usage import BudgetFactory
from tests.usage.test_budgets import ONE, REQUEST, build_usage_owner, resolve
from usage.errors import BudgetUsedUp
from usage.models import Balance, Budget, LLMCall, Reservation
from usage.services import record_call, release_reservations, reserve

TREES = 4


@dataclass(frozen=True)
class Start:
    """A run of this tree asks a model."""

    tree: int


@dataclass(frozen=True)
class Finish:
    """One of the calls under way ends like this, at this cost. A cut answer is requested again, as a new attempt."""

    which: int
    how: str
    cost: int


@dataclass(frozen=True)
class Kill:
    """The process of one of the calls under way dies, and its reservation is released later: nobody knows the cost."""

    which: int


ENDS = ("answered", "usage estimated", "price unknown", "cut", "refused by the provider", "stopped")
EVENTS = st.one_of(
    st.builds(Start, st.integers(0, TREES - 1)),
    st.builds(Finish, st.integers(0, 9), st.sampled_from(ENDS), st.integers(0, ONE)),
    st.builds(Kill, st.integers(0, 9)),
)


def build_result(how: str, cost: int) -> tuple[Answer | LLMError, int]:
    """Return the end of a call, and what it costs."""
    match how:
        case "answered":
            return Answer("x", "", (), Usage(1, 1, cost), "stop", "m"), cost
        case "usage estimated":
            return Answer("x", "", (), Usage(1, 1, cost, estimated=True), "stop", "m"), cost
        case "price unknown":
            return Answer("x", "", (), Usage(1, 1), "stop", "m"), 0
        case "cut":
            return LLMError("cut", "It broke off.", usage=Usage(1, 1, cost), retryable=True), cost
        case "stopped":
            return LLMError("stopped", "", usage=Usage(1, 1, cost, estimated=True)), cost
        case _:
            return LLMError("server", "No."), 0


class Calls:
    """The calls of a workspace, and what the balances should be."""

    def __init__(self, team, limit: int, tree_limit: int) -> None:
        self.team = team
        self.limit, self.tree_limit = limit, tree_limit
        self.trees = [uuid4() for _ in range(TREES)]
        self.under_way: list[Any] = []
        self.spent: dict[UUID, int] = dict.fromkeys(self.trees, 0)
        self.entries = 0

    def apply(self, event: Start | Finish | Kill) -> None:
        if isinstance(event, Start):
            self.start(build_usage_owner(self.team, tree_id=self.trees[event.tree]))
        elif self.under_way:
            owner = self.under_way.pop(event.which % len(self.under_way))
            if isinstance(event, Finish):
                self.finish(owner, event)
            else:
                dead = Reservation.objects.filter(holder_id=owner.run_id, attempt=owner.attempt)
                release_reservations(list(dead.values_list("pk", flat=True)))

    def start(self, owner: Any) -> None:
        reserved, reserved_of_tree = (ONE * len(calls) for calls in (self.under_way, self.list_calls_of(owner.tree_id)))
        fits = sum(self.spent.values()) + reserved + ONE <= self.limit
        fits = fits and self.spent[owner.tree_id] + reserved_of_tree + ONE <= self.tree_limit
        try:
            reserve(resolve(self.team, owner), REQUEST, holder_id=owner.run_id, attempt=owner.attempt)
        except BudgetUsedUp:
            assert not fits
        else:
            assert fits
            self.under_way.append(owner)

    def finish(self, owner: Any, event: Finish) -> None:
        result, cost = build_result(event.how, event.cost)
        with transaction.atomic():
            record_call(owner, resolve(self.team, owner), result)
        self.spent[owner.tree_id] += cost
        self.entries += 1
        if event.how == "cut":
            self.start(replace(owner, attempt=owner.attempt + 1))

    def list_calls_of(self, tree_id) -> list[Any]:
        return [owner for owner in self.under_way if owner.tree_id == tree_id]

    def check(self) -> None:
        """Compare the tables with what they should be. No budget is exceeded at any time, not even by what is reserved."""
        balances = {
            (row.budget.scope, row.subject_id): (row.spent_micro, row.reserved_micro, row.budget.limit_micro)
            for row in Balance.objects.select_related("budget")
        }
        assert all(spent + reserved <= limit for spent, reserved, limit in balances.values())
        used = {key: (spent, reserved) for key, (spent, reserved, _) in balances.items() if spent or reserved}
        expected = {("run_tree", tree): (self.spent[tree], ONE * len(self.list_calls_of(tree))) for tree in self.trees}
        expected["workspace", self.team.workspace.id] = (sum(self.spent.values()), ONE * len(self.under_way))
        assert used == {key: amounts for key, amounts in expected.items() if any(amounts)}
        assert Reservation.objects.count() == 2 * len(self.under_way)
        costs = list(LLMCall.objects.values_list("cost_micro", flat=True))
        assert (len(costs), sum(cost or 0 for cost in costs)) == (self.entries, sum(self.spent.values()))


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENTS, max_size=30), limit=st.integers(ONE, 6 * ONE), tree_limit=st.integers(ONE, 4 * ONE))
def test_the_ledger_is_the_sum_of_the_usage_and_no_budget_is_exceeded(team, events, limit, tree_limit):
    Budget.objects.all().delete()
    LLMCall.objects.all().delete()
    BudgetFactory.create(workspace=team.workspace, limit_micro=limit, period="month")
    BudgetFactory.create(workspace=team.workspace, scope="run_tree", period="run", limit_micro=tree_limit)
    calls = Calls(team, limit, tree_limit)
    for event in events:
        calls.apply(event)
        calls.check()
