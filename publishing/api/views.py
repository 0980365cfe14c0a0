"""The directory of public agents; publishing, taking down and reporting them."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.rates import throttle
from agents.services.shipped import create_shipped_sub_agents
from common.paging import get_page
from common.rest import Page, Request, build_list_response, build_query_parameters, build_response, read, read_query
from events.rows import (
    AgentReportRow,
    ChatRow,
    DirectoryDetailRow,
    DirectoryRow,
    PublicationRow,
    PublicUseRow,
    SecretWarningRow,
    TakedownPreviewRow,
)
from publishing import selectors
from publishing import services as publishing
from publishing.api.bodies import (
    DirectoryQuery,
    ListingCheckBody,
    PublicationQuery,
    PublishBody,
    ReportBody,
    TakedownBody,
    TryBody,
    UpdatePublicationBody,
)
from publishing.permissions import get_public_agent


class Directory(APIView):
    @extend_schema(
        operation_id="list_directory",
        description="List the public agents, of all workspaces and of the release, for everybody who is signed in.",
        parameters=build_query_parameters(DirectoryQuery),
        responses=Page[DirectoryRow],
    )
    def get(self, request: Request) -> HttpResponse:
        query = read_query(request, DirectoryQuery)
        create_shipped_sub_agents()
        agents = selectors.list_directory(
            request.user,
            query=query.query,
            category=query.category,
            language=query.language,
            is_yours=query.yours,
            used_in=query.used_in,
        )
        page, cursor = get_page(agents, query, by=selectors.SORT_COLUMNS[query.sort], max_rows=50)
        return build_list_response(selectors.build_directory_rows(page), cursor)


class OnePublicAgent(APIView):
    @extend_schema(
        operation_id="read_public_agent",
        description="Read what a public agent does, its tools, typical costs and versions. Its prompt is not shown. The handle "
        "may be its id, or its name as a tool. If it was taken down, the answer is 404 with the code `taken_down` and the reason.",
        responses=DirectoryDetailRow,
    )
    def get(self, request: Request, handle: str) -> HttpResponse:
        create_shipped_sub_agents()
        return build_response(selectors.get_directory_detail(request.user, handle))


class TryPublicAgent(APIView):
    @extend_schema(
        operation_id="try_public_agent",
        description="Create a chat with a public agent in a workspace of the reader, which pays for its replies.",
        request=TryBody,
        responses={201: ChatRow},
    )
    def post(self, request: Request, handle: str) -> HttpResponse:
        body = read(request, TryBody)
        agent = get_public_agent(request.user, handle)
        return build_response(publishing.try_agent(request.user, agent.id, body.workspace_id).to_row(), 201)


class ReportPublicAgent(APIView):
    @extend_schema(
        operation_id="report_public_agent",
        description="Report a public agent to the operators, who see who has reported it.",
        request=ReportBody,
        responses={201: AgentReportRow},
    )
    def post(self, request: Request, handle: str) -> HttpResponse:
        body = read(request, ReportBody)
        agent = get_public_agent(request.user, handle)
        report = publishing.report_agent(request.user, agent.id, reason=body.reason, text=body.text)
        return build_response(report.to_row(), 201)


class Takedown(APIView):
    @extend_schema(
        operation_id="preview_takedown",
        description="Count whom a takedown affects. For editors of the workspace that published the agent.",
        responses=TakedownPreviewRow,
    )
    def get(self, request: Request, handle: str) -> HttpResponse:
        agent = get_public_agent(request.user, handle)
        return build_response(selectors.preview_takedown(request.user, agent.id))

    @extend_schema(
        operation_id="take_down_public_agent",
        description="Take a public agent down at once. Its chats keep their history; its name and handle are free again.",
        request=TakedownBody,
        responses={200: TakedownPreviewRow},
    )
    def post(self, request: Request, handle: str) -> HttpResponse:
        body = read(request, TakedownBody)
        agent = get_public_agent(request.user, handle)
        affected = selectors.preview_takedown(request.user, agent.id)
        publishing.take_down_agent(request.user, agent.id, reason=body.reason)
        return build_response(affected)


class Publish(APIView):
    @extend_schema(
        operation_id="publish_agent",
        description="Publish a version of an agent as a public agent: an independent copy that nobody can change.",
        request=PublishBody,
        responses={201: DirectoryDetailRow},
    )
    def post(self, request: Request, agent_id: UUID) -> HttpResponse:
        body = read(request, PublishBody)
        _take_publication(request)
        copy = publishing.publish_agent(request.user, agent_id, **dict(body))
        return build_response(selectors.get_directory_detail(request.user, str(copy.pk)), 201)


def _take_publication(request: Request) -> None:
    """Take one of the few publications of a person. Call it when the body has been checked: a typing error costs none."""
    throttle(("publications", request.user.pk))


class Publication(APIView):
    @extend_schema(
        operation_id="read_publication",
        description="Read the publication of an agent, and what would go along with the next one.",
        parameters=build_query_parameters(PublicationQuery),
        responses=PublicationRow,
    )
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        query = read_query(request, PublicationQuery)
        return build_response(selectors.get_publication(request.user, agent_id, **dict(query)))

    @extend_schema(
        operation_id="update_publication",
        description="Publish a version of an agent as the next version of its public agent, which stays in its chats.",
        request=UpdatePublicationBody,
        responses=DirectoryDetailRow,
    )
    def put(self, request: Request, agent_id: UUID) -> HttpResponse:
        body = read(request, UpdatePublicationBody)
        _take_publication(request)
        copy = publishing.update_published_agent(request.user, agent_id, **dict(body))
        return build_response(selectors.get_directory_detail(request.user, str(copy.pk)))


class ListingCheck(APIView):
    @extend_schema(
        operation_id="check_listing",
        description="Find what looks like a key or a password in the texts of a listing. Nothing is stored.",
        request=ListingCheckBody,
        responses=Page[SecretWarningRow],
    )
    def post(self, request: Request, agent_id: UUID) -> HttpResponse:
        body = read(request, ListingCheckBody)
        return build_list_response(selectors.check_listing(request.user, agent_id, **dict(body)))


class PublicUse(APIView):
    @extend_schema(
        operation_id="list_public_use",
        description="Count the use of the public agent on each of the last 30 days. Numbers only.",
        responses=Page[PublicUseRow],
    )
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        return build_list_response(selectors.list_public_use(request.user, agent_id))
