"""MCP servers of a workspace: adding them, listing their tools again, and signing in there."""

from typing import Literal
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.views import APIView

from actors.auth import BySession, SignedIn
from common.errors import AppError
from common.request_types import Name
from common.rest import Body, Request, build_empty_response, build_response, read
from common.secrets import Secret
from events.rows import AuthScheme, Row, ServerKind, ToolServerRow
from tools.mcp import services
from tools.permissions import get_server_for
from tools.rows import build_server_row


class NewMCPServerBody(Body):
    name: Name
    """The name that people see."""
    base_url: str = Field(min_length=1, max_length=400)
    """The address of the server."""
    auth: Literal["none", "bearer", "header", "oauth"] = "none"
    """How the credential is sent. `oauth`: a person signs in at the server."""
    auth_name: str = Field(default="", max_length=80)
    """The header of the credential, if `auth` is `header`."""
    credential: str = Field(default="", max_length=4000)
    """The token. It is stored encrypted and never returned."""


class SignInRow(Row):
    """The address of the authorization server to which the browser goes."""

    url: str


class MCPServers(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="add_mcp_server", request=NewMCPServerBody, responses={201: ToolServerRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Add an MCP server. Its tools are listed, and off until they are approved."""
        body = read(request, NewMCPServerBody)
        server = services.add_mcp_server(
            request.user,
            workspace_id,
            name=body.name,
            base_url=body.base_url,
            auth=AuthScheme(body.auth),
            auth_name=body.auth_name,
            credential=Secret(body.credential),
        )
        return build_response(build_server_row(server, policies={}), 201)


class Refresh(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="refresh_mcp_server", request=None, responses={204: None})
    def post(self, request: Request, server_id: UUID) -> HttpResponse:
        """Have the tools of an MCP server listed again."""
        services.request_tool_listing(request.user, server_id)
        return build_empty_response()


class StartMCPSignIn(APIView):
    permission_classes = (SignedIn, BySession)
    person_buckets = ("jobs",)

    @extend_schema(operation_id="start_mcp_sign_in", request=None, responses=SignInRow)
    def post(self, request: Request, server_id: UUID) -> HttpResponse:
        """Start to sign in at an MCP server, in the browser of a person."""
        return build_response(SignInRow(url=services.start_sign_in(request.user, server_id, request.session)))


class SignInReturn(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(exclude=True)
    def get(self, request: Request, server_id: UUID) -> HttpResponse:
        """Take the browser back to the tools in the settings. If nothing came of the sign-in, the page says why."""
        reason: services.SignInFailure | None = None
        workspace_handle = services.get_sign_in_workspace_handle(request.session, server_id)  # the next call deletes it
        try:
            services.accept_sign_in(request.user, server_id, request.session, request.query_params)
        except services.SignInFailed as error:
            reason = error.reason
        except AppError:
            reason = "failed"
        try:
            handle = get_server_for(request.user, server_id, kind=ServerKind.MCP).workspace.handle
        except AppError:  # it is deleted, or the person may no longer manage it
            if workspace_handle is None:
                return HttpResponseRedirect("/")
            handle, reason = workspace_handle, "gone"
        path = f"/w/{handle}/settings?section=tools"
        return HttpResponseRedirect(f"{path}&sign_in_failure={reason}" if reason else path)
