"""Who is asking: people only. An agent can never sign in, whatever its row says."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from uuid import UUID

from allauth.account.auth_backends import AuthenticationBackend
from allauth.headless.contrib.rest_framework.authentication import XSessionTokenAuthentication
from django.contrib.auth.models import Permission
from django.db.models import QuerySet
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission, IsAuthenticated
from rest_framework.request import Request

from actors import services as actors
from actors.models import TOKEN_PREFIX, Actor, ApiToken, Kind
from actors.operators import permissions_of
from actors.rates import demand, stranger
from common.errors import Forbidden
from common.prepared_query import PreparedQuery
from common.secrets import digest_of

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which names this module's classes in its defaults


_PERSON = PreparedQuery(lambda user_id: Actor.people.filter(pk=user_id, is_active=True), UUID)


class PeopleBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """allauth's sign-in by e-mail, refusing everybody who is not an active person."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> Actor | None:
        actor = super().authenticate(request, **credentials)
        return actor if actor is not None and self.user_can_authenticate(actor) else None

    def user_can_authenticate(self, user: Actor) -> bool:
        return user.kind == Kind.HUMAN and user.is_active

    def _get_group_permissions(self, user_obj: Actor) -> QuerySet[Permission]:
        """Of Django's backend: a group is a level in the admin, whose permissions follow from its name."""
        return permissions_of(user_obj)

    def get_user(self, user_id: Any) -> Actor | None:
        return _PERSON.first(user_id)


class BrowserSession(SessionAuthentication):
    """The session cookie, with CSRF. `authenticate_header` makes a missing sign-in a 401, not a 403.

    A page names the person it was loaded for in `X-Atelier-Person`: if the cookie has become another person's meanwhile,
    nobody is signed in for that page (FAIR6).
    """

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        found = super().authenticate(request)
        named = request.META.get("HTTP_X_ATELIER_PERSON")
        return None if found and named and named != str(found[0].pk) else found

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class AppSession(XSessionTokenAuthentication):  # type: ignore[misc]  # allauth has no types
    """allauth's session token, in the `X-Session-Token` header, for apps and integrators."""

    def authenticate_header(self, request: Request) -> str:
        return "X-Session-Token"


def token_said(header: str) -> str | None:
    """The API token in an `Authorization` header; null when it holds none."""
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None


_TOKEN: PreparedQuery[ApiToken] = PreparedQuery(
    lambda digest: ApiToken.live.select_related("person").filter(digest=digest, person__is_active=True),
    str,
)


def token_behind(text: str) -> ApiToken | None:
    """The live token with this text, with its person, in one query; null when it is unknown, expired or revoked, or its
    person may not sign in."""
    token = _TOKEN.first(digest_of(text)) if text.startswith(TOKEN_PREFIX) else None
    return None if token is None or token.has_expired else token


def tokens_behind(texts: Collection[str]) -> dict[str, ApiToken]:
    """The same for many at once."""
    said = {digest_of(text): text for text in texts}
    found = ApiToken.live.select_related("person").filter(digest__in=said, person__is_active=True)
    return {said[token.digest]: token for token in found if not token.has_expired}


class Token(BaseAuthentication):
    """A personal API token in `Authorization: Bearer atl_…`. Whoever names one is asked by it alone: a token that is no
    good is refused, whatever else the request carries (SEC7)."""

    def authenticate(self, request: Request) -> tuple[Actor, ApiToken] | None:
        text = token_said(request.META.get("HTTP_AUTHORIZATION", ""))
        if text is None:
            return None
        token = token_behind(text)
        if token is None:
            demand(stranger(request))
            raise AuthenticationFailed("This API token is unknown, expired or revoked.")
        actors.note_use(token)
        return token.person, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class SignedIn(IsAuthenticated):
    """Whoever is not, takes from their address' bucket: DRF asks this before its throttles (SEC21). A read-only API token is
    refused every operation that changes something."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        if super().has_permission(request, view):
            is_read_only = isinstance(request.auth, ApiToken) and request.auth.is_read_only
            if is_read_only and request.method not in SAFE_METHODS:
                raise Forbidden("This API token may only look.", hints=["Make one of full scope for this program."])
            return True
        demand(stranger(request))
        return False


class BySession(BasePermission):
    """For what a person does themselves: a token, which may be in other hands, cannot make more tokens or end sessions."""

    message = "Only you yourself may do this, signed in by your password: not an API token."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        return not isinstance(request.auth, ApiToken)
