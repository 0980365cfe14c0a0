"""What the person was told. Nobody sees anybody else's."""

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from common.paging import get_page
from common.rest import Page, Request, answer, answer_list, query_parameters, read, read_query
from events.rows import NotificationRow
from notifications import services as notifications
from notifications.api.bodies import NotificationsQuery, SeenBody, UnreadRow
from notifications.selectors import count_unread, list_notifications, shown


class Notifications(APIView):
    @extend_schema(
        operation_id="list_notifications",
        parameters=query_parameters(NotificationsQuery),
        responses=Page[NotificationRow],
    )
    def get(self, request: Request) -> HttpResponse:
        query = read_query(request, NotificationsQuery)
        rows = list_notifications(request.user, only_unread=query.unread)
        found, more = get_page(rows, query, by="-created_at")
        return answer_list(shown(found), more)


class Unread(APIView):
    @extend_schema(operation_id="count_notifications", responses=UnreadRow)
    def get(self, request: Request) -> HttpResponse:
        return answer(UnreadRow(unread=count_unread(request.user)))


class Seen(APIView):
    @extend_schema(operation_id="mark_notifications_read", request=SeenBody, responses=UnreadRow)
    @transaction.atomic
    def post(self, request: Request) -> HttpResponse:
        body = read(request, SeenBody)
        notifications.mark_read(person=request.user, ids=body.ids, up_to=body.up_to)
        return answer(UnreadRow(unread=count_unread(request.user)))
