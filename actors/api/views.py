"""Operations on the reader's email address, sessions and API tokens."""

from typing import Literal
from uuid import UUID

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpResponse
from django.utils.translation import get_language_from_request
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.permissions import AllowAny
from rest_framework.views import APIView

from actors import services as actors
from actors.auth import BySession, SignedIn
from actors.middleware import get_web_app_url
from actors.models import ApiToken, Viewing
from actors.rates import Bucket
from common.errors import NotFound
from common.paging import PAGE_PARAMETERS, answer_page
from common.request_types import Name
from common.rest import Body, Page, Request, build_empty_response, build_response, read
from events.rows import ApiTokenRow, Row, TokenScope, ViewingRow


class SignUpRow(Row):
    """Who may sign up: all people (`open`), people with a valid invite link (`invited`), or no one (`closed`).
    `confirms_email`: a new account can sign in only after the email address is confirmed by a mailed link."""

    mode: Literal["open", "invited", "closed"]
    confirms_email: bool


class EmailBody(Body):
    """`password` is the person's present one."""

    email: str = Field(min_length=3, max_length=254, json_schema_extra={"format": "email"})
    password: str = Field(max_length=500)


class EmailChangeRow(Row):
    """An email address that the person has to confirm by a link. `by_mail` is false if this installation sends no mails: with
    embedded servers the link is in the log of the server then, otherwise it is nowhere."""

    email: str
    by_mail: bool


class ConfirmationBody(Body):
    key: str = Field(min_length=1, max_length=200)


class ConfirmedRow(Row):
    """The confirmed email address."""

    email: str


class TokenBody(Body):
    name: Name
    """The name by which the person recognises the token."""
    password: str = Field(max_length=500)
    """The person's present password."""
    scope: TokenScope = TokenScope.FULL
    """`read` can only read."""
    days: Literal[7, 30, 90, 365] | None = 90
    """The days after which it expires; null: never."""


class NewTokenRow(Row):
    """A new token. `secret` is for the `Authorization` header; it is not returned again."""

    token: ApiTokenRow
    secret: str


class Email(APIView):
    """The reader's email address."""

    permission_classes = (SignedIn, BySession)

    def buckets(self, request: Request) -> list[Bucket]:
        return get_password_buckets(request)

    @extend_schema(operation_id="start_email_change", request=EmailBody, responses={202: EmailChangeRow})
    def post(self, request: Request) -> HttpResponse:
        """Start to change the reader's email address by a mailed link."""
        body = read(request, EmailBody)
        change = actors.start_email_change(
            request.user,
            email=body.email,
            password=body.password,
            web_app_url=get_web_app_url(request._request),
            language=get_language_from_request(request._request),
        )
        return build_response(EmailChangeRow(email=change.email, by_mail=settings.SENDS_MAIL), 202)

    @extend_schema(operation_id="cancel_email_change", responses={204: None})
    def delete(self, request: Request) -> HttpResponse:
        """Cancel the change of the reader's email address."""
        actors.cancel_email_change(request.user)
        return build_empty_response()


class EmailConfirmations(APIView):
    """Confirm an email by the mailed key. It needs no sign-in, because people may read mails on another device."""

    permission_classes = (AllowAny,)

    @extend_schema(operation_id="confirm_email", request=ConfirmationBody, responses=ConfirmedRow)
    def post(self, request: Request) -> HttpResponse:
        """Confirm an email address by the mailed key. It needs no sign-in."""
        body = read(request, ConfirmationBody)
        person = actors.confirm_email(key=body.key, request=request._request)
        return build_response(ConfirmedRow(email=person.email or ""))


class SignUpMode(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(operation_id="read_sign_up", responses=SignUpRow)
    def get(self, request: Request) -> HttpResponse:
        """Read who may sign up here."""
        confirms = settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory"
        return build_response(SignUpRow(mode=settings.SIGN_UP, confirms_email=confirms))


def get_password_buckets(request: Request) -> list[Bucket]:
    """Return the bucket that limits guesses of the password (SEC21). In views that use it, only POST asks for the password."""
    return [("passwords", request.user.pk)] if request.method == "POST" else []


class ApiTokens(APIView):
    permission_classes = (SignedIn, BySession)

    def buckets(self, request: Request) -> list[Bucket]:
        return get_password_buckets(request)

    @extend_schema(operation_id="list_tokens", parameters=PAGE_PARAMETERS, responses=Page[ApiTokenRow])
    def get(self, request: Request) -> HttpResponse:
        """List the reader's API tokens."""
        return answer_page(request, ApiToken.unrevoked.filter(actor=request.user), by="-created_at")

    @extend_schema(operation_id="create_token", request=TokenBody, responses={201: NewTokenRow})
    def post(self, request: Request) -> HttpResponse:
        """Create an API token of the reader. Only this answer has its secret."""
        body = read(request, TokenBody)
        actors.check_password(request.user, body.password)
        token, secret = actors.create_token(request.user, name=body.name, days=body.days, scope=body.scope)
        return build_response(NewTokenRow(token=token.to_row(), secret=secret), 201)


class OneToken(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="revoke_token", responses={204: None})
    def delete(self, request: Request, token_id: UUID) -> HttpResponse:
        """Revoke an API token of the reader."""
        actors.revoke_token(request.user, token_id)
        return build_empty_response()


class Sessions(APIView):
    """The reader's sessions, except the session of this request."""

    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="end_sessions", responses={204: None})
    def delete(self, request: Request) -> HttpResponse:
        """End the reader's sessions, except that of this request."""
        session = request.auth if isinstance(request.auth, SessionBase) else request._request.session
        actors.end_sessions(request.user, keep=session)
        return build_empty_response()


class OwnViewings(APIView):
    """When operators have viewed as the reader."""

    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="list_viewings", parameters=PAGE_PARAMETERS, responses=Page[ViewingRow])
    def get(self, request: Request) -> HttpResponse:
        """List when operators have viewed as the reader."""
        viewings = Viewing.objects.filter(person=request.user).select_related("operator")
        return answer_page(request, viewings, by="-started_at")


class CurrentViewing(APIView):
    """The viewing in the session of this request."""

    permission_classes = (SignedIn, BySession)
    ends_viewing = True

    @extend_schema(operation_id="end_viewing", responses={204: None})
    def delete(self, request: Request) -> HttpResponse:
        """End the viewing in the session of this request."""
        if not isinstance(request.auth, Viewing):
            raise NotFound("You view as nobody else.")
        actors.end_viewing(request.auth.operator, request.auth.pk)
        return build_empty_response()
