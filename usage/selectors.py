"""Reads of usage, budgets and prices."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Case, Count, F, IntegerField, Min, Q, QuerySet, Sum, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, TruncDate

from actors.models import Actor
from common.clock import now
from common.errors import Invalid
from events.payloads import BudgetPeriod, BudgetScope
from events.rows import BudgetRow, LLMCallRow, UsageGroup, UsageReportRow, UsageRow, UsageTotals
from usage.models import Balance, Budget, LLMCall, ModelPrice, TokenFactor
from usage.owners import Amounts, AppliedBudget
from usage.periods import compute_bounds, get_midnight, get_time_zone
from workspaces.models import Workspace
from workspaces.permissions import WorkspaceVerb, compute_workspace_verbs, get_workspace_for

MAX_DAYS = 366
MAX_GROUPS = 200
"""Rows of a report, those with the highest costs."""
MAX_DAY_GROUPS = 12
"""Groups that have rows of their own by day. The others are one row for each day, with the key `OTHERS`."""
OTHERS = "others"
MAX_EXPORTED_ROWS = 50_000
MAX_MODELS = 3
"""Names of models in a row."""
_COLUMNS: dict[UsageGroup, dict[str, Combinable]] = {
    "agent": {"key": F("agent_id"), "name": F("agent__name")},
    "version": {"key": F("agent_id"), "name": F("agent__name"), "version": F("spec__number")},
    "person": {"key": F("on_behalf_of_id"), "name": F("on_behalf_of__name")},
    "model": {"key": F("model"), "name": F("model")},
    "tree": {"key": F("tree_id")},
}
"""What the rows of a group have in common. The name of a tree is made of the names of its agents."""
# With a prefix, because a sum cannot have the name of a column.
_SUMS = {
    "total_runs": Count("run_id", distinct=True),
    "total_calls": Count("pk"),
    "total_unpriced_calls": Count("pk", filter=Q(cost_micro=None) & ~Q(paid_by="demo")),
    "total_input_tokens": Coalesce(Sum("input_tokens"), 0),
    "total_output_tokens": Coalesce(Sum("output_tokens"), 0),
    "total_cost_micro": Coalesce(Sum("cost_micro"), 0),
    "total_draft_micro": Coalesce(Sum("cost_micro", filter=Q(is_draft=True)), 0),
}


@dataclass(frozen=True)
class UsagePeriod:
    """Two days, both included, in the time zone of the workspace."""

    starts_on: date
    ends_on: date


def get_usage(actor: Actor, workspace_id: UUID, period: UsagePeriod, group: UsageGroup) -> UsageReportRow:
    """Return the usage of a workspace.

    With the group `person`, a member who may not see the usage of others gets only their own. Raises `NotFound`, `Forbidden`, and
    `Invalid` for a period of less than one day or more than `MAX_DAYS`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SEE)
    calls = _filter_calls(workspace, period)
    visible = _limit_to_visible(calls, actor, workspace, group)
    groups = list(_group(visible, group)[:MAX_GROUPS])
    # The chart of trees shows their agents, because most trees last a few minutes.
    shown: UsageGroup = "agent" if group == "tree" else group
    largest = list(_group(visible, shown)[:MAX_DAY_GROUPS]) if group == "tree" else groups[:MAX_DAY_GROUPS]
    return UsageReportRow(
        starts_on=period.starts_on,
        ends_on=period.ends_on,
        time_zone=workspace.time_zone,
        group=group,
        totals=_build_totals(calls, period, workspace.time_zone),
        rows=[_build_row(found, group) for found in groups],
        days=_list_days(visible, shown, largest, workspace.time_zone),
    )


def iterate_exported_usage(
    actor: Actor, workspace_id: UUID, period: UsagePeriod, group: UsageGroup
) -> Iterator[UsageRow]:
    """Yield the usage of each group on each day: all rows, so that their sum is that of the report.

    With the group `person`, a member who may not see the usage of others gets only their own. Raises `NotFound`, `Forbidden`, and
    `Invalid` for a period longer than `MAX_DAYS` or with more than `MAX_EXPORTED_ROWS` rows.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SEE)
    calls = _limit_to_visible(_filter_calls(workspace, period), actor, workspace, group)
    by_day = calls.annotate(day=TruncDate("created_at", tzinfo=ZoneInfo(workspace.time_zone)))
    rows = _group(by_day, group, "day").order_by("day", "-total_cost_micro", *_COLUMNS[group])
    for number, found in enumerate(rows.iterator(chunk_size=2_000)):
        if number == MAX_EXPORTED_ROWS:
            text = f"This period has more than {MAX_EXPORTED_ROWS} rows."
            raise Invalid(text, hints=["Choose a shorter period, or another group."])
        yield _build_row(found, group)


def _filter_calls(workspace: Workspace, period: UsagePeriod) -> QuerySet[LLMCall]:
    days = (period.ends_on - period.starts_on).days + 1
    if not 1 <= days <= MAX_DAYS:
        raise Invalid(f"A period has between 1 and {MAX_DAYS} days.")
    start = get_midnight(period.starts_on, workspace.time_zone)
    end = get_midnight(period.ends_on + timedelta(days=1), workspace.time_zone)
    return LLMCall.objects.filter(workspace=workspace, created_at__gte=start, created_at__lt=end)


def _limit_to_visible(
    calls: QuerySet[LLMCall], actor: Actor, workspace: Workspace, group: UsageGroup
) -> QuerySet[LLMCall]:
    if group != "person" or WorkspaceVerb.SEE_USAGE_OF_OTHERS in compute_workspace_verbs(workspace):
        return calls
    return calls.filter(on_behalf_of=actor)


def _group(calls: QuerySet[LLMCall], group: UsageGroup, *columns: str) -> Any:
    """Return the sums of each group as dictionaries, which `_build_row` reads, those with the highest costs first."""
    sums: dict[str, Any] = {"models": ArrayAgg("model", distinct=True, default=[]), **_SUMS}
    if group == "tree":
        sums["name"] = ArrayAgg("agent__name", distinct=True, filter=Q(agent__isnull=False), default=[])
        sums["first"] = Min("created_at", filter=Q(tree_id__isnull=False))
    grouped = calls.values(*columns, **_COLUMNS[group]).annotate(**sums)
    return grouped.order_by("-total_cost_micro", "-total_calls", *_COLUMNS[group])


def _list_days(
    calls: QuerySet[LLMCall], group: UsageGroup, largest: list[dict[str, Any]], time_zone: str
) -> list[UsageRow]:
    """Return the usage on each day of the groups `largest`, which `_group` has returned, and of all others together."""
    columns = {name: column for name, column in _COLUMNS[group].items() if name != "name"}
    cases = [
        When(
            Q(*((f"{name}__isnull", True) if row[name] is None else (name, row[name]) for name in columns)), then=index
        )
        for index, row in enumerate(largest)
    ]
    position = Case(*cases, default=len(largest), output_field=IntegerField())
    day = TruncDate("created_at", tzinfo=ZoneInfo(time_zone))
    grouped = calls.annotate(**columns).annotate(day=day, position=position).values("day", "position")
    sums = grouped.annotate(models=ArrayAgg("model", distinct=True, default=[]), **_SUMS).order_by("day", "position")
    groups = [*largest, {"key": OTHERS, "name": ""}]
    return [_build_row({**groups[found["position"]], **found}, group) for found in sums]


def _build_row(found: dict[str, Any], group: UsageGroup) -> UsageRow:
    key, name = str(found["key"] or ""), found["name"]
    is_version = group == "version" and key not in ("", OTHERS)
    return UsageRow(
        key=f"{key}:{found['version'] or 'draft'}" if is_version else key,
        name=" → ".join(name) if isinstance(name, list) else name or "",
        version=found["version"] if is_version else None,
        models=found["models"][:MAX_MODELS],
        day=found.get("day"),
        starts_at=found.get("first"),
        **_get_sums(found),
    )


def _get_sums(found: dict[str, Any]) -> dict[str, int]:
    """Return the sums of a row by their names in `UsageRow` and `UsageTotals`."""
    return {name.removeprefix("total_"): value for name, value in found.items() if name.startswith("total_")}


def _build_totals(calls: QuerySet[LLMCall], period: UsagePeriod, time_zone: str) -> UsageTotals:
    sums = calls.aggregate(
        **_SUMS,
        total_stopped_calls=Count("pk", filter=Q(error_code="stopped")),
        total_failed_calls=Count("pk", filter=~Q(error_code__in=["", "stopped"])),
    )
    start, end = get_midnight(period.starts_on, time_zone), get_midnight(period.ends_on + timedelta(days=1), time_zone)
    if not start < now() < end:
        return UsageTotals(**_get_sums(sums))
    pace = round(sums["total_cost_micro"] * ((end - start) / (now() - start)))
    return UsageTotals(**_get_sums(sums), pace_micro=pace, pace_until=period.ends_on)


def list_budgets(actor: Actor, workspace_id: UUID) -> list[BudgetRow]:
    """Return the budgets of a workspace, with what is spent now.

    A member who may not see the usage of others gets no budgets of other people. Raises `NotFound`, `Forbidden`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SEE)
    budgets = (
        Budget.objects.filter(workspace=workspace).select_related("subject").order_by("-by_operator", "created_at")
    )
    sees_others = WorkspaceVerb.SEE_USAGE_OF_OTHERS in compute_workspace_verbs(workspace)
    if not sees_others:
        budgets = budgets.filter(~Q(scope=BudgetScope.PERSON) | Q(subject=actor) | Q(subject=None))
    balances = _find_most_spent_balances(workspace, None if sees_others else actor)
    names = Actor.objects.filter(pk__in=[balance.subject_id for balance in balances.values()]).values_list("pk", "name")
    return [_build_budget_row(budget, balances.get(budget.id), dict(names), workspace) for budget in budgets]


def _find_most_spent_balances(workspace: Workspace, person: Actor | None) -> dict[UUID, Balance]:
    """Return for each budget the balance of the present period that has spent most: a budget may have one for each subject (person,
    agent or tree). With `person`, balances of other people are left out."""
    current = Q()
    for period, by_operator in product(BudgetPeriod, (False, True)):
        bounds = compute_bounds(period, get_time_zone(workspace.time_zone, by_operator=by_operator), now())
        of_period = Q(budget__period=period, budget__by_operator=by_operator)
        current |= of_period & Q(starts_on=bounds.starts_on, ends_at=bounds.ends_at)
    balances = Balance.objects.filter(current, budget__workspace=workspace)
    if person is not None:
        balances = balances.filter(~Q(budget__scope=BudgetScope.PERSON) | Q(subject_id=person.id))
    in_dollars = Q(budget__limit_tokens=None)
    spent = Case(When(in_dollars, then="spent_micro"), default="spent_tokens")
    reserved = Case(When(in_dollars, then="reserved_micro"), default="reserved_tokens")
    highest = balances.order_by("budget_id", spent.desc(), reserved.desc()).distinct("budget_id")
    return {balance.budget_id: balance for balance in highest}


def _build_budget_row(
    budget: Budget, balance: Balance | None, names: dict[UUID, str], workspace: Workspace
) -> BudgetRow:
    subject_name = budget.subject.name if budget.subject is not None else ""
    if balance is not None and not subject_name:
        subject_name = names.get(balance.subject_id, "")
    period = BudgetPeriod(budget.period)
    time_zone = get_time_zone(workspace.time_zone, by_operator=budget.by_operator)
    return BudgetRow(
        id=budget.id,
        scope=BudgetScope(budget.scope),
        period=period,
        subject_id=budget.subject_id,
        subject_name=subject_name,
        limit_micro=budget.limit_micro,
        spent_micro=balance.spent_micro if balance else 0,
        reserved_micro=balance.reserved_micro if balance else 0,
        limit_tokens=budget.limit_tokens,
        spent_tokens=balance.spent_tokens if balance else 0,
        reserved_tokens=balance.reserved_tokens if balance else 0,
        refuses_unpriced=budget.refuses_unpriced,
        ends_at=compute_bounds(period, time_zone, now()).ends_at,
        by_operator=budget.by_operator,
        revision=budget.revision,
    )


def compute_free_amounts(budgets: Collection[AppliedBudget]) -> dict[AppliedBudget, Amounts]:
    """Return what is left of each budget in its present period, in its unit. Deleted budgets are left out."""
    if not budgets:
        return {}
    limits = Budget.objects.in_bulk({budget.id for budget in budgets})
    subject_ids = {budget.subject_id for budget in budgets}
    present = Balance.objects.filter(budget__in=limits, subject_id__in=subject_ids).exclude(ends_at__lte=now())
    balances = {
        (row.budget_id, row.subject_id, row.starts_on, row.ends_at): row for row in present.select_related("budget")
    }
    free: dict[AppliedBudget, Amounts] = {}
    for budget in budgets:
        bounds = compute_bounds(budget.period, budget.time_zone, now())
        if budget.id in limits:
            key = (budget.id, budget.subject_id, bounds.starts_on, bounds.ends_at)
            balance = balances.get(key) or Balance(budget=limits[budget.id])  # nothing has been used
            free[budget] = balance.free
    return free


def list_prices(actor: Actor, workspace_id: UUID) -> QuerySet[ModelPrice]:
    """Return the prices of a workspace and those of the operator. Raises `NotFound`, `Forbidden`."""
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SEE)
    return ModelPrice.objects.filter(Q(workspace=workspace) | Q(workspace=None)).order_by("provider", "model", "pk")


def list_calls_of_run(run_id: UUID) -> list[LLMCallRow]:
    """Return the requests of a run to models, the oldest first. It checks no rights."""
    calls = LLMCall.objects.filter(run_id=run_id).select_related("agent").order_by("pk")
    return [call.to_row() for call in calls]


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return the budgets, prices and token factors (`TokenFactor`) of a deleted workspace. A listener of `collect_rows_to_purge`.

    The ledger stays: operators read in it what was paid.
    """
    models: tuple[Any, ...] = (Budget, ModelPrice, TokenFactor)
    return [model.objects.filter(workspace=workspace) for model in models]
