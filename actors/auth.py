"""Who is asking: people only. An agent can never sign in, whatever its row says (S0.2)."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from allauth.headless.contrib.rest_framework.authentication import XSessionTokenAuthentication
from django.http import HttpRequest
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request

from actors.models import Actor, Kind


class PeopleBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """allauth's sign-in by e-mail, refusing everybody who is not an active person."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> Actor | None:
        actor = super().authenticate(request, **credentials)
        return actor if actor is not None and self.user_can_authenticate(actor) else None

    def user_can_authenticate(self, user: Actor) -> bool:
        return user.kind == Kind.HUMAN and user.is_active

    def get_user(self, user_id: Any) -> Actor | None:
        return Actor.people.filter(pk=user_id, is_active=True).first()


class BrowserSession(SessionAuthentication):
    """The session cookie, with CSRF. `authenticate_header` makes a missing sign-in a 401, not a 403."""

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class AppSession(XSessionTokenAuthentication):  # type: ignore[misc]  # allauth has no types
    """allauth's session token, in the `X-Session-Token` header, for apps and integrators."""

    def authenticate_header(self, request: Request) -> str:
        return "X-Session-Token"
