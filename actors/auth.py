"""Authentication of people, by password, session or API token, and of agents by API token only."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from allauth.account.auth_backends import AuthenticationBackend
from allauth.headless import app_settings
from allauth.headless.contrib.rest_framework.authentication import XSessionTokenAuthentication
from django.contrib.auth.models import Permission
from django.contrib.sessions.backends.base import SessionBase
from django.db.models import QuerySet
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission, IsAuthenticated
from rest_framework.request import Request

from actors import services as actors
from actors.models import CAN_USE_TOKENS, TOKEN_PREFIX, VIEWING_KEY, Actor, ApiToken, Kind, Viewing
from actors.operators import list_permissions, may_view_as
from actors.prepared_queries import PERSON, TOKEN
from actors.rates import get_anonymous_bucket, throttle
from common.errors import Code, Forbidden
from common.secrets import hash_secret

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which names this module's classes in its defaults


class PeopleBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """allauth's sign-in by email, for active people only."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> Actor | None:
        actor = super().authenticate(request, **credentials)
        return actor if actor is not None and self.user_can_authenticate(actor) else None

    def user_can_authenticate(self, user: Actor) -> bool:
        return user.kind == Kind.HUMAN and user.is_active

    def _get_group_permissions(self, user_obj: Actor) -> QuerySet[Permission]:
        """Override Django's method: a group is an access level, and its name determines the permissions."""
        return list_permissions(user_obj)

    def get_user(self, user_id: Any) -> Actor | None:
        return PERSON.first(user_id)


def find_viewing(session: Mapping[str, Any] | SessionBase, user: Any) -> Viewing | None:
    """Return the viewing that the user has started as an operator in this session; null if none has an effect."""
    viewing_id = session.get(VIEWING_KEY)
    found = list_viewings([viewing_id]) if viewing_id else []
    return next((viewing for viewing in found if viewing.operator_id == user.pk), None)


def list_viewings(ids: Collection[Any]) -> list[Viewing]:
    """Return the viewings with these ids that have an effect: they have not ended, and their operators still have the right."""
    return [
        viewing
        for viewing in Viewing.objects.running().filter(pk__in=ids)
        if may_view_as(viewing.operator, viewing.person)
    ]


def build_viewing_error() -> Forbidden:
    """Return the error for every change that is tried in a session in which an operator views as a person (SEC45)."""
    return Forbidden(
        "You see this as another person sees it, and can change nothing.",
        code=Code.VIEWING,
        hints=["End the viewing first."],
    )


def get_acting_person(request: Request, session: SessionBase, user: Any) -> tuple[Any, Viewing | None]:
    """Return the person as whom the user of a session acts: the user or, in a viewing, another person. Return the viewing, too.

    Raises `Forbidden` (`viewing`) for a request that could change something, except the request that ends the viewing.
    """
    viewing = find_viewing(session, user)
    if viewing is None:
        return user, None
    view = (request.parser_context or {}).get("view")
    if request.method not in SAFE_METHODS and not getattr(view, "ends_viewing", False):
        raise build_viewing_error()
    return viewing.person, viewing


class BrowserSession(SessionAuthentication):
    """The session cookie, with CSRF. `authenticate_header` makes DRF answer an anonymous request with 401, not 403.

    A page sends the id of the person for whom it was loaded as `X-Atelier-Person`. If another person has signed in
    since then, so that the cookie has that person's session, the request is anonymous (FAIR6).
    """

    def authenticate(self, request: Request) -> tuple[Any, Viewing | None] | None:
        session: Any = request._request.session  # `SessionStore`
        if (user := session.get_person()) is not None:
            request._request.user = user
        found = super().authenticate(request)
        if found is None:
            return None
        person, viewing = get_acting_person(request, session, found[0])
        expected = request.META.get("HTTP_X_ATELIER_PERSON")
        return None if expected and expected != str(person.pk) else (person, viewing)

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class AppSession(XSessionTokenAuthentication):  # type: ignore[misc]  # allauth has no types
    """allauth's session token in the `X-Session-Token` header, for programs."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        token = self.get_session_token(request)
        session: Any = app_settings.TOKEN_STRATEGY.lookup_session(token) if token else None
        user = session.get_person() if session else None
        if user is None:
            return None
        person, viewing = get_acting_person(request, session, user)
        return person, viewing or session

    def authenticate_header(self, request: Request) -> str:
        return "X-Session-Token"


def parse_bearer_token(header: str) -> str | None:
    """Return the API token of an `Authorization` header, or null if it has none."""
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None


def find_token(text: str) -> ApiToken | None:
    """Return the valid token with this text, with its actor, in one query.

    Return null if it is unknown, expired or revoked, or if its person may not sign in or its agent may not run.
    """
    token = TOKEN.first(hash_secret(text)) if text.startswith(TOKEN_PREFIX) else None
    return None if token is None or token.has_expired else token


def find_tokens(texts: Collection[str]) -> dict[str, ApiToken]:
    """Return the valid tokens with these texts, by text, in one query."""
    by_digest = {hash_secret(text): text for text in texts}
    tokens = ApiToken.unrevoked.select_related("actor").filter(CAN_USE_TOKENS, digest__in=by_digest)
    return {by_digest[token.digest]: token for token in tokens if not token.has_expired}


class BearerToken(BaseAuthentication):
    """The API token of a person or an agent in `Authorization: Bearer atl_…`.

    An invalid token is refused, even if the request also has a valid session (SEC7).
    """

    def authenticate(self, request: Request) -> tuple[Actor, ApiToken] | None:
        text = parse_bearer_token(request.META.get("HTTP_AUTHORIZATION", ""))
        if text is None:
            return None
        token = find_token(text)
        if token is None:
            throttle(get_anonymous_bucket(request))
            raise AuthenticationFailed("This API token is unknown, expired or revoked.")
        actors.record_token_use(token)
        return token.actor, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class SignedIn(IsAuthenticated):
    """Refuse anonymous requests, writes by a read-only API token, and requests of agents that the view does not allow.

    A view names the methods that agents may use in `agent_methods`; by default none (AGT1).

    DRF checks permissions before throttles, so an anonymous request is counted here (SEC21).
    """

    def has_permission(self, request: Request, view: "APIView") -> bool:
        if super().has_permission(request, view) and isinstance(request.user, Actor):
            is_read_only = isinstance(request.auth, ApiToken) and request.auth.is_read_only
            if is_read_only and request.method not in SAFE_METHODS:
                raise Forbidden("This API token may only look.", hints=["Make one of full scope for this program."])
            if request.user.is_agent and request.method not in getattr(view, "agent_methods", ()):
                raise Forbidden(
                    "An agent may not do this.", hints=["docs/outside-programs.md lists what an agent may do."]
                )
            return True
        throttle(get_anonymous_bucket(request))
        return False


class BySession(BasePermission):
    """Refuse API tokens: whoever has stolen a token must not create tokens or end sessions."""

    message = "Only you yourself may do this, signed in by your password: not an API token."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        return not isinstance(request.auth, ApiToken)
