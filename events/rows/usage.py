"""The rows of usage: the ledger, prices and budgets. Amounts are in millionths of a dollar."""

from datetime import date, datetime
from typing import Literal
from uuid import UUID

from events.payloads import BudgetPeriod, BudgetScope, PaidBy
from events.row import Row

UsageGroup = Literal["agent", "version", "person", "model", "tree"]
"""By what the rows of usage are grouped. The applied drafts of an agent are one version. A tree is a run with all runs that it
starts."""


class UsageRow(Row):
    """The usage of one group on one day, or in the whole time if `day` is null. `key` is an id or the name
    of a model; empty for model tests and people whose account is gone, `others` for all groups that have no rows of their own by
    day. `version`: the number of a version; null for applied drafts and in other groups. `models`: the names of the models that
    were called. `starts_at`: when a tree began.

    `unpriced_calls`: calls of a model whose price is not known, which `cost_micro` does not contain.
    """

    key: str
    name: str
    version: int | None = None
    models: list[str] = []
    day: date | None = None
    starts_at: datetime | None = None
    runs: int
    calls: int
    unpriced_calls: int
    input_tokens: int
    output_tokens: int
    cost_micro: int
    draft_micro: int


class UsageTotals(Row):
    """The usage of the whole time. `pace_micro`: what it costs until `pace_until` if it goes on like this; null for a time that is
    over. `draft_micro`: what answers of applied drafts cost."""

    runs: int
    calls: int
    stopped_calls: int
    failed_calls: int
    unpriced_calls: int
    input_tokens: int
    output_tokens: int
    cost_micro: int
    draft_micro: int
    pace_micro: int | None = None
    pace_until: date | None = None


class UsageReportRow(Row):
    """The usage of a workspace between two days, both included: by group (`rows`) and, for a chart, by day
    and group (`days`), or by day and agent if the groups are trees."""

    starts_on: date
    ends_on: date
    time_zone: str
    group: UsageGroup
    totals: UsageTotals
    rows: list[UsageRow]
    days: list[UsageRow]


class LLMCallRow(Row):
    """One request to a model. `cost_micro` null: the price is not known."""

    id: UUID
    created_at: datetime
    agent_name: str
    provider: str
    model: str
    paid_by: PaidBy
    input_tokens: int
    output_tokens: int
    tokens_estimated: bool
    cost_micro: int | None
    tries: int
    seconds: float | None
    error_code: str


class BudgetRow(Row):
    """A budget, with what is spent of it now. A budget for each person, each agent (`subject_id` null) or each run has the amounts
    of the one that has spent most, whose name is `subject_name`. `ends_at`: when the period ends, and the next one begins.

    A budget has a limit in millionths of a dollar or in tokens; the other one is null. `refuses_unpriced`: whether a budget in
    dollars refuses calls of models whose price is not known."""

    id: UUID
    scope: BudgetScope
    period: BudgetPeriod
    subject_id: UUID | None
    subject_name: str
    limit_micro: int | None
    spent_micro: int
    reserved_micro: int
    limit_tokens: int | None
    spent_tokens: int
    reserved_tokens: int
    refuses_unpriced: bool
    ends_at: datetime | None
    by_operator: bool
    revision: int


class ModelPriceRow(Row):
    """A price of the workspace or, `by_operator`, of the operator, per million tokens. `model` empty: all models
    of the provider."""

    id: UUID
    provider: str
    model: str
    input_micro: int
    output_micro: int
    by_operator: bool
    revision: int
