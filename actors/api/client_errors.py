"""Reports of errors of the web app, which are written to the server's log."""

import logging
from typing import Annotated, Literal

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import Field, StringConstraints
from rest_framework.views import APIView

from actors.auth import BySession, SignedIn
from actors.rates import Bucket
from common.rest import Body, Request, build_empty_response, read

logger = logging.getLogger(__name__)

# A frame of a stack trace: a position in a script. No field takes free text, because texts of people must not be logged (SEC17).
Frame = Annotated[str, StringConstraints(pattern=r"^[\w.-]{1,80}:\d{1,7}:\d{1,7}$")]


class ClientErrorBody(Body):
    """An error and its position. The message of the error is left out, because it may contain text of a person."""

    kind: Literal["error", "rejection", "rendering"]
    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,59}$")
    screen: str = Field(pattern=r"^[\w/$.-]{0,100}$")
    frames: list[Frame] = Field(max_length=8)


class ClientErrors(APIView):
    permission_classes = (SignedIn, BySession)

    person_buckets = ("client_errors",)

    def buckets(self, request: Request) -> list[Bucket]:
        return [("all_client_errors", "all")]

    @extend_schema(operation_id="report_client_error", request=ClientErrorBody, responses={204: None})
    def post(self, request: Request) -> HttpResponse:
        """Report an error of the web app to the operators."""
        body = read(request, ClientErrorBody)
        frames = " ".join(body.frames) or "nowhere known"
        logger.warning("Web app: %s (%s) on %s at %s", body.name, body.kind, body.screen or "/", frames)
        return build_empty_response()
