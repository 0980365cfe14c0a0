"""The address that a person signs in with, their sessions and their API tokens."""

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
from actors.models import ApiToken
from actors.rates import Bucket
from common.paging import PAGE_PARAMETERS, answer_page
from common.rest import Body, Page, Request, answer, answer_no_content, read
from common.shapes import Name
from events.rows import ApiTokenRow, Row


class SignUpRow(Row):
    """Who may sign up: anybody (`open`), whoever has a living invite link (`invited`), nobody (`closed`).
    `confirms_email`: a new account begins when a mailed link has been followed."""

    mode: Literal["open", "invited", "closed"]
    confirms_email: bool


class EmailBody(Body):
    """`password`: the present one."""

    email: str = Field(min_length=3, max_length=254, json_schema_extra={"format": "email"})
    password: str = Field(max_length=500)


class EmailChangeRow(Row):
    """An address that is theirs when the link that is sent there is followed. `by_mail` false: this installation sends no
    mail; the link stands in the log of the server, or whoever runs it can tell."""

    email: str
    by_mail: bool


class ConfirmationBody(Body):
    key: str = Field(min_length=1, max_length=200)


class ConfirmedRow(Row):
    """The address that is confirmed."""

    email: str


class TokenBody(Body):
    """`password`: the person's own. `days` null: it works until it is revoked. `scope`: `read` may only look."""

    name: Name
    password: str = Field(max_length=500)
    scope: Literal["full", "read"] = "full"
    days: Literal[7, 30, 90, 365] | None = 90


class NewTokenRow(Row):
    """A token that was just made. `text` is what a program signs in by; it is not shown again."""

    token: ApiTokenRow
    text: str


class Email(APIView):
    """The address that one signs in with."""

    permission_classes = (SignedIn, BySession)

    def buckets(self, request: Request) -> list[Bucket]:
        return password_buckets(request)

    @extend_schema(operation_id="start_email_change", request=EmailBody, responses={202: EmailChangeRow})
    def post(self, request: Request) -> HttpResponse:
        body = read(request, EmailBody)
        change = actors.start_email_change(
            request.user, email=body.email, password=body.password, address=get_web_app_url(request._request),
            language=get_language_from_request(request._request),
        )  # fmt: skip
        return answer(EmailChangeRow(email=change.email, by_mail=settings.SENDS_MAIL), 202)

    @extend_schema(operation_id="cancel_email_change", responses={204: None})
    def delete(self, request: Request) -> HttpResponse:
        actors.cancel_email_change(request.user)
        return answer_no_content()


class EmailConfirmations(APIView):
    """Whoever has the key that was mailed has the address: nobody needs to be signed in where they read their mail."""

    permission_classes = (AllowAny,)

    @extend_schema(operation_id="confirm_email", request=ConfirmationBody, responses=ConfirmedRow)
    def post(self, request: Request) -> HttpResponse:
        body = read(request, ConfirmationBody)
        person = actors.confirm_email(key=body.key, request=request._request)
        return answer(ConfirmedRow(email=person.email or ""))


class SignUpMode(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(operation_id="read_sign_up", responses=SignUpRow)
    def get(self, request: Request) -> HttpResponse:
        confirms = settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory"
        return answer(SignUpRow(mode=settings.SIGN_UP, confirms_email=confirms))


def password_buckets(request: Request) -> list[Bucket]:
    """Return the bucket of an operation that asks for the password, so that nobody tries many (SEC21)."""
    return [("passwords", request.user.pk)] if request.method == "POST" else []


class Tokens(APIView):
    permission_classes = (SignedIn, BySession)

    def buckets(self, request: Request) -> list[Bucket]:
        return password_buckets(request)

    @extend_schema(operation_id="list_tokens", parameters=PAGE_PARAMETERS, responses=Page[ApiTokenRow])
    def get(self, request: Request) -> HttpResponse:
        return answer_page(request, ApiToken.live.filter(person=request.user), by="-created_at")

    @extend_schema(operation_id="create_token", request=TokenBody, responses={201: NewTokenRow})
    def post(self, request: Request) -> HttpResponse:
        body = read(request, TokenBody)
        actors.check_password(request.user, body.password)
        token, text = actors.create_token(request.user, name=body.name, days=body.days, scope=body.scope)
        return answer(NewTokenRow(token=token.to_row(), text=text), 201)


class OneToken(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="revoke_token", responses={204: None})
    def delete(self, request: Request, token_id: UUID) -> HttpResponse:
        actors.revoke_token(request.user, token_id)
        return answer_no_content()


class Sessions(APIView):
    """Everywhere that one is signed in, except here."""

    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="end_sessions", responses={204: None})
    def delete(self, request: Request) -> HttpResponse:
        here = request.auth if isinstance(request.auth, SessionBase) else request._request.session
        actors.end_sessions(request.user, keep=here)
        return answer_no_content()
