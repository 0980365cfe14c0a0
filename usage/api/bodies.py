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
    starts_on: date
    """The first day, in the time zone of the workspace."""
    ends_on: date
    """The last day, in the time zone of the workspace."""
    group: UsageGroup = "agent"
    """By what the rows are grouped."""


class NewBudgetBody(Body):
    """A budget has one limit: `limit_micro` or `limit_tokens`."""

    scope: BudgetScope
    """Whose calls it limits: those of the workspace, of a person, of an agent, or of a run with all that it starts."""
    period: BudgetPeriod
    """How long it lasts. A day and a month begin at midnight in the time zone of the workspace."""
    limit_micro: Micro | None = None
    """The limit in millionths of a dollar."""
    limit_tokens: LimitTokens | None = None
    """The limit in tokens, of questions and answers together."""
    refuses_unpriced: bool = True
    """Whether a budget in dollars refuses calls of models whose price is not known. Otherwise it does not limit
    them."""
    subject_id: UUID | None = None
    """The person or agent; null: the workspace, each person, each agent or each run."""


class BudgetBody(Body):
    """The limit is in the unit of the budget, which cannot be changed."""

    limit_micro: Micro | None = None
    """The limit in millionths of a dollar."""
    limit_tokens: LimitTokens | None = None
    """The limit in tokens, of questions and answers together."""
    refuses_unpriced: bool | None = None
    """Whether a budget in dollars refuses calls of models whose price is not known; null: as before."""
    revision: Revision
    """The revision of the budget that was read."""


class PriceBody(Body):
    provider: ProviderName
    """The provider of the model."""
    model: str = Field(default="", max_length=200)
    """The name of the model. Empty: all models of the provider."""
    input_micro: Micro
    """Millionths of a dollar per million tokens that the model reads."""
    output_micro: Micro
    """Millionths of a dollar per million tokens that the model writes."""
