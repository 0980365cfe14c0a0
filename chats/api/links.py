"""Links into a chat, and coming in by one."""

from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import IsAuthenticated
from rest_framework.views import APIView

from chats import services as chats
from chats.api.bodies import InvitationRow, JoinedRow, NewLinkBody
from chats.models import ChatLink
from chats.permissions import ChatVerb, get_chat_for, get_link_for
from common.paging import PAGED, Paged
from common.rest import Page, Request, answer, nothing, read
from events.rows import LinkRow
from workspaces.permissions import WorkspaceVerb, get_workspace_for
from workspaces.rows import workspace_row

_LINKS: Paged[ChatLink] = Paged(lambda chat_id: ChatLink.objects.filter(chat=chat_id), UUID, by="-created_at")


class Links(APIView):
    @extend_schema(operation_id="list_links", parameters=PAGED, responses=Page[LinkRow])
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        chat = get_chat_for(request.user, chat_id, ChatVerb.INVITE)
        return _LINKS.answer(request, chat.pk)

    @extend_schema(operation_id="create_link", request=NewLinkBody, responses={201: LinkRow})
    @transaction.atomic
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        body = read(request, NewLinkBody)
        chat = get_chat_for(request.user, chat_id, ChatVerb.INVITE)
        link, url = chats.create_link(chat=chat, creator=request.user, role=body.role, hours=body.expires_in_hours)
        return answer(link.row(url if "://" in url else request.build_absolute_uri(url)), 201)


class OneLink(APIView):
    @extend_schema(operation_id="revoke_link", responses={204: None})
    @transaction.atomic
    def delete(self, request: Request, link_id: UUID) -> HttpResponse:
        chats.revoke_link(link=get_link_for(request.user, link_id), actor=request.user)
        return nothing()


class Join(APIView):
    def get_permissions(self) -> list[IsAuthenticated]:
        """Looking is for everybody who has the link; coming in needs to be somebody."""
        return [] if self.request.method == "GET" else [IsAuthenticated()]

    @extend_schema(operation_id="read_invitation", responses=InvitationRow)
    def get(self, request: Request, token: str) -> HttpResponse:
        link = chats.read_link(token)
        here = request.user is not None and link.chat.places.filter(actor=request.user, ended_at=None).exists()
        return answer(
            InvitationRow(
                workspace_name=link.chat.workspace.name,
                chat_title=link.chat.title,
                role=link.role,
                invited_by=link.created_by.name,
                already_member=here,
            )  # fmt: skip
        )

    @extend_schema(operation_id="accept_invitation", request=None, responses=JoinedRow)
    @transaction.atomic
    def post(self, request: Request, token: str) -> HttpResponse:
        link = chats.accept_link(token=token, actor=request.user)
        workspace = get_workspace_for(request.user, link.chat.workspace_id, WorkspaceVerb.SEE)
        return answer(JoinedRow(workspace=workspace_row(workspace), chat_id=link.chat_id))
