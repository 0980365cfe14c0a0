"""Factories of the ledger, budgets and prices."""

from datetime import timedelta

from factory.declarations import LazyAttribute, LazyFunction, SelfAttribute, SubFactory
from factory.django import DjangoModelFactory

from common.clock import now
from events.payloads import BudgetPeriod
from usage.models import Balance, Budget, LLMCall, ModelPrice, Payer, Reservation, TokenFactor
from usage.periods import PeriodBounds, compute_bounds, get_time_zone


class LLMCallFactory(DjangoModelFactory[LLMCall]):
    """A request to a model that a workspace paid for."""

    class Meta:
        model = LLMCall

    step_number = 1
    attempt = 1
    provider = "openai"
    model = "gpt"
    paid_by = Payer.WORKSPACE


class TokenFactorFactory(DjangoModelFactory[TokenFactor]):
    """How many tokens a model of a workspace counts."""

    class Meta:
        model = TokenFactor

    provider = "openai"
    model = "gpt"
    factor = 1.2
    samples = 3


class BudgetFactory(DjangoModelFactory[Budget]):
    """A budget of a workspace for a day."""

    class Meta:
        model = Budget

    scope = "workspace"
    period = "day"
    limit_micro = 1_000_000


def _compute_bounds(budget: Budget) -> PeriodBounds:
    time_zone = get_time_zone(budget.workspace.time_zone, by_operator=budget.by_operator)
    return compute_bounds(BudgetPeriod(budget.period), time_zone, now())


class BalanceFactory(DjangoModelFactory[Balance]):
    """What is spent of a budget in its present period."""

    class Meta:
        model = Balance

    budget = SubFactory(BudgetFactory)
    subject_id = SelfAttribute("budget.workspace_id")
    starts_on = LazyAttribute(lambda row: _compute_bounds(row.budget).starts_on)
    ends_at = LazyAttribute(lambda row: _compute_bounds(row.budget).ends_at)
    spent_micro = 1_000


class ReservationFactory(DjangoModelFactory[Reservation]):
    """A reservation of a run."""

    class Meta:
        model = Reservation

    attempt = 1
    amount_micro = 0
    expires_at = LazyFunction(lambda: now() + timedelta(hours=1))


class ModelPriceFactory(DjangoModelFactory[ModelPrice]):
    """A price of an operator for all models of a provider."""

    class Meta:
        model = ModelPrice

    provider = "openai_compatible"
    input_micro = 1_000_000
    output_micro = 2_000_000
