"""Views of a workspace's tools, their servers, and the policies for tools."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from common.rest import Page, Request, build_empty_response, build_list_response, build_response, read
from common.secrets import Secret
from events.rows import (
    AuthScheme,
    DocumentRow,
    OfferedToolRow,
    ServerKind,
    ToolJobRow,
    ToolServerRow,
    WorkspaceToolRow,
)
from tools import services as tools
from tools.api.bodies import (
    DocumentBody,
    ImportOperationsBody,
    NewServerBody,
    NewToolBody,
    PolicyBody,
    ServerBody,
    ToolApprovalBody,
    ToolBody,
    ToolTestBody,
)
from tools.models import WorkspaceTool
from tools.rows import build_offered_tool_row, build_server_row, build_workspace_tool_row
from tools.selectors import get_policies, get_tools, list_offered_tool_rows, list_server_rows
from tools.services import jobs
from tools.services.imports import ChosenOperation
from workspaces.permissions import WorkspaceVerb, get_workspace_for


class WorkspaceTools(APIView):
    @extend_schema(operation_id="list_workspace_tools", responses=Page[OfferedToolRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the tools that agents of a workspace can have."""
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        return build_list_response(list_offered_tool_rows(workspace.id))


class ToolPolicies(APIView):
    @extend_schema(operation_id="set_tool_policy", request=PolicyBody, responses=OfferedToolRow)
    def put(self, request: Request, workspace_id: UUID, tool: str) -> HttpResponse:
        """Set whether agents may use a tool, and whether they ask first."""
        row = tools.set_policy(request.user, workspace_id, tool, policy=read(request, PolicyBody).policy)
        found = get_tools(workspace_id, [row.tool])[row.tool]
        return build_response(build_offered_tool_row(found, get_policies(workspace_id)))


class Servers(APIView):
    @extend_schema(operation_id="list_tool_servers", responses=Page[ToolServerRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the tool servers of a workspace."""
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        return build_list_response(list_server_rows(workspace.id))


class NewServers(APIView):
    @extend_schema(operation_id="create_tool_server", request=NewServerBody, responses={201: ToolServerRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Create a server for HTTP tools."""
        body = read(request, NewServerBody)
        server = tools.create_server(
            request.user,
            workspace_id,
            kind=ServerKind(body.kind),
            name=body.name,
            base_url=body.base_url,
            auth=AuthScheme(body.auth),
            auth_name=body.auth_name,
            credential=Secret(body.credential),
            headers=body.headers,
        )
        return build_response(build_server_row(server, {}), 201)


class OneServer(APIView):
    @extend_schema(operation_id="change_tool_server", request=ServerBody, responses=ToolServerRow)
    def patch(self, request: Request, server_id: UUID) -> HttpResponse:
        """Change a tool server."""
        changes = {name: value for name, value in read(request, ServerBody) if value is not None}
        if "credential" in changes:
            changes["credential"] = Secret(changes["credential"])
        server = tools.change_server(request.user, server_id, **changes)
        return build_response(build_server_row(server, get_policies(server.workspace_id)))

    @extend_schema(operation_id="delete_tool_server", responses={204: None})
    def delete(self, request: Request, server_id: UUID) -> HttpResponse:
        """Delete a tool server with its tools."""
        tools.delete_server(request.user, server_id)
        return build_empty_response()


class ServerTools(APIView):
    @extend_schema(operation_id="create_workspace_tool", request=NewToolBody, responses={201: WorkspaceToolRow})
    def post(self, request: Request, server_id: UUID) -> HttpResponse:
        """Create an HTTP tool on a tool server."""
        tool = tools.create_tool(request.user, server_id, **dict(read(request, NewToolBody)))
        return build_response(_build_row(tool), 201)


class ServerOperations(APIView):
    @extend_schema(operation_id="import_operations", request=ImportOperationsBody, responses=Page[WorkspaceToolRow])
    def post(self, request: Request, server_id: UUID) -> HttpResponse:
        """Make tools of operations of an OpenAPI document that was read."""
        body = read(request, ImportOperationsBody)
        chosen = [ChosenOperation(**dict(one)) for one in body.operations]
        created = tools.import_operations(request.user, server_id, job_id=body.job_id, chosen=chosen)
        return build_list_response(_build_row(tool) for tool in created)


class OneTool(APIView):
    @extend_schema(operation_id="change_workspace_tool", request=ToolBody, responses=WorkspaceToolRow)
    def patch(self, request: Request, tool_id: UUID) -> HttpResponse:
        """Change a tool of a tool server."""
        changes = {name: value for name, value in read(request, ToolBody) if value is not None}
        return build_response(_build_row(tools.change_tool(request.user, tool_id, **changes)))

    @extend_schema(operation_id="delete_workspace_tool", responses={204: None})
    def delete(self, request: Request, tool_id: UUID) -> HttpResponse:
        """Delete a tool of a tool server."""
        tools.delete_tool(request.user, tool_id)
        return build_empty_response()


class ToolApproval(APIView):
    @extend_schema(operation_id="approve_workspace_tool", request=ToolApprovalBody, responses=WorkspaceToolRow)
    def put(self, request: Request, tool_id: UUID) -> HttpResponse:
        """Approve a tool of a tool server, as its definition was read."""
        body = read(request, ToolApprovalBody)
        return build_response(
            _build_row(tools.approve_tool(request.user, tool_id, definition_hash=body.hash, effect=body.effect))
        )


class ToolTest(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="test_workspace_tool", request=ToolTestBody, responses={202: ToolJobRow})
    def post(self, request: Request, tool_id: UUID) -> HttpResponse:
        """Start a test call of a tool."""
        job = jobs.start_tool_test(request.user, tool_id, arguments=read(request, ToolTestBody).arguments)
        return build_response(_build_job_row(job), 202)


class Documents(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="read_openapi_document", request=DocumentBody, responses={202: ToolJobRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Have an OpenAPI document read, to make tools of its operations."""
        body = read(request, DocumentBody)
        job = jobs.start_reading_document(request.user, workspace_id, url=body.url, text=body.text)
        return build_response(_build_job_row(job), 202)


class OneJob(APIView):
    @extend_schema(operation_id="read_tool_job", responses=ToolJobRow)
    def get(self, request: Request, workspace_id: UUID, job_id: UUID) -> HttpResponse:
        """Read the result of a tool's test or of the reading of a document."""
        return build_response(_build_job_row(jobs.get_tool_job(request.user, workspace_id, job_id)))


def _build_row(tool: WorkspaceTool) -> WorkspaceToolRow:
    return build_workspace_tool_row(tool, get_policies(tool.workspace_id))


def _build_job_row(job: jobs.ToolJob) -> ToolJobRow:
    """Return the row of a job. The text of a document is not returned: the client needs what was read of it."""
    return ToolJobRow(
        id=UUID(job.id),
        state=job.state,
        is_ok=job.is_ok,
        message=job.message,
        seconds=job.seconds,
        text=job.text if job.kind == "test" else "",
        document=DocumentRow.model_validate(job.document) if job.document else None,
    )
