"""Random trees of runs, with several calls under way: the ledger is the sum of the usage, and no balance exceeds its budget, in
dollars or in tokens."""

import math
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
from tests.usage.test_budgets import ONE, REQUEST, TOKENS, build_usage_owner, in_tokens, resolve
from usage.errors import BudgetUsedUp
from usage.models import Balance, Budget, LLMCall, Reservation
from usage.owners import Amounts
from usage.services import record_call, release_reservations, reserve
from usage.services.reservations import MIN_OUTPUT

TREES = 4
INPUT = 117.5
"""Tokens of the question, with the margin. It costs 1 a token, and the answer 2."""


@dataclass(frozen=True)
class Start:
    """A run of this tree asks a model, whose answer may be shortened to fit into the budgets."""

    tree: int
    may_shorten: bool


@dataclass(frozen=True)
class Finish:
    """One of the calls under way ends like this, with this part of what it has reserved. A cut answer is requested again, as a new
    attempt."""

    which: int
    how: str
    share: float


@dataclass(frozen=True)
class Kill:
    """The process of one of the calls under way dies, and its reservation is released later: nobody knows its usage."""

    which: int


ENDS = ("answered", "usage estimated", "price unknown", "cut", "refused by the provider", "stopped")
EVENTS = st.one_of(
    st.builds(Start, st.integers(0, TREES - 1), st.booleans()),
    st.builds(Finish, st.integers(0, 9), st.sampled_from(ENDS), st.floats(0, 1)),
    st.builds(Kill, st.integers(0, 9)),
)


def build_result(how: str, cost: int, tokens: int) -> tuple[Answer | LLMError, Amounts]:
    """Return the end of a call, and what it has used."""
    usage = Usage(tokens, 0, cost)
    match how:
        case "answered":
            return Answer("x", "", (), usage, "stop", "m"), Amounts(cost, tokens)
        case "usage estimated":
            return Answer("x", "", (), replace(usage, estimated=True), "stop", "m"), Amounts(cost, tokens)
        case "price unknown":
            return Answer("x", "", (), Usage(tokens, 0), "stop", "m"), Amounts(0, tokens)
        case "cut":
            return LLMError("cut", "It broke off.", usage=usage, retryable=True), Amounts(cost, tokens)
        case "stopped":
            return LLMError("stopped", "", usage=replace(usage, estimated=True)), Amounts(cost, tokens)
        case _:
            return LLMError("server", "No."), Amounts(0, 0)


class Calls:
    """The calls of a workspace, and what the balances should be. `limits`: of the workspace, `tree_limits`: of each tree."""

    def __init__(self, team, limits: Amounts, tree_limits: Amounts) -> None:
        self.team = team
        self.limits, self.tree_limits = limits, tree_limits
        self.trees = [uuid4() for _ in range(TREES)]
        self.under_way: dict[Any, Amounts] = {}
        """What each call has reserved."""
        self.spent: dict[UUID, Amounts] = dict.fromkeys(self.trees, Amounts(0, 0))
        self.entries = 0

    def apply(self, event: Start | Finish | Kill) -> None:
        if isinstance(event, Start):
            owner = build_usage_owner(self.team, tree_id=self.trees[event.tree])
            self.start(owner, may_shorten=event.may_shorten)
        elif self.under_way:
            owner = list(self.under_way)[event.which % len(self.under_way)]
            reserved = self.under_way.pop(owner)
            if isinstance(event, Finish):
                self.finish(owner, event, reserved)
            else:
                dead = Reservation.objects.filter(holder_id=owner.run_id, attempt=owner.attempt)
                release_reservations(list(dead.values_list("pk", flat=True)))

    def start(self, owner: Any, *, may_shorten: bool = False) -> None:
        longest = self.compute_longest_answer(owner.tree_id)
        fits = longest >= (MIN_OUTPUT if may_shorten else 440)
        model, options = resolve(self.team, owner), {"holder_id": owner.run_id, "attempt": owner.attempt}
        try:
            sent = reserve(model, REQUEST, **options, may_shorten=may_shorten)
        except BudgetUsedUp:
            assert not fits
        else:
            assert fits
            output = sent.parameters["max_tokens"]
            assert output == min(440, longest)
            self.under_way[owner] = Amounts(math.ceil(INPUT + 2 * output), math.ceil(INPUT) + output)

    def compute_longest_answer(self, tree: UUID) -> Any:
        """Return the longest answer that all four budgets cover."""
        used = [self.sum(self.trees), self.sum([tree])]
        limits = (self.limits, self.tree_limits)
        by_cost = min(
            math.floor((limit.micro - each.micro - INPUT) / 2) for limit, each in zip(limits, used, strict=True)
        )
        by_tokens = min(limit.tokens - each.tokens - math.ceil(INPUT) for limit, each in zip(limits, used, strict=True))
        return min(by_cost, by_tokens)

    def sum(self, trees: list[UUID]) -> Any:
        """Return what these trees have spent and reserved."""
        amounts = [self.spent[tree] for tree in trees] + self.list_reserved(trees)
        return Amounts(sum(each.micro or 0 for each in amounts), sum(each.tokens or 0 for each in amounts))

    def list_reserved(self, trees: list[UUID]) -> list[Amounts]:
        return [amounts for owner, amounts in self.under_way.items() if owner.tree_id in trees]

    def finish(self, owner: Any, event: Finish, reserved: Any) -> None:
        used = [math.floor(event.share * amount) for amount in (reserved.micro, reserved.tokens)]
        result, spent = build_result(event.how, *used)
        with transaction.atomic():
            record_call(owner, resolve(self.team, owner), result)
        before: Any = self.spent[owner.tree_id]
        self.spent[owner.tree_id] = Amounts(before.micro + spent.micro, before.tokens + spent.tokens)
        self.entries += 1
        if event.how == "cut":
            self.start(replace(owner, attempt=owner.attempt + 1))

    def check(self) -> None:
        """Compare the tables with what they should be. No budget is exceeded at any time, not even by what is reserved."""
        used: dict[Any, Any] = {}
        for row in Balance.objects.select_related("budget"):
            in_dollars = row.budget.limit_tokens is None
            reserved = row.reserved_micro if in_dollars else row.reserved_tokens
            assert row.spent + reserved <= row.budget.limit
            amounts = (row.spent_micro, row.spent_tokens, row.reserved_micro, row.reserved_tokens)
            if any(amounts):
                used[row.budget.scope, row.subject_id, in_dollars] = amounts
        expected: dict[Any, Any] = {}
        subjects = [("workspace", self.team.workspace.id, self.trees)]
        subjects += [("run_tree", tree, [tree]) for tree in self.trees]
        for scope, subject, trees in subjects:
            sides = [self.spent[tree] for tree in trees], self.list_reserved(trees)
            amounts = tuple(sum(getattr(each, unit) for each in side) for side in sides for unit in ("micro", "tokens"))
            expected |= {(scope, subject, in_dollars): amounts for in_dollars in (True, False) if any(amounts)}
        assert used == expected
        assert Reservation.objects.count() == 4 * len(self.under_way)
        calls = list(LLMCall.objects.values_list("cost_micro", "input_tokens"))
        totals = (sum(cost or 0 for cost, _ in calls), sum(tokens for _, tokens in calls))
        spent = [(each.micro, each.tokens) for each in self.spent.values()]
        assert (len(calls), totals) == (self.entries, tuple(sum(side) for side in zip(*spent, strict=True)))


LIMITS = st.builds(Amounts, st.integers(ONE, 6 * ONE), st.integers(TOKENS, 6 * TOKENS))
TREE_LIMITS = st.builds(Amounts, st.integers(ONE, 4 * ONE), st.integers(TOKENS, 4 * TOKENS))


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENTS, max_size=30), limits=LIMITS, tree_limits=TREE_LIMITS)
def test_the_ledger_is_the_sum_of_the_usage_and_no_budget_is_exceeded(team, events, limits, tree_limits):
    Budget.objects.all().delete()
    LLMCall.objects.all().delete()
    BudgetFactory.create(workspace=team.workspace, limit_micro=limits.micro, period="month")
    BudgetFactory.create(workspace=team.workspace, scope="run_tree", period="run", limit_micro=tree_limits.micro)
    in_tokens(team, limits.tokens, period="month")
    in_tokens(team, tree_limits.tokens, scope="run_tree", period="run")
    calls = Calls(team, limits, tree_limits)
    for event in events:
        calls.apply(event)
        calls.check()
