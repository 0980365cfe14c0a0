"""The signed-in person and their workspaces."""

from django.conf import settings
from django.db.models.functions import Now
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors import services as actors
from actors.models import EmailChange, Viewing
from common.request_types import Handle, Language, Name
from common.rest import Body, Request, build_response, read
from events.rows import ActorRow, NewAvatar, Row, ViewingRow, WorkspaceRow
from workspaces.permissions import workspaces_visible_to
from workspaces.rows import build_workspace_row


class MeRow(Row):
    """The signed-in person and their workspaces. `new_email` is a new email that is not confirmed yet. `viewing`: an operator views
    as this person, and can change nothing. `workspace_purge_days`: the days in which the deletion of a workspace can be undone."""

    actor: ActorRow
    email: str
    new_email: str | None
    language: Language | None
    workspaces: list[WorkspaceRow]
    viewing: ViewingRow | None
    workspace_purge_days: int


class ProfileBody(Body):
    name: Name | None = None
    language: Language | None = None
    avatar: NewAvatar | None = None
    handle: Handle | None = None


def _build_me_row(request: Request) -> MeRow:
    person = request.user
    change = EmailChange.objects.filter(person=person.pk, expires_at__gt=Now()).first()
    workspaces = workspaces_visible_to(person).order_by("name", "pk")
    return MeRow(
        actor=person.to_row(),
        email=person.email,
        new_email=change and change.email,
        language=person.language or None,
        workspaces=[build_workspace_row(workspace) for workspace in workspaces],
        viewing=request.auth.to_row() if isinstance(request.auth, Viewing) else None,
        workspace_purge_days=settings.WORKSPACE_PURGE_DAYS,
    )


class Me(APIView):
    @extend_schema(operation_id="read_me", responses=MeRow)
    def get(self, request: Request) -> HttpResponse:
        """Read the reader's own account."""
        return build_response(_build_me_row(request))

    @extend_schema(operation_id="change_me", request=ProfileBody, responses=MeRow)
    def patch(self, request: Request) -> HttpResponse:
        """Change the reader's name, avatar or settings."""
        body = read(request, ProfileBody)
        actors.update_profile(
            request.user, name=body.name, language=body.language, avatar=body.avatar, handle=body.handle
        )
        return build_response(_build_me_row(request))
