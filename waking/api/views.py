"""Views of the wake preview and of waking by hand."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.rates import Bucket
from chats.services.posting_limits import get_posting_buckets, remember_workspace
from common.rest import Page, Request, build_list_response, build_response, read
from events.rows import MessageRow
from waking.api.bodies import WakeBody, WakesBody, WakesRow
from waking.services.by_hand import wake_agent
from waking.services.wake import preview_wakes


class PreviewWakes(APIView):
    @extend_schema(operation_id="preview_wakes", request=WakesBody, responses=Page[WakesRow])
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Preview which agents a message would wake, before it is posted."""
        body = read(request, WakesBody)
        effects = preview_wakes(request.user, chat_id, text=body.text, reply_to=body.reply_to, file_ids=body.file_ids)
        return build_list_response(WakesRow.model_validate(effect, from_attributes=True) for effect in effects)


class Wake(APIView):
    def buckets(self, request: Request) -> list[Bucket]:
        return get_posting_buckets(request.user.pk, self.kwargs["chat_id"])

    @extend_schema(operation_id="wake_agent", request=WakeBody, responses={200: MessageRow, 201: MessageRow})
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Wake an agent by hand, without a new message."""
        body = read(request, WakeBody)
        message, is_new = wake_agent(request.user, chat_id, agent_id, id=body.id)
        remember_workspace(request.user.pk, chat_id, message.chat.workspace_id)
        return build_response(message.to_row(), 201 if is_new else 200)
