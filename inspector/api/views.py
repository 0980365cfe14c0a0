"""Views of the runs of an agent, of one run, of its requests, and of what an agent sees."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from common.paging import get_page
from common.rest import Page, Request, build_list_response, build_query_parameters, build_response, read_query
from inspector import requests, selectors
from inspector.api.bodies import AgentRunsQuery
from inspector.rows import InspectedRunRow, RunInspectionRow, SentRequestRow, ViewpointRow


class AgentRuns(APIView):
    @extend_schema(
        operation_id="list_agent_runs",
        parameters=build_query_parameters(AgentRunsQuery),
        responses=Page[InspectedRunRow],
    )
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """List the runs of an agent in the reader's chats."""
        query = read_query(request, AgentRunsQuery)
        runs = selectors.list_runs_of_agent(request.user, agent_id, chat_id=query.chat, outcome=query.state)
        found, more = get_page(runs, query, by="-created_at")
        return build_list_response(selectors.build_inspected_run_rows(request.user, found), more)


class RunInspection(APIView):
    @extend_schema(operation_id="inspect_run", responses=RunInspectionRow)
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """Read what a run did, and why."""
        return build_response(selectors.get_run_inspection(request.user, run_id))


class OneSentRequest(APIView):
    @extend_schema(operation_id="read_sent_request", responses=SentRequestRow)
    def get(self, request: Request, run_id: UUID, request_id: UUID) -> HttpResponse:
        """Read a request that a run has sent to its model."""
        return build_response(requests.get_sent_request(request.user, run_id, request_id))


class Viewpoint(APIView):
    @extend_schema(operation_id="read_viewpoint", responses=ViewpointRow)
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Read what an agent sees: its chats, tools and memory."""
        return build_response(selectors.get_viewpoint(request.user, agent_id))
