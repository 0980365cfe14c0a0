"""Changes of a chat without a socket, and the schema of the API and the frames."""

from functools import cache
from hashlib import sha256
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe
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
    since: int | None = Field(default=None, ge=0, le=END)
    """The version that the client has. Without it, the answer is a snapshot."""
    wait: int | None = Field(default=None, ge=0, le=30)
    """If the chat still has this version: the seconds after which the answer is 204, unless the chat changes before."""


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


@cache
def _get_schema(server: str) -> tuple[bytes, str]:
    """Return the OpenAPI document for the server at this address, and its ETag."""
    text = build_schema(server=server).encode()
    return text, f'"{sha256(text).hexdigest()[:32]}"'


@require_safe
@condition(etag_func=lambda request: _get_schema(settings.PUBLIC_URL)[1])
def schema(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document, with the frames of the socket among its components. It is public."""
    text, _ = _get_schema(settings.PUBLIC_URL)
    return HttpResponse(text, content_type="application/vnd.oai.openapi+json")
