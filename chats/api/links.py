"""Invite links: list, create, revoke and accept."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.views import APIView

from actors.auth import SignedIn
from chats import services as chats
from chats.api.bodies import InvitationRow, JoinedRow, NewLinkBody
from chats.models import ChatLink
from chats.permissions import get_chat_to_invite
from common.errors import NotFound
from common.paging import PAGE_PARAMETERS, answer_page
from common.rest import Page, Request, build_empty_response, build_response, read
from events.rows import LinkRow
from workspaces.permissions import WorkspaceVerb, get_workspace_for
from workspaces.rows import build_workspace_row


class Links(APIView):
    @extend_schema(operation_id="list_links", parameters=PAGE_PARAMETERS, responses=Page[LinkRow])
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """List the valid invite links of a chat."""
        chat = get_chat_to_invite(request.user, chat_id)
        return answer_page(request, ChatLink.objects.filter(chat=chat).valid(), by="-created_at")

    @extend_schema(operation_id="create_link", request=NewLinkBody, responses={201: LinkRow})
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Create an invite link to a chat. Only this answer has its address."""
        body = read(request, NewLinkBody)
        link, url = chats.create_link(
            request.user,
            chat_id,
            role=body.role,
            hours=body.expires_in_hours,
            max_uses=body.max_uses if "max_uses" in body.model_fields_set else "default",
        )
        return build_response(link.to_row(url if "://" in url else request.build_absolute_uri(url)), 201)


class MemberLinks(APIView):
    """The valid links that a member created for chats of the workspace. Removing or demoting the member revokes them."""

    @extend_schema(operation_id="list_member_links", parameters=PAGE_PARAMETERS, responses=Page[LinkRow])
    def get(self, request: Request, workspace_id: UUID, actor_id: UUID) -> HttpResponse:
        """List the valid links that a member created. Removing or demoting the member revokes them."""
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.REMOVE_MEMBER)
        if not workspace.memberships.filter(actor=actor_id).exists():
            raise NotFound("There is no such member.")
        links = ChatLink.objects.filter(chat__workspace=workspace, created_by=actor_id).valid()
        return answer_page(request, links, by="-created_at")


class OneLink(APIView):
    @extend_schema(operation_id="revoke_link", responses={204: None})
    def delete(self, request: Request, link_id: UUID) -> HttpResponse:
        """Revoke an invite link. People who joined by it stay."""
        chats.revoke_link(request.user, link_id)
        return build_empty_response()


class Join(APIView):
    def get_permissions(self) -> list[AllowAny | SignedIn]:
        """Let anonymous users read an invitation, and only signed-in people accept it."""
        return [AllowAny() if self.request.method == "GET" else SignedIn()]

    @extend_schema(operation_id="read_invitation", responses=InvitationRow)
    def get(self, request: Request, token: str) -> HttpResponse:
        """Read what an invite link invites to."""
        link, role = chats.get_invitation(token, reader=request.user)
        is_participant = (
            request.user is not None and link.chat.participants.filter(actor=request.user, ended_at=None).exists()
        )
        return build_response(
            InvitationRow(
                workspace_name=link.chat.workspace.name,
                chat_title=link.chat.title,
                role=role,
                invited_by=link.created_by.name,
                already_participant=is_participant,
            )
        )

    @extend_schema(operation_id="accept_invitation", request=None, responses=JoinedRow)
    def post(self, request: Request, token: str) -> HttpResponse:
        """Join the workspace and the chat of an invite link."""
        link = chats.accept_link(request.user, token)
        workspace = get_workspace_for(request.user, link.chat.workspace_id, WorkspaceVerb.SEE)
        return build_response(JoinedRow(workspace=build_workspace_row(workspace), chat_id=link.chat_id))
