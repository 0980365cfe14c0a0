"""Workspaces and their members."""

from functools import partial
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.views import APIView

from actors import services as actors
from actors.auth import BySession, SignedIn
from actors.rates import Bucket
from common.paging import PAGE_PARAMETERS, answer_page
from common.request_types import Handle, Name, Revision
from common.rest import Body, Page, Request, build_empty_response, build_response, read
from events.rows import DeletedWorkspaceRow, MembershipRow, Role, WorkspaceRow
from workspaces import services as workspaces
from workspaces.permissions import (
    WorkspaceVerb,
    get_workspace_for,
    workspaces_restorable_by,
    workspaces_visible_to,
)
from workspaces.rows import build_deleted_workspace_row, build_workspace_row


class NewWorkspaceBody(Body):
    name: Name
    """The name that people see."""
    handle: Handle | None = None
    """The short name in addresses. Left out: made from the name."""


class WorkspaceBody(Body):
    """`time_zone`: a name of the IANA database, such as `Asia/Taipei`. `handle`: the short name in addresses. Null keeps them."""

    name: Name
    handle: Handle | None = None
    time_zone: str | None = Field(default=None, max_length=64)
    revision: Revision


class DeletionBody(Body):
    """`name`: that of the workspace, as a confirmation. `password`: that of the reader."""

    name: Name
    password: str = Field(max_length=500)


class RoleBody(Body):
    role: Role


class Workspaces(APIView):
    @extend_schema(operation_id="list_workspaces", parameters=PAGE_PARAMETERS, responses=Page[WorkspaceRow])
    def get(self, request: Request) -> HttpResponse:
        """List the reader's workspaces."""
        rows = workspaces_visible_to(request.user)
        return answer_page(request, rows, by="name", serialize=lambda page: map(build_workspace_row, page))

    @extend_schema(operation_id="create_workspace", request=NewWorkspaceBody, responses={201: WorkspaceRow})
    def post(self, request: Request) -> HttpResponse:
        """Create a workspace."""
        body = read(request, NewWorkspaceBody)
        workspace = workspaces.create_workspace(request.user, name=body.name, handle=body.handle)
        return build_response(
            build_workspace_row(get_workspace_for(request.user, workspace.id, WorkspaceVerb.SEE)), 201
        )


class OneWorkspace(APIView):
    @extend_schema(operation_id="read_workspace", responses=WorkspaceRow)
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Read a workspace, with the reader's role and rights."""
        return build_response(build_workspace_row(get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)))

    @extend_schema(operation_id="rename_workspace", request=WorkspaceBody, responses=WorkspaceRow)
    def patch(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Change the name of a workspace, its time zone and its handle."""
        body = read(request, WorkspaceBody)
        workspace = workspaces.rename_workspace(
            request.user,
            workspace_id,
            name=body.name,
            time_zone=body.time_zone,
            handle=body.handle,
            revision=body.revision,
        )
        return build_response(build_workspace_row(workspace))


class Members(APIView):
    @extend_schema(operation_id="list_members", parameters=PAGE_PARAMETERS, responses=Page[MembershipRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the members of a workspace."""
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        members = workspace.memberships.select_related("actor")
        return answer_page(request, members, by="actor__name")


class OneMember(APIView):
    @extend_schema(operation_id="change_role", request=RoleBody, responses=MembershipRow)
    def patch(self, request: Request, workspace_id: UUID, actor_id: UUID) -> HttpResponse:
        """Change the role of a member."""
        body = read(request, RoleBody)
        return build_response(workspaces.change_role(request.user, workspace_id, actor_id, role=body.role).to_row())

    @extend_schema(operation_id="remove_member", responses={204: None})
    def delete(self, request: Request, workspace_id: UUID, actor_id: UUID) -> HttpResponse:
        """Remove a member from a workspace."""
        workspaces.remove_member(request.user, workspace_id, actor_id)
        return build_empty_response()


class Leave(APIView):
    @extend_schema(operation_id="leave_workspace", request=None, responses={204: None})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Leave a workspace."""
        workspaces.leave_workspace(request.user, workspace_id)
        return build_empty_response()


class Deletion(APIView):
    permission_classes = (SignedIn, BySession)

    def buckets(self, request: Request) -> list[Bucket]:
        return [("passwords", request.user.pk)]

    @extend_schema(operation_id="delete_workspace", request=DeletionBody, responses={204: None})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Delete a workspace. Its editors can restore it for some days."""
        body = read(request, DeletionBody)
        get_workspace_for(request.user, workspace_id, WorkspaceVerb.DELETE)
        actors.check_password(request.user, body.password)
        workspaces.delete_workspace(request.user, workspace_id, name=body.name)
        return build_empty_response()


class DeletedWorkspaces(APIView):
    """The deleted workspaces that the reader can restore."""

    @extend_schema(
        operation_id="list_deleted_workspaces", parameters=PAGE_PARAMETERS, responses=Page[DeletedWorkspaceRow]
    )
    def get(self, request: Request) -> HttpResponse:
        """List the deleted workspaces that the reader can restore."""
        rows = workspaces_restorable_by(request.user).select_related("deleted_by")
        serialize = partial(map, build_deleted_workspace_row)
        return answer_page(request, rows, by="name", serialize=serialize)


class Restoration(APIView):
    @extend_schema(operation_id="restore_workspace", request=None, responses=WorkspaceRow)
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Restore a deleted workspace."""
        workspaces.restore_workspace(request.user, workspace_id)
        return build_response(build_workspace_row(get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)))
