"""Whose request it is, as far as this process knows without asking the database: by what signed the same person in before.

It decides nothing but whose turn it is, and whether a refusal that was just given still holds.
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


def remember_caller(request: Request) -> None:
    """Remember whom the credential of this request has signed in. Others that the request carries are not remembered."""
    if isinstance(request.auth, ApiToken):
        credential = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")[2].strip()
    elif isinstance(request.successful_authenticator, SessionAuthentication):
        credential = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    else:
        credential = request.META.get("HTTP_X_SESSION_TOKEN", "")
    digest = _digest(credential.encode())
    if _people.get(digest, None) != request.user.pk:
        _people.set(digest, request.user.pk)


def find_caller(headers: Iterable[tuple[bytes, bytes]]) -> tuple[UUID | None, bool]:
    """Return the person whom one of the credentials in these headers signed in, and whether there are credentials at all."""
    has_any = False
    for credential in _credentials(headers):
        has_any = True
        if (person := _people.get(_digest(credential), None)) is not None:
            return person, True
    return None, has_any


def _credentials(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
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


def _digest(credential: bytes) -> bytes:
    return blake2b(credential, digest_size=16).digest()
