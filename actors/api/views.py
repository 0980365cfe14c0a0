"""Who I am."""

from typing import Literal

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.views import APIView

from actors.services import change_profile
from common.rest import Body, Request, answer, read
from events.rows import ActorRow, Row, WorkspaceRow
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


def _me(request: Request) -> MeRow:
    person = request.user
    rows = workspaces_visible_to(person).order_by("name", "pk")
    return MeRow(
        actor=person.row(), email=person.email, language=person.language or None,
        workspaces=[workspace_row(workspace) for workspace in rows],
    )  # fmt: skip


class Me(APIView):
    @extend_schema(operation_id="read_me", responses=MeRow)
    def get(self, request: Request) -> HttpResponse:
        return answer(_me(request))

    @extend_schema(operation_id="change_me", request=ProfileBody, responses=MeRow)
    @transaction.atomic
    def patch(self, request: Request) -> HttpResponse:
        body = read(request, ProfileBody)
        change_profile(person=request.user, name=body.name, language=body.language)
        return answer(_me(request))
