"""Who I am, where I am signed in, and by what my programs are."""

from typing import Literal
from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.views import APIView

from actors import services as actors
from actors.auth import BySession, SignedIn
from actors.models import ApiToken
from actors.permissions import get_token_for
from common.access import person_of
from common.compiled import Compiled
from common.paging import PAGED, answer_page, rows_of
from common.rest import Body, Page, Request, answer, nothing, read
from events.rows import ActorRow, ApiTokenRow, Row, WorkspaceRow
from workspaces.models import Workspace
from workspaces.permissions import workspaces_visible_to
from workspaces.rows import workspace_row


class MeRow(Row):
    """The person who asks, and the workspaces they are in."""

    actor: ActorRow
    email: str
    language: Literal["en", "zh-hant", "zh-hans"] | None
    workspaces: list[WorkspaceRow]


class ProfileBody(Body):
    name: str | None = Field(default=None, min_length=1, max_length=80)
    language: Literal["en", "zh-hant", "zh-hans"] | None = None


class TokenBody(Body):
    """`days` null: it works until it is revoked."""

    name: str = Field(min_length=1, max_length=80, pattern=r"\S")
    days: Literal[7, 30, 90, 365] | None = 90


class NewTokenRow(Row):
    """A token that was just made. `text` is what a program signs in by; it is not shown again."""

    token: ApiTokenRow
    text: str


_WORKSPACES: Compiled[Workspace] = Compiled(
    lambda person_id: workspaces_visible_to(person_of(person_id)).order_by("name", "pk"), UUID
)


def _me(request: Request) -> MeRow:
    person = request.user
    return MeRow(
        actor=person.row(), email=person.email, language=person.language or None,
        workspaces=[workspace_row(workspace) for workspace in _WORKSPACES.all(person.pk)],
    )  # fmt: skip


class Me(APIView):
    @extend_schema(operation_id="read_me", responses=MeRow)
    def get(self, request: Request) -> HttpResponse:
        return answer(_me(request))

    @extend_schema(operation_id="change_me", request=ProfileBody, responses=MeRow)
    @transaction.atomic
    def patch(self, request: Request) -> HttpResponse:
        body = read(request, ProfileBody)
        actors.change_profile(person=request.user, name=body.name, language=body.language)
        return answer(_me(request))


class Tokens(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="list_tokens", parameters=PAGED, responses=Page[ApiTokenRow])
    def get(self, request: Request) -> HttpResponse:
        return answer_page(request, ApiToken.live.filter(person=request.user), by="-created_at", shown=rows_of)

    @extend_schema(operation_id="create_token", request=TokenBody, responses={201: NewTokenRow})
    @transaction.atomic
    def post(self, request: Request) -> HttpResponse:
        body = read(request, TokenBody)
        token, text = actors.create_token(person=request.user, name=body.name, days=body.days)
        return answer(NewTokenRow(token=token.row(), text=text), 201)


class OneToken(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="revoke_token", responses={204: None})
    @transaction.atomic
    def delete(self, request: Request, token_id: UUID) -> HttpResponse:
        actors.revoke_token(get_token_for(request.user, token_id), by=request.user)
        return nothing()


class Sessions(APIView):
    """Everywhere that one is signed in, except here."""

    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="end_sessions", responses={204: None})
    @transaction.atomic
    def delete(self, request: Request) -> HttpResponse:
        here = request.auth if isinstance(request.auth, SessionBase) else request._request.session
        actors.end_sessions(request.user, but=here)
        return nothing()
