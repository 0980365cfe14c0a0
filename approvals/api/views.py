"""Approvals: those that wait for the caller, and deciding about one."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from approvals import services as approvals
from approvals.api.bodies import DecideBody
from approvals.models import Approval
from approvals.permissions import ApprovalVerb, get_approval_for
from approvals.selectors import list_waiting_approvals
from common.paging import MAX_LARGE_ROWS, PAGE_PARAMETERS, answer_page
from common.rest import Page, Request, build_response, read
from events.rows import ApprovalRow


class WaitingApprovals(APIView):
    @extend_schema(operation_id="list_approvals", parameters=PAGE_PARAMETERS, responses=Page[ApprovalRow])
    def get(self, request: Request) -> HttpResponse:
        """List the approvals that wait for a decision of the reader."""
        waiting = list_waiting_approvals(request.user)

        def serialize(approvals: list[Approval]) -> list[ApprovalRow]:
            return [approval.to_row(request.user) for approval in approvals]

        return answer_page(request, waiting, by="-asked_at", serialize=serialize, max_rows=MAX_LARGE_ROWS)


class OneApproval(APIView):
    @extend_schema(operation_id="read_approval", responses=ApprovalRow)
    def get(self, request: Request, approval_id: UUID) -> HttpResponse:
        """Read an approval: the call or question of an agent that waits for a decision."""
        return build_response(get_approval_for(request.user, approval_id, ApprovalVerb.SEE).to_row(request.user))


class Decide(APIView):
    @extend_schema(operation_id="decide_approval", request=DecideBody, responses=ApprovalRow)
    def post(self, request: Request, approval_id: UUID) -> HttpResponse:
        """Approve or refuse the call of an agent, or answer its question."""
        body = read(request, DecideBody)
        decided = approvals.decide_approval(request.user, approval_id, **body.model_dump())
        return build_response(decided.to_row(request.user))
