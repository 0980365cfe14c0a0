"""Thumbs on the answers of agents: give one, take it back, and list one's own."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.rates import Bucket
from chats import services as chats
from chats.api.bodies import ThumbBody
from chats.permissions import ChatVerb, get_chat_for
from chats.services.posting_limits import get_posting_buckets
from common.paging import PAGE_PARAMETERS, answer_page
from common.rest import Page, Request, build_response, read
from events.rows import MessageRow, ThumbRow


class OneThumb(APIView):
    def buckets(self, request: Request) -> list[Bucket]:
        return get_posting_buckets(request.user.pk, self.kwargs["chat_id"])

    @extend_schema(operation_id="give_thumb", request=ThumbBody, responses=MessageRow)
    def put(self, request: Request, chat_id: UUID, message_id: UUID) -> HttpResponse:
        """Say that an answer of an agent is good or bad. It replaces the reader's earlier thumb."""
        body = read(request, ThumbBody)
        return build_response(chats.give_thumb(request.user, chat_id, message_id, **dict(body)).to_row())

    @extend_schema(operation_id="take_back_thumb", request=None, responses={200: MessageRow})
    def delete(self, request: Request, chat_id: UUID, message_id: UUID) -> HttpResponse:
        """Take back the reader's thumb on an answer."""
        return build_response(chats.take_back_thumb(request.user, chat_id, message_id).to_row())


class OwnThumbs(APIView):
    @extend_schema(operation_id="list_own_thumbs", parameters=PAGE_PARAMETERS, responses=Page[ThumbRow])
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """List the reader's thumbs on answers in a chat, the newest first."""
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        return answer_page(request, chat.thumbs.filter(person=request.user), by="-created_at")
