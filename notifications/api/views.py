"""The notifications of the signed-in person."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.models import Actor
from common.paging import get_page
from common.rest import Page, Request, build_list_response, build_query_parameters, build_response, read, read_query
from events.rows import NotificationRow
from notifications import services as notifications
from notifications.api.bodies import MarkReadBody, NotificationsQuery, UnreadRow
from notifications.selectors import build_notification_rows, count_unread, list_notifications, list_waiting_chats


class Notifications(APIView):
    @extend_schema(
        operation_id="list_notifications",
        parameters=build_query_parameters(NotificationsQuery),
        responses=Page[NotificationRow],
    )
    def get(self, request: Request) -> HttpResponse:
        """List the reader's notifications."""
        query = read_query(request, NotificationsQuery)
        found = list_notifications(request.user, unread=query.unread)
        page, cursor = get_page(found, query, by="-created_at")
        return build_list_response(build_notification_rows(request.user, page), cursor)


def _build_unread_row(person: Actor) -> UnreadRow:
    return UnreadRow(unread=count_unread(person), waiting_chat_ids=list_waiting_chats(person))


class UnreadCount(APIView):
    @extend_schema(operation_id="count_notifications", responses=UnreadRow)
    def get(self, request: Request) -> HttpResponse:
        """Count the reader's unread notifications, and list the chats in which something waits for them."""
        return build_response(_build_unread_row(request.user))


class MarkNotificationsRead(APIView):
    @extend_schema(operation_id="mark_notifications_read", request=MarkReadBody, responses=UnreadRow)
    def post(self, request: Request) -> HttpResponse:
        """Mark the reader's notifications as read."""
        body = read(request, MarkReadBody)
        notifications.mark_read(request.user, ids=body.ids, up_to=body.up_to)
        return build_response(_build_unread_row(request.user))
