"""The doors by which people come in: allauth's, with our manners. Their rates (`ACCOUNT_RATE_LIMITS`) are counted in Redis;
while it is away they are closed (SEC21)."""

import json
import re
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from kombu.exceptions import OperationalError
from redis import RedisError

from actors.rates import demand, stranger
from common.errors import AppError, Code, Forbidden, Invalid, LimitReached, Unavailable

WAIT = 60
"""Seconds after which it is worth trying again: allauth does not tell."""

Next = Callable[[HttpRequest], HttpResponseBase]


class Doors:
    """A middleware: what allauth refuses because of a rate looks like everything else that we refuse so."""

    def __init__(self, get_response: Next) -> None:
        self._next = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith("/_allauth/"):
            return self._next(request)
        if not request.user.is_authenticated:
            try:
                demand(stranger(request))
            except LimitReached as error:
                return refuse(error)
        if not has_storable_texts(request.body):
            return refuse(Invalid("Something in the request is no text."))
        response = self._next(request)
        return too_many() if response.status_code == 429 else response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not request.path.startswith("/_allauth/") or not isinstance(error, RedisError | OperationalError):
            return None
        closed = Unavailable("Signing in is not possible right now.", hints=["Try again in a moment."])
        return JsonResponse(closed.body(), status=closed.status, headers={"Retry-After": "2"})


def too_many() -> JsonResponse:
    """The refusal of who tries too often."""
    return refuse(LimitReached("Too many attempts.", hints=[f"Try again in {WAIT} s."], data={"seconds": WAIT}))


def refuse(error: AppError) -> JsonResponse:
    """Return the response that refuses with this error, with `Retry-After` when the error says how long to wait."""
    headers = {"Retry-After": str(error.data["seconds"])} if "seconds" in error.data else {}
    return JsonResponse(error.body(), status=error.status, headers=headers)


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def has_storable_texts(body: bytes) -> bool:
    """Return whether each text of a JSON body can be encoded: JSON can name half of a surrogate pair, which no column takes
    and no password can be hashed with (SEC20). A body that is not JSON is left to its reader."""
    if not _SURROGATE.search(body):
        return True
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    except (ValueError, RecursionError):
        pass
    return True


def web_app_url(request: HttpRequest) -> str:
    """Return the URL of the web app, without a slash at its end: for links in mails."""
    return str(settings.PUBLIC_URL) or request.build_absolute_uri("/").rstrip("/")


def sign_up_closed(message: str) -> JsonResponse:
    """Return the response to somebody who may not sign up."""
    return refuse(Forbidden(message, code=Code.SIGN_UP_CLOSED))
