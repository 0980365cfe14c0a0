"""Chats and messages."""

from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.rates import Bucket
from chats import services as chats
from chats.api.bodies import (
    ChatBody,
    MessageBody,
    MessagesQuery,
    NewChatBody,
    NewMemberBody,
    ReadBody,
    ReadRow,
    WakeBody,
)  # fmt: skip
from chats.api.rates import buckets_of_a_post, rooms
from chats.models import ChatActor
from chats.permissions import ChatVerb, get_chat_for
from chats.selectors import chat_summaries, chat_summary, chats_with_reading, messages_before
from common.errors import NotFound
from common.paging import PAGED, Paged, answer_page
from common.rest import Page, Request, answer, answer_list, nothing, query_parameters, read, read_query
from events.rows import ChatSummaryRow, MemberRow, MessageRow
from workspaces.permissions import WorkspaceVerb, get_workspace_for


def _summary(request: Request, chat_id: UUID) -> ChatSummaryRow:
    summary = chat_summary(actor=request.user, chat_id=chat_id)
    if summary is None:
        raise NotFound("There is no such chat, or you may not see it.")
    return summary


class Chats(APIView):
    @extend_schema(operation_id="list_chats", parameters=PAGED, responses=Page[ChatSummaryRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        rows = chats_with_reading(request.user, workspace_id)
        return answer_page(request, rows, by="-spoken_at", shown=chat_summaries)

    @extend_schema(operation_id="create_chat", request=NewChatBody, responses={201: ChatSummaryRow})
    @transaction.atomic
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        body = read(request, NewChatBody)
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.CREATE_CHAT)
        chat = chats.create_chat(
            workspace=workspace, creator=request.user, title=body.title, member_ids=body.member_ids
        )
        return answer(_summary(request, chat.id), 201)


class OneChat(APIView):
    @extend_schema(operation_id="read_chat", responses=ChatSummaryRow)
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        return answer(_summary(request, chat_id))

    @extend_schema(operation_id="rename_chat", request=ChatBody, responses=ChatSummaryRow)
    @transaction.atomic
    def patch(self, request: Request, chat_id: UUID) -> HttpResponse:
        body = read(request, ChatBody)
        chat = get_chat_for(request.user, chat_id, ChatVerb.RENAME, lock=True)
        chats.rename_chat(chat=chat, actor=request.user, title=body.title)
        return answer(_summary(request, chat_id))


class Messages(APIView):
    def buckets(self, request: Request) -> list[Bucket]:
        return buckets_of_a_post(request.user.pk, self.kwargs["chat_id"]) if request.method == "POST" else []

    @extend_schema(operation_id="list_messages", parameters=query_parameters(MessagesQuery), responses=Page[MessageRow])
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        query = read_query(request, MessagesQuery)
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        page, older = messages_before(chat=chat, before=query.before, limit=query.limit)
        return answer_list([message.row() for message in page], None if older is None else str(older))

    @extend_schema(operation_id="post_message", request=MessageBody, responses={200: MessageRow, 201: MessageRow})
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        body = read(request, MessageBody)
        message, is_new = chats.post_message_once(
            actor=request.user, chat_id=chat_id, id=body.id, text=body.text, reply_to=body.reply_to, wake=body.wake
        )
        rooms.learn(request.user.pk, chat_id, message.chat.workspace_id)
        return answer(message.row(), 201 if is_new else 200)


_MEMBERS: Paged[ChatActor] = Paged(
    lambda chat_id: ChatActor.objects.filter(chat=chat_id, ended_at=None).select_related("actor"), UUID, by="joined_at"
)


class ChatMembers(APIView):
    @extend_schema(operation_id="list_chat_members", parameters=PAGED, responses=Page[MemberRow])
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        return _MEMBERS.answer(request, chat.pk)

    @extend_schema(operation_id="add_chat_member", request=NewMemberBody, responses={201: MemberRow})
    @transaction.atomic
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        body = read(request, NewMemberBody)
        chat = get_chat_for(request.user, chat_id, ChatVerb.ADD_MEMBER, lock=True)
        return answer(chats.add_member(chat=chat, adder=request.user, actor_id=body.actor_id).row(), 201)


class OneChatMember(APIView):
    @extend_schema(operation_id="set_wake", request=WakeBody, responses=MemberRow)
    @transaction.atomic
    def patch(self, request: Request, chat_id: UUID, actor_id: UUID) -> HttpResponse:
        body = read(request, WakeBody)
        chat = get_chat_for(request.user, chat_id, ChatVerb.SET_WAKE, lock=True)
        return answer(chats.set_wake(chat=chat, actor=request.user, agent_id=actor_id, wake=body.wake).row())

    @extend_schema(operation_id="remove_chat_member", responses={204: None})
    @transaction.atomic
    def delete(self, request: Request, chat_id: UUID, actor_id: UUID) -> HttpResponse:
        chat = get_chat_for(request.user, chat_id, ChatVerb.REMOVE_MEMBER, lock=True)
        chats.remove_member(chat=chat, remover=request.user, actor_id=actor_id)
        return nothing()


class Read(APIView):
    @extend_schema(operation_id="mark_read", request=ReadBody, responses=ReadRow)
    @transaction.atomic
    def put(self, request: Request, chat_id: UUID) -> HttpResponse:
        body = read(request, ReadBody)
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        return answer(ReadRow(last_read_seq=chats.mark_read(chat=chat, actor=request.user, seq=body.seq)))
