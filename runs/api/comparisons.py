"""Comparisons: asking production and the draft the same, and voting."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.rates import Bucket
from chats.services.posting_limits import buckets_of_a_post, remember_workspace
from common.rest import Request, answer, read
from events.rows import MessageRow
from runs.api.bodies import ComparisonBody, VoteBody
from runs.services import comparisons


class Comparisons(APIView):
    person_buckets = ("jobs",)

    def buckets(self, request: Request) -> list[Bucket]:
        return buckets_of_a_post(request.user.pk, self.kwargs["chat_id"])

    @extend_schema(
        operation_id="start_comparison", request=ComparisonBody, responses={200: MessageRow, 201: MessageRow}
    )
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        body = read(request, ComparisonBody)
        message, is_new = comparisons.start_comparison(
            actor=request.user, chat_id=chat_id, agent_id=agent_id, id=body.id, text=body.text, revision=body.revision
        )
        remember_workspace(request.user.pk, chat_id, message.chat.workspace_id)
        return answer(message.to_row(), 201 if is_new else 200)


class Ballot(APIView):
    @extend_schema(operation_id="vote", request=VoteBody, responses=MessageRow)
    def post(self, request: Request, chat_id: UUID, comparison_id: UUID) -> HttpResponse:
        choice = read(request, VoteBody).choice
        voted = comparisons.vote(actor=request.user, chat_id=chat_id, comparison_id=comparison_id, choice=choice)
        return answer(voted.to_row())
