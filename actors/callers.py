"""A cache of credentials and the people whom they have signed in, to find the person of a request without a query.

It is used for the fair queue of requests, for refusals by the throttle, and to read a session and its person in one query
(`SessionStore`); never for rights.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from uuid import UUID

from django.conf import settings
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request

from actors.models import ApiToken
from common.bounded import BoundedMap

MAX_CACHED_CREDENTIALS = 10_000

_people: BoundedMap[bytes, UUID | None] = BoundedMap(MAX_CACHED_CREDENTIALS)


def remember_caller(request: Request, person_id: UUID) -> None:
    """Cache the person of a request by the credential that authenticated it. Other credentials of the request are ignored."""
    if isinstance(request.auth, ApiToken):
        credential = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")[2].strip()
    elif isinstance(request.successful_authenticator, SessionAuthentication):
        credential = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    else:
        credential = request.META.get("HTTP_X_SESSION_TOKEN", "")
    digest = _hash_credential(credential.encode())
    if _people.get(digest, None) != person_id:
        _people.set(digest, person_id)


def find_caller(headers: Iterable[tuple[bytes, bytes]]) -> tuple[UUID | None, bool]:
    """Return the cached person of one of the credentials in these headers, and whether there are any credentials."""
    has_any = False
    for credential in _list_credentials(headers):
        has_any = True
        if (person := _people.get(_hash_credential(credential), None)) is not None:
            return person, True
    return None, has_any


def find_person_of_session(session_key: str) -> UUID | None:
    """Return the cached person of a session."""
    return _people.get(_hash_credential(session_key.encode()), None)


def _list_credentials(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    name_of_cookie = settings.SESSION_COOKIE_NAME.encode()
    for name, value in headers:
        if name == b"authorization":
            yield value.partition(b" ")[2].strip()
        elif name == b"x-session-token":
            yield value
        elif name == b"cookie":
            for part in value.split(b";"):
                key, _, text = part.strip().partition(b"=")
                if key == name_of_cookie:
                    yield text


def _hash_credential(credential: bytes) -> bytes:
    return blake2b(credential, digest_size=16).digest()
