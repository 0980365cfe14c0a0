"""The budgets, prices and token factors that apply to a request. The query that claims a run also reads them (P1)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, Q
from django.db.models.expressions import Combinable
from django.db.models.functions import JSONObject

from actors.models import Actor
from common.ids import new_id
from events.payloads import BudgetPeriod, BudgetScope
from llm.endpoints import StoredSettings, build_keyless_endpoint, predict_model_choice
from llm.prices import is_free, is_price_known, reports_cost
from llm.protocol import Endpoint, SetPrice
from usage.models import Budget, ModelPrice, Payer, TokenFactor
from usage.owners import AppliedBudget, ResolvedModel, UsageOwner
from usage.periods import get_time_zone
from workspaces.models import Workspace

PER_TOKEN = 1_000_000
MIN_SAMPLES = 3
"""Requests from which a factor of tokens must be learnt before it is used."""
NO_RULES: Mapping[str, Any] = {"budgets": (), "prices": (), "factors": ()}
"""For an owner of usage without a workspace."""
FACTOR_FIELDS = ("provider", "model", "factor", "samples", "context_size", "context_server")
COUNTED_PAYERS = {True: (Payer.SYSTEM,), False: (Payer.SYSTEM, Payer.WORKSPACE)}
"""Whose payments a budget counts, by `by_operator`."""


def build_rules_expression(workspace: str) -> Combinable:
    """Return the expression for the budgets, prices and token factors of the workspace whose id is in the column `workspace`."""
    budgets = Budget.objects.filter(workspace=OuterRef(workspace))
    prices = ModelPrice.objects.filter(Q(workspace=OuterRef(workspace)) | Q(workspace=None))
    names = ("id", "scope", "period", "subject_id", "by_operator", "limit_tokens", "refuses_unpriced")
    budget_fields = {name: F(name) for name in (*names, "workspace__time_zone")}
    factors = TokenFactor.objects.filter(workspace=OuterRef(workspace))
    factor_fields = {name: F(name) for name in FACTOR_FIELDS}
    price_fields = {name: F(name) for name in ("workspace_id", "provider", "model", "input_micro", "output_micro")}
    return JSONObject(
        budgets=ArraySubquery(budgets.values(json=JSONObject(**budget_fields))),
        prices=ArraySubquery(prices.values(json=JSONObject(**price_fields))),
        factors=ArraySubquery(factors.values(json=JSONObject(**factor_fields))),
    )


def read_rules(workspace_id: UUID) -> dict[str, Any]:
    """Return the budgets, prices and token factors of a workspace, for `resolve_model`."""
    rows = Workspace.objects.filter(pk=workspace_id).annotate(rules=build_rules_expression("pk"))
    rules: dict[str, Any] = rows.values_list("rules", flat=True).get()
    return rules


def resolve_model(endpoint: Endpoint, name: str, owner: UsageOwner, rules: Mapping[str, Any]) -> ResolvedModel:
    """Return a model with its price, its factor of tokens, and the budgets that limit the owner's requests.

    Budgets in dollars do not limit a model that costs nothing. If the price of a model is not known and its server reports no
    costs, they refuse it, unless they are set to ignore it.
    """
    price = _find_price(rules["prices"], endpoint, name)
    endpoint = endpoint if price is None else replace(endpoint, price=price)
    resolved = _add_token_factor(ResolvedModel(endpoint, name), rules["factors"])
    if not rules["budgets"]:
        return resolved
    may_cost = not is_free(endpoint, name)
    is_counted = is_price_known(endpoint, name) or reports_cost(endpoint)
    budgets: list[AppliedBudget] = []
    for budget, applied in _choose_budgets(rules["budgets"], endpoint, owner):
        if budget["limit_tokens"] is not None or (may_cost and is_counted):
            budgets.append(applied)
        elif may_cost and budget["refuses_unpriced"]:
            budgets.append(replace(applied, refuses_model=True))
    return replace(resolved, budgets=tuple(budgets))


def predict_model(
    workspace: Workspace,
    agent: Actor,
    model: str,
    person: Actor | None,
    rules: Mapping[str, Any],
    *,
    stored: StoredSettings | None = None,
) -> ResolvedModel | None:
    """Return the model that answers if the agent's spec names `model` and a message of this person wakes it; null if the run fails
    before it reaches a budget. No key is decrypted. `stored`: see `predict_model_choice`."""
    choice = predict_model_choice(workspace, agent, model, person, stored=stored)
    if choice is None:
        return None
    owner = UsageOwner(workspace.id, person.id if person else None, tree_id=new_id(), agent_id=agent.id)
    return resolve_model(build_keyless_endpoint(choice), choice.model, owner, rules)


def _add_token_factor(model: ResolvedModel, factors: Iterable[Mapping[str, Any]]) -> ResolvedModel:
    """Return the model with the tokens that it counts for one of our estimate (`TokenFactor`), as soon as enough requests have
    shown them, and with its context size, if it is known and nobody has set it."""
    for learnt in factors:
        if (learnt["provider"], learnt["model"]) == (model.endpoint.provider, model.name[:200]):
            factor = learnt["factor"] if learnt["samples"] >= MIN_SAMPLES else None
            endpoint = model.endpoint
            if endpoint.context_size is None and learnt["context_server"] == (endpoint.api_base or ""):
                model = replace(model, endpoint=replace(endpoint, context_size=learnt["context_size"]))
            return replace(model, token_factor=factor, token_samples=learnt["samples"])
    return model


def _find_price(prices: Iterable[Mapping[str, Any]], endpoint: Endpoint, name: str) -> SetPrice | None:
    """Return the price that was set by the workspace, else by the operator; of these the one of the model, else of its provider."""
    matching = [
        price
        for price in prices
        if price["provider"] == endpoint.provider
        and price["model"] in (name, "")
        and (price["workspace_id"] is None or endpoint.paid_by != "system")
    ]
    if not matching:
        return None
    chosen = max(matching, key=lambda price: (price["workspace_id"] is not None, bool(price["model"])))
    return SetPrice(chosen["input_micro"] / PER_TOKEN, chosen["output_micro"] / PER_TOKEN)


def _choose_budgets(
    budgets: Iterable[Mapping[str, Any]], endpoint: Endpoint, owner: UsageOwner
) -> Iterable[tuple[Mapping[str, Any], AppliedBudget]]:
    """Yield the budgets that limit this owner. A budget for one person or agent replaces the budget in the same unit that
    applies to each of them."""
    subjects = {
        BudgetScope.WORKSPACE: owner.workspace_id,
        BudgetScope.PERSON: owner.on_behalf_of_id,
        BudgetScope.AGENT: owner.agent_id,
        BudgetScope.RUN_TREE: owner.tree_id,
    }
    chosen: dict[tuple[str, str, bool, bool], Mapping[str, Any]] = {}
    for budget in budgets:
        subject_id = subjects[BudgetScope(budget["scope"])]
        is_counted = endpoint.paid_by in COUNTED_PAYERS[budget["by_operator"]]
        if subject_id is None or not is_counted or budget["subject_id"] not in (None, str(subject_id)):
            continue
        key = (budget["scope"], budget["period"], budget["by_operator"], budget["limit_tokens"] is None)
        if budget["subject_id"] is not None or key not in chosen:
            chosen[key] = budget
    for budget in chosen.values():
        subject_id = subjects[BudgetScope(budget["scope"])]
        if subject_id is not None:
            time_zone = get_time_zone(budget["workspace__time_zone"], by_operator=budget["by_operator"])
            yield budget, AppliedBudget(UUID(budget["id"]), subject_id, BudgetPeriod(budget["period"]), time_zone)
