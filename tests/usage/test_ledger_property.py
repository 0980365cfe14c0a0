"""Random trees of runs: what the report says is the sum of the usage, and no balance exceeds its budget."""

from uuid import uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm.messages import Answer, Usage
from tests.factories.usage import BudgetFactory
from tests.usage.test_budgets import ONE, REQUEST, build_caller, read_balances, resolve
from usage.errors import BudgetUsedUp
from usage.models import Balance, Budget, LLMCall
from usage.services import record_call, reserve

CALLS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, ONE)), max_size=25)


@pytest.mark.django_db
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=CALLS, limit=st.integers(ONE, 6 * ONE))
def test_the_ledger_is_the_sum_of_the_usage_and_no_budget_is_exceeded(team, calls, limit):
    Budget.objects.all().delete()
    LLMCall.objects.all().delete()
    BudgetFactory.create(workspace=team.workspace, limit_micro=limit)
    BudgetFactory.create(workspace=team.workspace, scope="run_tree", period="run", limit_micro=limit // 2 + ONE)
    trees = [uuid4() for _ in range(4)]
    spent = [0] * 4
    for tree, cost in calls:
        caller = build_caller(team, tree_id=trees[tree])
        model = resolve(team, caller)
        try:
            reserve(model, REQUEST, holder_id=caller.run_id, attempt=1)
        except BudgetUsedUp:
            continue
        with transaction.atomic():
            record_call(caller, model, Answer("x", "", (), Usage(1, 1, cost), "stop", "m"))
        spent[tree] += cost
    assert sum(call.cost_micro or 0 for call in LLMCall.objects.all()) == sum(spent) <= limit
    assert all(held == 0 for _, _, held in read_balances())
    found = dict(Balance.objects.filter(budget__scope="run_tree").values_list("subject_id", "spent_micro"))
    assert [found.get(tree, 0) for tree in trees] == spent
    assert max(spent) <= limit // 2 + ONE
