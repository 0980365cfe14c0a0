"""Reads of usage, budgets and prices."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, F, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDate

from actors.models import Actor
from common.clock import now
from common.errors import Invalid
from events.payloads import BudgetPeriod, BudgetScope
from events.rows import BudgetRow, LLMCallRow, UsageGroup, UsageReportRow, UsageRow, UsageTotals
from usage.models import Balance, Budget, LLMCall, ModelPrice
from usage.periods import compute_bounds, get_midnight
from workspaces.models import Workspace
from workspaces.permissions import WorkspaceVerb, compute_workspace_verbs, get_workspace_for

MAX_DAYS = 366
MAX_GROUPS = 200
"""Rows of a report, those with the highest costs."""
MAX_DAY_ROWS = 5_000
MAX_MODELS = 3
"""Names of models in a row."""
_KEYS: dict[UsageGroup, tuple[str, str]] = {
    "agent": ("agent_id", "agent__name"),
    "person": ("on_behalf_of_id", "on_behalf_of__name"),
    "model": ("model", "model"),
}
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

    A member who may not see the usage of others gets only their own of the groups of people. Raises `NotFound`, `Forbidden`, and
    `Invalid` for a period longer than `MAX_DAYS`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SEE)
    calls = _filter_calls(workspace, period)
    return UsageReportRow(
        starts_on=period.starts_on,
        ends_on=period.ends_on,
        time_zone=workspace.time_zone,
        group=group,
        totals=_build_totals(calls, period, workspace.time_zone),
        rows=_list_rows(_limit_to_visible(calls, actor, workspace, group), group),
        days=list_usage_by_day(actor, workspace, period, "agent" if group == "chain" else group),
    )


def list_usage_by_day(actor: Actor, workspace: Workspace, period: UsagePeriod, group: UsageGroup) -> list[UsageRow]:
    """Return the usage of each group on each day, for the actor for whom `get_workspace_for` returned the workspace."""
    calls = _limit_to_visible(_filter_calls(workspace, period), actor, workspace, group)
    by_day = calls.annotate(day=TruncDate("created_at", tzinfo=ZoneInfo(workspace.time_zone)))
    rows = _group(by_day, group, "day").order_by("day", "-total_cost_micro", "key")
    return [_build_row(row) for row in rows[:MAX_DAY_ROWS]]


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
    """Return the sums of each group as dictionaries, which `_build_row` reads."""
    models = ArrayAgg("model", distinct=True, default=[])
    if group == "chain":
        names = ArrayAgg("agent__name", distinct=True, filter=Q(agent__isnull=False), default=[])
        chains = calls.exclude(tree_id=None).values(*columns, key=F("tree_id"))
        return chains.annotate(name=names, models=models, first=Min("created_at"), **_SUMS)
    key, name = _KEYS[group]
    return calls.values(*columns, key=F(key), name=F(name)).annotate(models=models, **_SUMS)


def _list_rows(calls: QuerySet[LLMCall], group: UsageGroup) -> list[UsageRow]:
    rows = _group(calls, group).order_by("-total_cost_micro", "-total_calls", "key")
    return [_build_row(row) for row in rows[:MAX_GROUPS]]


def _build_row(found: dict[str, Any]) -> UsageRow:
    name = found["name"]
    return UsageRow(
        key=str(found["key"] or ""),
        name=" → ".join(name) if isinstance(name, list) else name or "",
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
        budgets = budgets.exclude(~Q(subject=actor), ~Q(subject=None), scope=BudgetScope.PERSON)
    balances = _find_highest_balances(workspace, None if sees_others else actor)
    names = Actor.objects.filter(pk__in=[balance.subject_id for balance in balances.values()]).values_list("pk", "name")
    return [_build_budget_row(budget, balances.get(budget.id), dict(names), workspace) for budget in budgets]


def _find_highest_balances(workspace: Workspace, person: Actor | None) -> dict[UUID, Balance]:
    """Return for each budget the balance of the present period of which most is spent. `person` not null: of other people none."""
    current = Q(starts_on=None)
    for period in (BudgetPeriod.DAY, BudgetPeriod.MONTH):
        bounds = compute_bounds(period, workspace.time_zone, now())
        current |= Q(starts_on=bounds.starts_on, budget__period=period)
    balances = Balance.objects.filter(current, budget__workspace=workspace)
    if person is not None:
        balances = balances.exclude(~Q(subject_id=person.id), budget__scope=BudgetScope.PERSON)
    highest = balances.order_by("budget_id", "-spent_micro", "-held_micro").distinct("budget_id")
    return {balance.budget_id: balance for balance in highest}


def _build_budget_row(
    budget: Budget, balance: Balance | None, names: dict[UUID, str], workspace: Workspace
) -> BudgetRow:
    subject_name = budget.subject.name if budget.subject is not None else ""
    if balance is not None and not subject_name:
        subject_name = names.get(balance.subject_id, "")
    period = BudgetPeriod(budget.period)
    return BudgetRow(
        id=budget.id,
        scope=BudgetScope(budget.scope),
        period=period,
        subject_id=budget.subject_id,
        subject_name=subject_name,
        limit_micro=budget.limit_micro,
        spent_micro=balance.spent_micro if balance else 0,
        held_micro=balance.held_micro if balance else 0,
        ends_at=compute_bounds(period, workspace.time_zone, now()).ends_at,
        by_operator=budget.by_operator,
        revision=budget.revision,
    )


def is_budget_used_up(workspace_id: UUID) -> bool:
    """Return whether a budget of the whole workspace, which its editors have set, has nothing left in its present period."""
    balances = Balance.objects.filter(
        budget__workspace=workspace_id,
        budget__scope=BudgetScope.WORKSPACE,
        budget__by_operator=False,
        budget__limit_micro__lte=F("spent_micro") + F("held_micro"),
        ends_at__gt=now(),
    )
    return balances.exists()


def list_prices(actor: Actor, workspace_id: UUID) -> QuerySet[ModelPrice]:
    """Return the prices of a workspace and those of the operator. Raises `NotFound`, `Forbidden`."""
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SEE)
    return ModelPrice.objects.filter(Q(workspace=workspace) | Q(workspace=None)).order_by("provider", "model", "pk")


def list_calls_of_run(run_id: UUID) -> list[LLMCallRow]:
    """Return the requests of a run to models, the oldest first. It checks no rights."""
    calls = LLMCall.objects.filter(run_id=run_id).select_related("agent").order_by("pk")
    return [call.to_row() for call in calls]
