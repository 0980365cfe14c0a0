"""Reserve the most that a call of a model may cost, and settle it when the cost is known (RUN21).

A reservation is a transaction of its own: the locks of the balances last until it is on the disk, so no call of a model may be
part of it. Locks are taken in the order of the balances' ids.
"""

import math
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q, Sum
from django.db.models.functions import Coalesce

from actors.models import Actor
from common.clock import now
from events.payloads import BudgetPeriod, BudgetRefusal, BudgetScope
from events.publish import publish_workspace_list_changed
from llm.context_window import estimate_tokens_of_turns
from llm.messages import ModelRequest
from llm.prices import get_price
from llm.tokens import estimate_tokens, format_tool
from usage.errors import BudgetUsedUp
from usage.hooks import budget_warning
from usage.models import Balance, Budget, LLMCall, Reservation
from usage.owners import AppliedBudget, ResolvedModel
from usage.periods import PeriodBounds, compute_bounds, get_time_zone
from usage.rules import COUNTED_PAYERS
from workspaces.models import Workspace

WARNING_SHARE = 0.8
"""The part of a budget after which the editors are warned."""
MAX_RESERVED_OUTPUT = 8_192
"""Tokens of the answer that are reserved at most, if the version of the agent sets no limit."""
INPUT_MARGIN = 1.25
"""By how much a request may have more tokens than estimated."""
RESERVATION_LIFETIME = timedelta(hours=2)
"""After this time, a reservation is released even if its run seems to be alive."""
TREE_BALANCE_LIFETIME = timedelta(days=30)
_SUBJECT_COLUMNS = {
    BudgetScope.WORKSPACE: "workspace_id",
    BudgetScope.PERSON: "on_behalf_of_id",
    BudgetScope.AGENT: "agent_id",
    BudgetScope.RUN_TREE: "tree_id",
}

_RESERVE = """
WITH wanted AS (
  SELECT * FROM unnest(%(budgets)s::uuid[], %(subjects)s::uuid[], %(starts)s::date[], %(ends)s::timestamptz[])
    AS w(budget_id, subject_id, starts_on, ends_at)
), locked AS MATERIALIZED (
  SELECT balance.id, budget.limit_micro - balance.spent_micro - balance.reserved_micro AS free
  FROM usage_balance AS balance JOIN usage_budget AS budget ON budget.id = balance.budget_id
  JOIN wanted AS w ON w.budget_id = balance.budget_id AND w.subject_id = balance.subject_id
    AND w.starts_on IS NOT DISTINCT FROM balance.starts_on AND w.ends_at IS NOT DISTINCT FROM balance.ends_at
  ORDER BY balance.id FOR UPDATE OF balance
), updated AS (
  UPDATE usage_balance AS balance SET reserved_micro = reserved_micro + %(amount)s FROM locked
  WHERE balance.id = locked.id AND (SELECT min(free) FROM locked) >= greatest(%(amount)s, 1)
    AND (SELECT count(*) FROM locked) = %(count)s
  RETURNING balance.id
), inserted AS (
  INSERT INTO usage_reservation (id, balance_id, holder_id, attempt, amount_micro, created_at, expires_at)
  SELECT gen_random_uuid(), updated.id, %(holder)s, %(attempt)s, %(amount)s, %(now)s, %(expires)s FROM updated
  RETURNING balance_id
)
SELECT locked.id, locked.free, (SELECT count(*) FROM inserted) FROM locked ORDER BY locked.free, locked.id
"""
_SETTLE = """
WITH deleted AS (
  DELETE FROM usage_reservation WHERE {condition} RETURNING balance_id, amount_micro
), amounts AS (
  SELECT balance_id, sum(amount_micro) AS amount FROM deleted GROUP BY balance_id
), locked AS MATERIALIZED (
  SELECT balance.id, balance.warned_at FROM usage_balance AS balance
  WHERE balance.id IN (SELECT balance_id FROM amounts) ORDER BY balance.id FOR UPDATE
), settled AS (
  UPDATE usage_balance AS balance SET reserved_micro = reserved_micro - amounts.amount, spent_micro = spent_micro + %(cost)s,
    warned_at = CASE WHEN warned_at IS NULL AND spent_micro + %(cost)s >= budget.limit_micro * %(share)s AND %(cost)s > 0
      THEN %(now)s ELSE warned_at END
  FROM amounts, usage_budget AS budget
  WHERE balance.id = amounts.balance_id AND budget.id = balance.budget_id AND (SELECT count(*) FROM locked) > 0
  RETURNING balance.id, balance.warned_at
)
SELECT settled.id FROM settled JOIN locked ON locked.id = settled.id
WHERE locked.warned_at IS NULL AND settled.warned_at IS NOT NULL
"""


def estimate_max_cost(model: ResolvedModel, request: ModelRequest) -> int:
    """Return the most that a request may cost, in millionths of a dollar; 0 if the price is known by the server only."""
    price = get_price(model.endpoint, model.name)
    if price is None:
        return 0
    tools = sum(estimate_tokens(format_tool(tool)) for tool in request.tools)
    tokens_in = (estimate_tokens_of_turns(request.turns) + tools) * INPUT_MARGIN
    tokens_out = request.parameters.get("max_tokens") or min(
        price.max_output or MAX_RESERVED_OUTPUT, MAX_RESERVED_OUTPUT
    )
    return math.ceil(tokens_in * price.input + tokens_out * price.output)


def reserve(model: ResolvedModel, request: ModelRequest, *, holder_id: UUID, attempt: int) -> None:
    """Reserve the most that a request may cost, in all budgets of the model or in none.

    Call it outside a transaction, immediately before the request. Raises `BudgetUsedUp`.
    """
    at, amount = now(), estimate_max_cost(model, request)
    bounds = {budget: compute_bounds(budget.period, budget.time_zone, at) for budget in model.budgets}
    while bounds:
        params: dict[str, Any] = {
            "budgets": [budget.id for budget in bounds],
            "subjects": [budget.subject_id for budget in bounds],
            "starts": [bound.starts_on for bound in bounds.values()],
            "ends": [bound.ends_at for bound in bounds.values()],
            "count": len(bounds),
            "amount": amount,
            "holder": holder_id,
            "attempt": attempt,
            "now": at,
            "expires": at + RESERVATION_LIFETIME,
        }
        with connection.cursor() as cursor:
            cursor.execute(_RESERVE, params)
            # Each row: id of the balance, what is left, number of reservations that were made. The least that is left comes first.
            rows = cursor.fetchall()
        if rows and rows[0][2]:
            return
        if len(rows) == len(bounds):
            raise BudgetUsedUp(_build_refusal(rows[0][0], amount))
        bounds = _create_balances(bounds)


def open_balance(budget: Budget) -> None:
    """Create the balance of a new budget of the workspace, one person or one agent, with what has been spent in this period."""
    period = BudgetPeriod(budget.period)
    time_zone = get_time_zone(budget.workspace.time_zone, by_operator=budget.by_operator)
    applied = AppliedBudget(budget.id, budget.subject_id or budget.workspace_id, period, time_zone)
    _create_balances({applied: compute_bounds(period, time_zone, now())})


@transaction.atomic
def _create_balances(bounds: dict[AppliedBudget, PeriodBounds]) -> dict[AppliedBudget, PeriodBounds]:
    """Create a balance for each of these budgets that has none. Return the budgets without those that were deleted meanwhile."""
    found = Budget.objects.select_for_update(no_key=True).order_by("pk").in_bulk([budget.id for budget in bounds])
    remaining = {applied: bound for applied, bound in bounds.items() if applied.id in found}
    rows = [
        Balance(
            budget_id=applied.id,
            subject_id=applied.subject_id,
            starts_on=bound.starts_on,
            ends_at=bound.ends_at,
            spent_micro=_sum_earlier_costs(found[applied.id], applied.subject_id, bound.starts_at),
        )
        for applied, bound in remaining.items()
    ]
    Balance.objects.bulk_create(rows, ignore_conflicts=True)
    return remaining


def _sum_earlier_costs(budget: Budget, subject_id: UUID, starts_at: datetime | None) -> int:
    """Return what the subject has spent in this period before its balance is created: before the budget was set, or before the
    time zone of the workspace was changed."""
    if starts_at is not None and budget.created_at <= starts_at:
        # A period that ends in this one was ended by a change of the time zone.
        earlier = Balance.objects.filter(budget=budget, subject_id=subject_id, ends_at__gt=starts_at)
        if not earlier.exists():
            return 0
    return _sum_costs(budget, [subject_id], starts_at).get(subject_id, 0)


def _sum_costs(budget: Budget, subject_ids: Collection[UUID], starts_at: datetime | None) -> dict[UUID, int]:
    """Return what each of these subjects has spent since `starts_at` by the ledger, in calls that the budget counts."""
    column = _SUBJECT_COLUMNS[BudgetScope(budget.scope)]
    calls = LLMCall.objects.filter(workspace_id=budget.workspace_id, paid_by__in=COUNTED_PAYERS[budget.by_operator])
    calls = calls.filter(**{f"{column}__in": subject_ids})
    if starts_at is not None:
        calls = calls.filter(created_at__gte=starts_at)
    totals = calls.values(column).annotate(total=Coalesce(Sum("cost_micro"), 0)).order_by()
    return dict(totals.values_list(column, "total"))


def move_balances(workspace: Workspace) -> None:
    """Move the present balances of the budgets that editors have set to the periods of another time zone, with their reservations.

    What is spent is what the ledger has since the period began: a call that is recorded meanwhile waits for the lock of its
    balance. A subject has several balances if runs were claimed before an earlier change of the time zone: the one with the most
    reserved is moved, and the others end.
    """
    at = now()
    balances = Balance.objects.filter(budget__workspace=workspace, budget__by_operator=False, ends_at__gt=at)
    locked = list(balances.select_related("budget").select_for_update(of=("self",)).order_by("pk"))
    moved: dict[tuple[UUID, UUID], Balance] = {}
    for balance in sorted(locked, key=lambda row: row.reserved_micro, reverse=True):
        first = moved.setdefault((balance.budget_id, balance.subject_id), balance)
        if first is not balance:
            # Each ends at another time: two that began on the same day may not have the same end (a constraint of `Balance`).
            at -= timedelta(microseconds=1)
            Balance.objects.filter(pk=balance.pk).update(ends_at=at)
    of_budgets: dict[Budget, list[Balance]] = {}
    for balance in moved.values():
        of_budgets.setdefault(balance.budget, []).append(balance)
    for budget, rows in of_budgets.items():
        bounds = compute_bounds(BudgetPeriod(budget.period), workspace.time_zone, now())
        costs = _sum_costs(budget, [row.subject_id for row in rows], bounds.starts_at)
        for row in rows:
            row.starts_on, row.ends_at = bounds.starts_on, bounds.ends_at
            row.spent_micro = costs.get(row.subject_id, 0)
            if row.spent_micro < budget.limit_micro * WARNING_SHARE:
                row.warned_at = None
        Balance.objects.bulk_update(rows, ["starts_on", "ends_at", "spent_micro", "warned_at"])


def _build_refusal(balance_id: UUID, amount: int) -> BudgetRefusal:
    balance = Balance.objects.select_related("budget__workspace").get(pk=balance_id)
    budget = balance.budget
    name = Actor.objects.filter(pk=balance.subject_id).values_list("name", flat=True).first()
    has_amounts = budget.scope != BudgetScope.PERSON  # all participants of the chat read the refusal
    return BudgetRefusal(
        budget_id=budget.id,
        scope=BudgetScope(budget.scope),
        period=BudgetPeriod(budget.period),
        subject_id=balance.subject_id,
        subject_name=name or "",
        limit_micro=budget.limit_micro if has_amounts else None,
        spent_micro=balance.spent_micro if has_amounts else None,
        needed_micro=amount,
        revision=budget.revision,
        ends_at=balance.ends_at,
        time_zone=get_time_zone(budget.workspace.time_zone, by_operator=budget.by_operator),
    )


def settle(holder_id: UUID, attempt: int, cost_micro: int) -> None:
    """Replace the reservation of a call by its cost. Call it in the transaction that writes the ledger entry.

    Calls the hook `budget_warning` for each budget of which `WARNING_SHARE` is spent for the first time in its period, and lets the
    web app read the budgets again.
    """
    condition = "holder_id = %(holder)s AND attempt = %(attempt)s"
    warned = _settle(condition, {"holder": holder_id, "attempt": attempt}, cost_micro)
    for balance in Balance.objects.filter(pk__in=warned).select_related("budget__workspace") if warned else ():
        if balance.ends_at is not None:
            budget_warning.call(balance)
            publish_workspace_list_changed(balance.budget.workspace_id, "budgets")


@transaction.atomic
def release_reservations(ids: Sequence[UUID]) -> None:
    """Release reservations of calls whose cost will not be known, because their process is dead or they have expired."""
    if ids:
        _settle("id = ANY(%(ids)s)", {"ids": list(ids)}, 0)


def _settle(condition: str, params: dict[str, Any], cost_micro: int) -> list[UUID]:
    with connection.cursor() as cursor:
        params |= {"cost": cost_micro, "share": WARNING_SHARE, "now": now()}
        cursor.execute(_SETTLE.format(condition=condition), params)
        return [row[0] for row in cursor.fetchall()]


def delete_old_balances() -> None:
    """Delete the balances of runs that began long ago."""
    old = Q(ends_at=None, created_at__lt=now() - TREE_BALANCE_LIFETIME, reservations=None)
    Balance.objects.filter(old).delete()


def list_expired_reservations() -> list[UUID]:
    """Return the ids of the reservations that have expired."""
    return list(Reservation.objects.filter(expires_at__lt=now()).values_list("pk", flat=True))
