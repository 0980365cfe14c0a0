"""Set budgets and prices: editors those of their workspace, operators those of a workspace and of the installation."""

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext

from actors.models import Actor, AgentStatus, Kind
from common.access import replace_not_found
from common.clock import now
from common.errors import Conflict, Forbidden, Invalid, NotFound, QuotaReached
from common.operators import check_operator
from common.providers import get_provider
from events import audit
from events.payloads import BudgetPeriod, BudgetScope
from events.publish import publish_workspace_list_changed
from usage.models import Budget, ModelPrice
from usage.services.reservations import WARNING_SHARE, open_balance
from workspaces.models import Workspace
from workspaces.permissions import WorkspaceVerb, get_workspace_for

MAX_MICRO = 10**15
"""The highest limit and price: a billion dollars."""
MAX_LIMIT_TOKENS = 10**15
ONE_LIMIT = "A budget has one limit, either in dollars or in tokens."
MAX_ROWS = 200
"""Budgets, and prices, of a workspace. Each claim of a run reads them."""
MISSING = "There is no such {}, or you may not see it."
"""The text of `replace_not_found`, so that a row of another workspace looks like a missing one (SEC1)."""
STALE = "Somebody else has changed it meanwhile."


@transaction.atomic
def create_budget(
    actor: Actor,
    workspace_id: UUID,
    *,
    scope: BudgetScope,
    period: BudgetPeriod,
    limit_micro: int | None = None,
    limit_tokens: int | None = None,
    refuses_unpriced: bool = True,
    subject_id: UUID | None = None,
    as_operator: bool = False,
) -> Budget:
    """Create a budget of a workspace: in millionths of a dollar or in tokens.

    `as_operator`: the actor is an operator; the budget counts what the operator's key pays, and editors cannot change it.
    Raises `NotFound`, `Forbidden`, `Invalid`, `QuotaReached`, and `Conflict` if there is a budget for the same calls and period.
    """
    workspace = _get_workspace(actor, workspace_id, as_operator=as_operator)
    if (scope == BudgetScope.RUN_TREE) != (period == BudgetPeriod.RUN):
        raise Invalid("A budget for a run has the period `run`; any other budget lasts a day or a month.")
    if (limit_micro is None) == (limit_tokens is None):
        raise Invalid(ONE_LIMIT, hints=["Set one budget in dollars and another in tokens."])
    _check_count(Budget.objects.filter(workspace=workspace, by_operator=as_operator))
    budget = Budget(
        workspace=workspace,
        scope=scope,
        period=period,
        subject=_get_subject(workspace, scope, subject_id),
        limit_micro=limit_micro,
        limit_tokens=limit_tokens,
        refuses_unpriced=refuses_unpriced,
        by_operator=as_operator,
    )
    try:
        with transaction.atomic():
            budget.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict("There is such a budget already.", hints=["Change its limit."]) from error
    if budget.subject_id is not None or scope == BudgetScope.WORKSPACE:
        open_balance(budget)
    _record(actor, "budget.created", budget, scope=scope, period=period, **_list_settings(budget))
    return budget


def _check_count(rows: QuerySet[Any]) -> None:
    if rows.count() >= MAX_ROWS:
        raise QuotaReached(f"There are {MAX_ROWS} already.", hints=["Delete one first."])


def _get_subject(workspace: Workspace, scope: BudgetScope, subject_id: UUID | None) -> Actor | None:
    """Return the member or the agent of the workspace that a budget is for, or null. Raises `Invalid`."""
    if subject_id is None:
        return None
    members = Actor.objects.filter(pk=subject_id, kind=Kind.HUMAN, memberships__workspace=workspace)
    agents = Actor.objects.filter(pk=subject_id, kind=Kind.AGENT, workspace=workspace).exclude(
        status=AgentStatus.DELETED
    )
    found: QuerySet[Actor] | None = {BudgetScope.PERSON: members, BudgetScope.AGENT: agents}.get(scope)
    subject = found.first() if found is not None else None
    if subject is None:
        raise Invalid("A budget of a person needs a member; one of an agent needs an agent of the workspace.")
    return subject


@transaction.atomic
def change_budget(
    actor: Actor,
    budget_id: UUID,
    *,
    limit_micro: int | None = None,
    limit_tokens: int | None = None,
    refuses_unpriced: bool | None = None,
    revision: int,
    as_operator: bool = False,
) -> Budget:
    """Change the limit of a budget, in its unit, and whether it refuses models without a known price (null: as before).

    The limit takes effect at the next call, the rest at the next run. If less than `WARNING_SHARE` of the new limit is spent, the
    editors are warned again once it is. Raises `NotFound`, `Forbidden`, `Invalid`, `Conflict`.
    """
    budget = _get_budget(actor, budget_id, as_operator=as_operator)
    in_tokens = budget.limit_tokens is not None
    if (limit_micro is not None) == in_tokens or (limit_tokens is None) == in_tokens:
        raise Invalid(ONE_LIMIT, hints=[f"The limit of this budget is in {'tokens' if in_tokens else 'dollars'}."])
    budget.limit_micro, budget.limit_tokens, budget.revision = limit_micro, limit_tokens, revision + 1
    if refuses_unpriced is not None:
        budget.refuses_unpriced = refuses_unpriced
    settings = _list_settings(budget)
    if not Budget.objects.filter(pk=budget.pk, revision=revision).update(revision=F("revision") + 1, **settings):
        raise Conflict(STALE, hints=["Look again, then change it."])
    spent = "spent_tokens" if in_tokens else "spent_micro"
    is_below = {"ends_at__gt": now(), f"{spent}__lt": budget.limit * WARNING_SHARE}
    budget.balances.filter(**is_below).update(warned_at=None)
    _record(actor, "budget.changed", budget, **settings)
    return budget


def _list_settings(budget: Budget) -> dict[str, Any]:
    """Return the values of a budget that can be changed; of its two limits, the one that it has."""
    if budget.limit_tokens is not None:
        return {"limit_tokens": budget.limit_tokens}
    return {"limit_micro": budget.limit_micro, "refuses_unpriced": budget.refuses_unpriced}


@transaction.atomic
def delete_budget(actor: Actor, budget_id: UUID, *, as_operator: bool = False) -> None:
    """Delete a budget; calls are not limited by it any more. Raises `NotFound`, `Forbidden`."""
    budget = _get_budget(actor, budget_id, as_operator=as_operator)
    _record(actor, "budget.deleted", budget)
    budget.delete()


def _get_budget(actor: Actor, budget_id: UUID, *, as_operator: bool) -> Budget:
    budget = Budget.objects.select_related("workspace", "subject").filter(pk=budget_id).first()
    if budget is None:
        raise NotFound(MISSING.format("budget"))
    _check_may_change(actor, budget, "budget", as_operator=as_operator)
    return budget


@transaction.atomic
def set_price(
    actor: Actor,
    workspace_id: UUID | None,
    *,
    provider: str,
    model: str,
    input_micro: int,
    output_micro: int,
) -> ModelPrice:
    """Set the price of a model, in millionths of a dollar per million tokens. It takes effect at the next run.

    `model` empty: of all models of the provider. `workspace_id` null: of all workspaces, which only an operator may set. Raises
    `NotFound`, `Forbidden`, `Invalid`, `QuotaReached`.
    """
    workspace = None
    if workspace_id is not None:
        # Locked, so that no other transaction adds a price between the count and the insertion.
        workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_BUDGETS, lock=True)
    else:
        check_operator(actor, ModelPrice)
    get_provider(provider)
    prices = ModelPrice.objects.filter(workspace=workspace)
    if not prices.filter(provider=provider, model=model).exists():
        _check_count(prices)
    amounts = {"input_micro": input_micro, "output_micro": output_micro}
    price, is_new = ModelPrice.objects.select_for_update().get_or_create(
        workspace=workspace, provider=provider, model=model, defaults=amounts
    )
    if not is_new:
        price.input_micro, price.output_micro, price.revision = input_micro, output_micro, price.revision + 1
        price.save()
    _record(actor, "price.set", price, provider=provider, model=model, **amounts)
    return price


@transaction.atomic
def delete_price(actor: Actor, price_id: UUID, *, as_operator: bool = False) -> None:
    """Delete a price. Then the next one applies: the price of the workspace before that of the operator, the price of the model
    before that of its provider; without any, litellm's list. Raises `NotFound`, `Forbidden`."""
    price = ModelPrice.objects.filter(pk=price_id).first()
    if price is None:
        raise NotFound(MISSING.format("price"))
    _check_may_change(actor, price, "price", as_operator=as_operator)
    _record(actor, "price.deleted", price, provider=price.provider, model=price.model)
    price.delete()


def _get_workspace(actor: Actor, workspace_id: UUID, *, as_operator: bool) -> Workspace:
    """Return the workspace, locked, so that no other transaction adds a budget after the count. Raises `NotFound`, `Forbidden`."""
    if not as_operator:
        return get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_BUDGETS, lock=True)
    check_operator(actor, Budget)
    workspace = Workspace.objects.select_for_update(no_key=True).filter(pk=workspace_id).first()
    if workspace is None:
        raise NotFound("There is no such workspace.")
    return workspace


def _check_may_change(actor: Actor, row: Budget | ModelPrice, what: str, *, as_operator: bool) -> None:
    """Check that the actor may change the row. Raises `Forbidden`, and `NotFound` if the actor may not know of the row."""
    if as_operator:
        check_operator(actor, type(row))
        if not (row.by_operator if isinstance(row, Budget) else row.workspace_id is None):
            raise Forbidden(gettext("Editors have set this; only they change it."))
        return
    if row.workspace_id is None:
        raise NotFound(MISSING.format(what))
    with replace_not_found(what):
        get_workspace_for(actor, row.workspace_id, WorkspaceVerb.SET_BUDGETS)
    if isinstance(row, Budget) and row.by_operator:
        raise Forbidden("An operator has set this budget.", hints=["Ask the operators of this installation."])


def _record(actor: Actor, action: str, row: Budget | ModelPrice, **facts: Any) -> None:
    audit.record(actor, action, workspace_id=row.workspace_id, object_id=row.id, **facts)
    if row.workspace_id is not None:
        publish_workspace_list_changed(row.workspace_id, "budgets")
