"""Usage, budgets and prices of a workspace."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from common.errors import NotFound
from common.rest import (
    Page,
    Request,
    build_empty_response,
    build_list_response,
    build_query_parameters,
    build_response,
    read,
    read_query,
)
from events.rows import BudgetRow, ModelPriceRow, UsageReportRow
from usage import services as usage
from usage.api.bodies import BudgetBody, NewBudgetBody, PriceBody, UsageQuery
from usage.api.csv_export import write_csv
from usage.models import Budget
from usage.selectors import UsagePeriod, get_usage, iterate_exported_usage, list_budgets, list_prices


class WorkspaceUsage(APIView):
    @extend_schema(operation_id="read_usage", parameters=build_query_parameters(UsageQuery), responses=UsageReportRow)
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Read what a workspace has used, by day and group."""
        query = read_query(request, UsageQuery)
        period = UsagePeriod(query.starts_on, query.ends_on)
        return build_response(get_usage(request.user, workspace_id, period, query.group))


class UsageCSV(APIView):
    @extend_schema(
        operation_id="export_usage",
        parameters=build_query_parameters(UsageQuery),
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Download what a workspace has used, as CSV."""
        query = read_query(request, UsageQuery)
        period = UsagePeriod(query.starts_on, query.ends_on)
        rows = iterate_exported_usage(request.user, workspace_id, period, query.group)
        name = f"usage-{query.starts_on}-{query.ends_on}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(write_csv(rows), content_type="text/csv; charset=utf-8", headers=headers)


class Budgets(APIView):
    @extend_schema(operation_id="list_budgets", responses=Page[BudgetRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the budgets of a workspace."""
        return build_list_response(list_budgets(request.user, workspace_id))

    @extend_schema(operation_id="create_budget", request=NewBudgetBody, responses={201: BudgetRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Create a budget: what a workspace, person, agent or run may cost."""
        body = read(request, NewBudgetBody)
        budget = usage.create_budget(
            request.user,
            workspace_id,
            scope=body.scope,
            period=body.period,
            limit_micro=body.limit_micro,
            limit_tokens=body.limit_tokens,
            refuses_unpriced=body.refuses_unpriced,
            subject_id=body.subject_id,
        )
        return _answer_budget(request, budget, 201)


class OneBudget(APIView):
    @extend_schema(operation_id="change_budget", request=BudgetBody, responses=BudgetRow)
    def patch(self, request: Request, budget_id: UUID) -> HttpResponse:
        """Change the limit of a budget."""
        body = read(request, BudgetBody)
        budget = usage.change_budget(
            request.user,
            budget_id,
            limit_micro=body.limit_micro,
            limit_tokens=body.limit_tokens,
            refuses_unpriced=body.refuses_unpriced,
            revision=body.revision,
        )
        return _answer_budget(request, budget)

    @extend_schema(operation_id="delete_budget", responses={204: None})
    def delete(self, request: Request, budget_id: UUID) -> HttpResponse:
        """Delete a budget."""
        usage.delete_budget(request.user, budget_id)
        return build_empty_response()


class Prices(APIView):
    @extend_schema(operation_id="list_prices", responses=Page[ModelPriceRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the prices of models in a workspace."""
        return build_list_response([price.to_row() for price in list_prices(request.user, workspace_id)])

    @extend_schema(operation_id="set_price", request=PriceBody, responses=ModelPriceRow)
    def put(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Set the price of a model in a workspace."""
        body = read(request, PriceBody)
        price = usage.set_price(
            request.user,
            workspace_id,
            provider=body.provider,
            model=body.model.strip(),
            input_micro=body.input_micro,
            output_micro=body.output_micro,
        )
        return build_response(price.to_row())


class OnePrice(APIView):
    @extend_schema(operation_id="delete_price", responses={204: None})
    def delete(self, request: Request, price_id: UUID) -> HttpResponse:
        """Delete a price that the workspace has set for a model."""
        usage.delete_price(request.user, price_id)
        return build_empty_response()


def _answer_budget(request: Request, budget: Budget, status: int = 200) -> HttpResponse:
    """Return the row of a budget. Raises `NotFound` if it was deleted since it was changed."""
    rows = list_budgets(request.user, budget.workspace_id)
    row = next((row for row in rows if row.id == budget.id), None)
    if row is None:
        raise NotFound("Somebody has deleted this budget meanwhile.")
    return build_response(row, status)
