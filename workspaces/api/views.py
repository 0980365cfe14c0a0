"""Workspaces, their members, and the model of their agents."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import ConfigDict, Field
from rest_framework.views import APIView

from common.paging import PAGE_PARAMETERS, answer_page
from common.providers import WRONG_ADDRESS, Options, ProviderName
from common.request_types import NOT_BLANK, Handle, Name, Revision
from common.rest import Body, Page, Request, build_empty_response, build_response, read
from common.secrets import Secret
from events.rows import MembershipRow, ModelRow, RoleName, WorkspaceRow
from workspaces import services as workspaces
from workspaces.models import Credential
from workspaces.permissions import WorkspaceVerb, get_workspace_for, workspaces_visible_to
from workspaces.rows import build_model_row, build_workspace_row


class NewWorkspaceBody(Body):
    name: Name
    handle: Handle | None = None


class WorkspaceBody(Body):
    name: Name
    revision: Revision


class RoleBody(Body):
    role: RoleName


class ModelBody(Body):
    """`key` null keeps the stored key if provider and address are unchanged; "" deletes it. `GET model-providers` lists the
    providers that have an address, and the options of each."""

    model_config = ConfigDict(json_schema_extra={"not": WRONG_ADDRESS})

    provider: ProviderName
    default_model: str = Field(max_length=200, pattern=NOT_BLANK)
    revision: Revision
    api_base: str = Field(default="", max_length=400)
    options: Options = Field(default_factory=dict)
    key: str | None = Field(default=None, max_length=400)


class Workspaces(APIView):
    @extend_schema(operation_id="list_workspaces", parameters=PAGE_PARAMETERS, responses=Page[WorkspaceRow])
    def get(self, request: Request) -> HttpResponse:
        rows = workspaces_visible_to(request.user)
        return answer_page(request, rows, by="name", serialize=lambda page: map(build_workspace_row, page))

    @extend_schema(operation_id="create_workspace", request=NewWorkspaceBody, responses={201: WorkspaceRow})
    def post(self, request: Request) -> HttpResponse:
        body = read(request, NewWorkspaceBody)
        workspace = workspaces.create_workspace(request.user, name=body.name, handle=body.handle)
        return build_response(
            build_workspace_row(get_workspace_for(request.user, workspace.id, WorkspaceVerb.SEE)), 201
        )


class OneWorkspace(APIView):
    @extend_schema(operation_id="read_workspace", responses=WorkspaceRow)
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        return build_response(build_workspace_row(get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)))

    @extend_schema(operation_id="rename_workspace", request=WorkspaceBody, responses=WorkspaceRow)
    def patch(self, request: Request, workspace_id: UUID) -> HttpResponse:
        body = read(request, WorkspaceBody)
        workspace = workspaces.rename_workspace(request.user, workspace_id, name=body.name, revision=body.revision)
        return build_response(build_workspace_row(workspace))


class Members(APIView):
    @extend_schema(operation_id="list_members", parameters=PAGE_PARAMETERS, responses=Page[MembershipRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        members = workspace.memberships.select_related("actor")
        return answer_page(request, members, by="actor__name")


class OneMember(APIView):
    @extend_schema(operation_id="change_role", request=RoleBody, responses=MembershipRow)
    def patch(self, request: Request, workspace_id: UUID, actor_id: UUID) -> HttpResponse:
        body = read(request, RoleBody)
        return build_response(workspaces.change_role(request.user, workspace_id, actor_id, role=body.role).to_row())

    @extend_schema(operation_id="remove_member", responses={204: None})
    def delete(self, request: Request, workspace_id: UUID, actor_id: UUID) -> HttpResponse:
        workspaces.remove_member(request.user, workspace_id, actor_id)
        return build_empty_response()


class Leave(APIView):
    @extend_schema(operation_id="leave_workspace", request=None, responses={204: None})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        workspaces.leave_workspace(request.user, workspace_id)
        return build_empty_response()


class Model(APIView):
    @extend_schema(operation_id="read_model", responses=ModelRow)
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        return build_response(build_model_row(Credential.objects.filter(workspace=workspace).first()))

    @extend_schema(operation_id="set_model", request=ModelBody, responses=ModelRow)
    def put(self, request: Request, workspace_id: UUID) -> HttpResponse:
        body = read(request, ModelBody)
        credential = workspaces.set_model(
            request.user,
            workspace_id,
            provider=body.provider,
            default_model=body.default_model,
            revision=body.revision,
            api_base=body.api_base,
            options=body.options,
            key=None if body.key is None else Secret(body.key),
        )
        return build_response(build_model_row(credential))
