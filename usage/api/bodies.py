"""The bodies and queries of requests about usage, budgets and prices."""

from datetime import date
from typing import Annotated
from uuid import UUID

from pydantic import Field

from common.providers import ProviderName
from common.request_types import Revision
from common.rest import Body
from events.payloads import BudgetPeriod, BudgetScope
from events.rows import UsageGroup
from usage.services.budgets import MAX_LIMIT_TOKENS, MAX_MICRO

Micro = Annotated[int, Field(ge=0, le=MAX_MICRO)]
LimitTokens = Annotated[int, Field(ge=0, le=MAX_LIMIT_TOKENS)]


class UsageQuery(Body):
    """The first and the last day, in the time zone of the workspace, and by what the rows are grouped."""

    starts_on: date
    ends_on: date
    group: UsageGroup = "agent"


class NewBudgetBody(Body):
    """`subject_id` null: the workspace, each person, each agent or each run. A budget has one limit: `limit_micro`, in millionths
    of a dollar, or `limit_tokens`, of questions and answers together.

    `refuses_unpriced`: whether a budget in dollars refuses calls of models whose price is not known. Otherwise it does not limit
    them.
    """

    scope: BudgetScope
    period: BudgetPeriod
    limit_micro: Micro | None = None
    limit_tokens: LimitTokens | None = None
    refuses_unpriced: bool = True
    subject_id: UUID | None = None


class BudgetBody(Body):
    """The limit is in the unit of the budget, which cannot be changed. `refuses_unpriced` null: as before."""

    limit_micro: Micro | None = None
    limit_tokens: LimitTokens | None = None
    refuses_unpriced: bool | None = None
    revision: Revision


class PriceBody(Body):
    """Amounts are in millionths of a dollar per million tokens. `model` empty: all models of the provider."""

    provider: ProviderName
    model: str = Field(default="", max_length=200)
    input_micro: Micro
    output_micro: Micro
