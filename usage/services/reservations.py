"""Reserve the most that a call of a model may cost, and its tokens, and settle it when the usage is known (RUN21).

A reservation is a transaction of its own: the locks of the balances last until it is on the disk, so no call of a model may be
part of it. Locks are taken in the order of the balances' ids.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce

from actors.models import Actor
from common.clock import now
from events.payloads import BudgetPeriod, BudgetRefusal, BudgetScope
from events.publish import publish_workspace_list_changed
from llm.context_window import estimate_tokens_of_turns
from llm.messages import ModelRequest, Usage
from llm.prices import get_answer_size, get_price
from llm.tokens import estimate_tokens, format_tool
from usage.errors import BudgetUsedUp, PriceUnknown
from usage.hooks import budget_warning
from usage.models import Balance, Budget, LLMCall, Reservation
from usage.owners import Amounts, AppliedBudget, ResolvedModel
from usage.periods import PeriodBounds, compute_bounds, get_time_zone
from usage.rules import COUNTED_PAYERS
from workspaces.models import Workspace

WARNING_SHARE = 0.8
"""The part of a budget after which the editors are warned."""
MAX_RESERVED_OUTPUT = 8_192
"""Tokens of the answer that are reserved at most, if the version of the agent sets no limit."""
MIN_OUTPUT = 256
"""Tokens of an answer below which it is not shortened to fit into a budget: the request is refused instead."""
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
  SELECT balance.id, budget.limit_micro - balance.spent_micro - balance.reserved_micro AS free_micro,
    budget.limit_tokens - balance.spent_tokens - balance.reserved_tokens AS free_tokens
  FROM usage_balance AS balance JOIN usage_budget AS budget ON budget.id = balance.budget_id
  JOIN wanted AS w ON w.budget_id = balance.budget_id AND w.subject_id = balance.subject_id
    AND w.starts_on IS NOT DISTINCT FROM balance.starts_on AND w.ends_at IS NOT DISTINCT FROM balance.ends_at
  ORDER BY balance.id FOR UPDATE OF balance
), checked AS (
  SELECT id, free_micro, free_tokens, coalesce(free_micro >= greatest(%(micro)s, 1), true)
    AND coalesce(free_tokens >= greatest(%(tokens)s, 1), true) AS is_enough FROM locked
), updated AS (
  UPDATE usage_balance AS balance
  SET reserved_micro = reserved_micro + %(micro)s, reserved_tokens = reserved_tokens + %(tokens)s FROM checked
  WHERE balance.id = checked.id AND (SELECT bool_and(is_enough) FROM checked)
    AND (SELECT count(*) FROM checked) = %(count)s
  RETURNING balance.id
), inserted AS (
  INSERT INTO usage_reservation (id, balance_id, holder_id, attempt, amount_micro, amount_tokens, created_at, expires_at)
  SELECT gen_random_uuid(), updated.id, %(holder)s, %(attempt)s, %(micro)s, %(tokens)s, %(now)s, %(expires)s FROM updated
  RETURNING balance_id
)
SELECT id, free_micro, free_tokens, (SELECT count(*) FROM inserted) FROM checked
ORDER BY is_enough, free_micro, free_tokens, id
"""
_SETTLE = """
WITH deleted AS (
  DELETE FROM usage_reservation WHERE {condition} RETURNING balance_id, amount_micro, amount_tokens
), amounts AS (
  SELECT balance_id, sum(amount_micro) AS micro, sum(amount_tokens) AS tokens FROM deleted GROUP BY balance_id
), locked AS MATERIALIZED (
  SELECT balance.id, balance.warned_at FROM usage_balance AS balance
  WHERE balance.id IN (SELECT balance_id FROM amounts) ORDER BY balance.id FOR UPDATE
), settled AS (
  UPDATE usage_balance AS balance SET
    reserved_micro = reserved_micro - amounts.micro, spent_micro = spent_micro + %(cost)s,
    reserved_tokens = reserved_tokens - amounts.tokens, spent_tokens = spent_tokens + %(tokens)s,
    warned_at = CASE WHEN warned_at IS NULL AND (
        (spent_micro + %(cost)s >= budget.limit_micro * %(share)s AND %(cost)s > 0)
        OR (spent_tokens + %(tokens)s >= budget.limit_tokens * %(share)s AND %(tokens)s > 0))
      THEN %(now)s ELSE warned_at END
  FROM amounts, usage_budget AS budget
  WHERE balance.id = amounts.balance_id AND budget.id = balance.budget_id AND (SELECT count(*) FROM locked) > 0
  RETURNING balance.id, balance.warned_at
)
SELECT settled.id FROM settled JOIN locked ON locked.id = settled.id
WHERE locked.warned_at IS NULL AND settled.warned_at IS NOT NULL
"""


def estimate_max_usage(model: ResolvedModel, request: ModelRequest) -> Amounts:
    """Return the most that a request may use. The cost is 0 if it is not known before the server reports it."""
    return _sum_usage(model, _estimate_max_input(request), _get_max_output(model, request))


def shorten_answer(model: ResolvedModel, request: ModelRequest, tokens: int = MIN_OUTPUT) -> ModelRequest:
    """Return the request for an answer of at most so many tokens, and no more than it asks for now."""
    tokens = min(tokens, _get_max_output(model, request))
    return replace(request, parameters={**request.parameters, "max_tokens": tokens})


def _sum_usage(model: ResolvedModel, tokens_in: float, tokens_out: int) -> Amounts:
    price = get_price(model.endpoint, model.name)
    cost = tokens_in * price.input + tokens_out * price.output if price is not None else 0
    return Amounts(math.ceil(cost), math.ceil(tokens_in) + tokens_out)


def _estimate_max_input(request: ModelRequest) -> float:
    tools = sum(estimate_tokens(format_tool(tool)) for tool in request.tools)
    return (estimate_tokens_of_turns(request.turns) + tools) * INPUT_MARGIN


def _get_max_output(model: ResolvedModel, request: ModelRequest) -> int:
    asked: int | None = request.parameters.get("max_tokens")
    return asked or min(get_answer_size(model.endpoint, model.name) or MAX_RESERVED_OUTPUT, MAX_RESERVED_OUTPUT)


def _fit_answer(model: ResolvedModel, request: ModelRequest, left: Amounts) -> ModelRequest | None:
    """Return the request for the longest answer that so much covers; null if it is not shorter, or shorter than `MIN_OUTPUT`."""
    price, tokens_in, asked = (
        get_price(model.endpoint, model.name),
        _estimate_max_input(request),
        _get_max_output(model, request),
    )
    fitting = asked if left.tokens is None else left.tokens - math.ceil(tokens_in)
    if left.micro is not None and price is not None and price.output:
        fitting = min(fitting, math.floor((left.micro - tokens_in * price.input) / price.output))
    # Rounding must not make it more than what is left.
    while fitting >= MIN_OUTPUT and not left.covers(_sum_usage(model, tokens_in, fitting)):
        fitting -= max(1, fitting // 1_000)
    return shorten_answer(model, request, fitting) if MIN_OUTPUT <= fitting < asked else None


def reserve(
    model: ResolvedModel, request: ModelRequest, *, holder_id: UUID, attempt: int, may_shorten: bool = False
) -> ModelRequest:
    """Reserve the most that a request may use, in all budgets of the model or in none. Return the request that is to be sent.

    `may_shorten`: if the budgets have too little left for the answer that the request asks for, it asks for a shorter one
    (`MIN_OUTPUT` or more). Call it outside a transaction, immediately before the request. Raises `BudgetUsedUp`, `PriceUnknown`.
    """
    for budget in model.budgets:
        if budget.refuses_model and (refusal := build_price_refusal(model, budget)):
            raise PriceUnknown(refusal)
    at, shortest = now(), shorten_answer(model, request) if may_shorten else request
    counted = [budget for budget in model.budgets if not budget.refuses_model]
    bounds = {budget: compute_bounds(budget.period, budget.time_zone, at) for budget in counted}
    while bounds:
        amounts = estimate_max_usage(model, request)
        params: dict[str, Any] = {
            "budgets": [budget.id for budget in bounds],
            "subjects": [budget.subject_id for budget in bounds],
            "starts": [bound.starts_on for bound in bounds.values()],
            "ends": [bound.ends_at for bound in bounds.values()],
            "count": len(bounds),
            "micro": amounts.micro,
            "tokens": amounts.tokens,
            "holder": holder_id,
            "attempt": attempt,
            "now": at,
            "expires": at + RESERVATION_LIFETIME,
        }
        with connection.cursor() as cursor:
            cursor.execute(_RESERVE, params)
            # Each row: id of the balance, what is left (null in the other unit), number of reservations that were made. A balance
            # that has too little left comes first.
            rows = cursor.fetchall()
        if rows and rows[0][3]:
            return request
        if len(rows) < len(bounds):
            bounds = _create_balances(bounds)
            continue
        left = Amounts(*(min((row[unit] for row in rows if row[unit] is not None), default=None) for unit in (1, 2)))
        shorter = _fit_answer(model, request, left) if may_shorten else None
        if shorter is None:
            raise BudgetUsedUp(_build_refusal(rows[0][0], Amounts(*rows[0][1:3]), estimate_max_usage(model, shortest)))
        request = shorter
    return request


def build_error_of_cut_answer(
    model: ResolvedModel, request: ModelRequest, *, holder_id: UUID, attempt: int
) -> BudgetUsedUp | None:
    """Return the error of a request that was shortened by a budget, and whose answer cannot be used. It names the balance with the
    least left, and what `request`, which was not shortened, could have used. Call it before its reservation is settled.

    Null if the request has no reservation any more, because its budgets were deleted meanwhile.
    """
    needed = estimate_max_usage(model, request)
    found: list[tuple[bool, float, UUID, Amounts]] = []
    for row in Reservation.objects.filter(holder_id=holder_id, attempt=attempt).select_related("balance__budget"):
        left = row.balance.free
        before = Amounts(
            None if left.micro is None else left.micro + row.amount_micro,
            None if left.tokens is None else left.tokens + row.amount_tokens,
        )
        found.append((before.covers(needed), left.micro or left.tokens or 0, row.balance_id, left))
    if not found:
        return None
    *_, balance_id, left = min(found, key=lambda row: row[:3])
    return BudgetUsedUp(_build_refusal(balance_id, left, needed))


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
            **_sum_earlier_usage(found[applied.id], applied.subject_id, bound.starts_at),
        )
        for applied, bound in remaining.items()
    ]
    Balance.objects.bulk_create(rows, ignore_conflicts=True)
    return remaining


def _sum_earlier_usage(budget: Budget, subject_id: UUID, starts_at: datetime | None) -> dict[str, int]:
    """Return what the subject has spent in this period before its balance is created: before the budget was set, or before the
    time zone of the workspace was changed."""
    if starts_at is not None and budget.created_at <= starts_at:
        # A period that ends in this one was ended by a change of the time zone.
        earlier = Balance.objects.filter(budget=budget, subject_id=subject_id, ends_at__gt=starts_at)
        if not earlier.exists():
            return {}
    return _sum_usage_of_ledger(budget, [subject_id], starts_at).get(subject_id, {})


def _sum_usage_of_ledger(
    budget: Budget, subject_ids: Collection[UUID], starts_at: datetime | None
) -> dict[UUID, dict[str, int]]:
    """Return what each of these subjects has spent since `starts_at` by the ledger, in calls that the budget counts, by the names
    of the fields of `Balance`. Subjects without such calls are left out."""
    column = _SUBJECT_COLUMNS[BudgetScope(budget.scope)]
    calls = LLMCall.objects.filter(workspace_id=budget.workspace_id, paid_by__in=COUNTED_PAYERS[budget.by_operator])
    calls = calls.filter(**{f"{column}__in": subject_ids})
    if starts_at is not None:
        calls = calls.filter(created_at__gte=starts_at)
    totals = calls.values(column).annotate(
        spent_micro=Coalesce(Sum("cost_micro"), 0), spent_tokens=Sum(F("input_tokens") + F("output_tokens"))
    )
    return {row.pop(column): row for row in totals.order_by()}


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
        sums = _sum_usage_of_ledger(budget, [row.subject_id for row in rows], bounds.starts_at)
        for row in rows:
            spent = sums.get(row.subject_id, {})
            row.starts_on, row.ends_at = bounds.starts_on, bounds.ends_at
            row.spent_micro, row.spent_tokens = spent.get("spent_micro", 0), spent.get("spent_tokens", 0)
            if row.spent < budget.limit * WARNING_SHARE:
                row.warned_at = None
        fields = ["starts_on", "ends_at", "spent_micro", "spent_tokens", "warned_at"]
        Balance.objects.bulk_update(rows, fields)


def _build_refusal(balance_id: UUID, left: Amounts, needed: Amounts) -> BudgetRefusal:
    balance = Balance.objects.select_related("budget__workspace").get(pk=balance_id)
    budget = balance.budget
    unit = "micro" if budget.limit_tokens is None else "tokens"
    amounts = {"needed": getattr(needed, unit)}
    if budget.scope != BudgetScope.PERSON:  # all participants of the chat read the refusal
        amounts |= {"limit": budget.limit, "spent": balance.spent, "left": max(0, getattr(left, unit))}
    return BudgetRefusal(
        **_describe_budget(budget, balance.subject_id, balance.ends_at),
        **{f"{name}_{unit}": amount for name, amount in amounts.items()},
    )


def build_price_refusal(model: ResolvedModel, applied: AppliedBudget) -> BudgetRefusal | None:
    """Return the refusal of a model whose price is not known; null if the budget was deleted meanwhile, or ignores such models."""
    budget = Budget.objects.select_related("workspace").filter(pk=applied.id, refuses_unpriced=True).first()
    if budget is None:
        return None
    ends_at = compute_bounds(applied.period, applied.time_zone, now()).ends_at
    return BudgetRefusal(
        **_describe_budget(budget, applied.subject_id, ends_at),
        unpriced_model=model.name,
        price_set_by="operator" if model.endpoint.paid_by == "system" else "editor",
    )


def _describe_budget(budget: Budget, subject_id: UUID, ends_at: datetime | None) -> dict[str, Any]:
    name = Actor.objects.filter(pk=subject_id).values_list("name", flat=True).first()
    return {
        "budget_id": budget.id,
        "scope": BudgetScope(budget.scope),
        "period": BudgetPeriod(budget.period),
        "subject_id": subject_id,
        "subject_name": name or "",
        "revision": budget.revision,
        "ends_at": ends_at,
        "time_zone": get_time_zone(budget.workspace.time_zone, by_operator=budget.by_operator),
    }


def settle(holder_id: UUID, attempt: int, usage: Usage) -> None:
    """Replace the reservation of a call by what it has used. Call it in the transaction that writes the ledger entry.

    Calls the hook `budget_warning` for each budget of which `WARNING_SHARE` is spent for the first time in its period, and lets the
    web app read the budgets again.
    """
    condition = "holder_id = %(holder)s AND attempt = %(attempt)s"
    warned = _settle(condition, {"holder": holder_id, "attempt": attempt}, usage)
    for balance in Balance.objects.filter(pk__in=warned).select_related("budget__workspace") if warned else ():
        if balance.ends_at is not None:
            budget_warning.call(balance)
            publish_workspace_list_changed(balance.budget.workspace_id, "budgets")


@transaction.atomic
def release_reservations(ids: Sequence[UUID]) -> None:
    """Release reservations of calls whose cost will not be known, because their process is dead or they have expired."""
    if ids:
        _settle("id = ANY(%(ids)s)", {"ids": list(ids)}, Usage())


def _settle(condition: str, params: dict[str, Any], usage: Usage) -> list[UUID]:
    with connection.cursor() as cursor:
        params |= {"cost": usage.cost_micro or 0, "tokens": usage.input_tokens + usage.output_tokens}
        params |= {"share": WARNING_SHARE, "now": now()}
        cursor.execute(_SETTLE.format(condition=condition), params)
        return [row[0] for row in cursor.fetchall()]


def delete_old_balances() -> None:
    """Delete the balances of runs that began long ago."""
    old = Q(ends_at=None, created_at__lt=now() - TREE_BALANCE_LIFETIME, reservations=None)
    Balance.objects.filter(old).delete()


def list_expired_reservations() -> list[UUID]:
    """Return the ids of the reservations that have expired."""
    return list(Reservation.objects.filter(expires_at__lt=now()).values_list("pk", flat=True))
