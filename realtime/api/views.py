"""Changes of a chat without a socket, and the schema of the API and the frames."""

from functools import cache
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.views import APIView

from chats.permissions import ChatVerb, get_chat_for
from chats.selectors import END
from common.rest import Body, Request, build_empty_response, build_query_parameters, build_response, read_query
from events.frames import Subscribed
from realtime.catchup import catch_up
from realtime.schema import build_schema


class ChangesQuery(Body):
    """`since` is the version that the client has; without it, the answer is a snapshot.

    With `wait`, a request about a chat that still has this version is answered as soon as it has another one, or after so many
    seconds with 204 (`realtime.long_polling`).
    """

    since: int | None = Field(default=None, ge=0, le=END)
    wait: int | None = Field(default=None, ge=0, le=30)


class ReadChanges(APIView):
    agent_methods = ("GET",)

    @extend_schema(
        operation_id="read_changes",
        parameters=build_query_parameters(ChangesQuery),
        responses={200: Subscribed, 204: None},
    )
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Read what has changed in a chat since a version, as a socket receives it."""
        query = read_query(request, ChangesQuery)
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        if query.wait is not None and query.since == chat.version:
            return build_empty_response()
        return build_response(catch_up(chat.id, query.since))


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document, with the frames of the socket among its components. It is public."""
    return HttpResponse(_get_schema(), content_type="application/vnd.oai.openapi+json")


@cache
def _get_schema() -> str:
    return build_schema()
