"""The days and months of budgets, which begin at midnight in the time zone of the workspace, or in UTC."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import assert_never
from zoneinfo import ZoneInfo

from events.payloads import BudgetPeriod

OPERATOR_TIME_ZONE = "UTC"
"""The zone of budgets of operators. In the zone of the workspace, editors could begin a new period by changing the zone."""


@dataclass(frozen=True)
class PeriodBounds:
    """When a period begins and ends. All are null for the budget of a run."""

    starts_on: date | None
    starts_at: datetime | None
    ends_at: datetime | None


def get_time_zone(workspace_time_zone: str, *, by_operator: bool) -> str:
    """Return the time zone in which the days and months of a budget begin."""
    return OPERATOR_TIME_ZONE if by_operator else workspace_time_zone


def compute_bounds(period: BudgetPeriod, time_zone: str, at: datetime) -> PeriodBounds:
    """Return the day or month that contains a time; no bounds for the period of a run."""
    today = at.astimezone(ZoneInfo(time_zone)).date()
    match period:
        case BudgetPeriod.RUN:
            return PeriodBounds(None, None, None)
        case BudgetPeriod.DAY:
            first, after = today, today + timedelta(days=1)
        case BudgetPeriod.MONTH:
            first = today.replace(day=1)
            after = (first + timedelta(days=31)).replace(day=1)
        case _:
            assert_never(period)
    return PeriodBounds(first, get_midnight(first, time_zone), get_midnight(after, time_zone))


def get_midnight(day: date, time_zone: str) -> datetime:
    """Return the time at which a day begins in a time zone."""
    return datetime.combine(day, time(), ZoneInfo(time_zone))
